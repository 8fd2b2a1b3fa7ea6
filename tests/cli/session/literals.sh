#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two plugins with other strings at the same places, loaded by turns, LOADS times: string literals, which events leave to
# their call site, strings of constant tables, in memory that becomes read-only, and in memory that is written again. By
# build-id and without, also as one file that is made anew; read from the trace, from the rings of a program that was
# killed, and from its core, the plugins being gone. Never a string of the other one.
#
#	LOADS=1000000 tests/cli/session/literals.sh
. "$(dirname "$0")/../lib.inc"
LOADS=${LOADS:-600}

for letter in A B; do
	for id in sha1 none; do
		$cc -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -shared -Iinclude -DLETTER="\"$letter\"" -Wl,--build-id=$id \
			tests/programs/session/literals_plugin.c -o "$dir/$letter-$id.so" -L"$O/lib" -lktr || exit 1
	done
done
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/session/literals.c -o "$dir/literals" -L"$O/lib" -lktr -ldl || exit 1
export LD_LIBRARY_PATH="$O/lib" KTR_MASK=gen KTR_ENTRIES=16K
cd "$dir" || exit 1

# right WHAT LOADS COMMAND...: each event says what its plugin would; all events of the last LOADS are there.
right() {
	what=$1 loads=$2
	shift 2
	"$@" 2>>"$dir/err" | python3 -c '
import re, sys
n, seen, wrong = None, 0, []
for line in sys.stdin:
	text = re.sub(r".*literals_plugin\.c:\d+ +", "", line.rstrip("\n"))
	state = re.search(r"id:\"(.*?)\", state:\"(.*?)\", attributes: (.*)", text)
	if state and state[3] == "none":
		letter = state[1][0]
		ok = state[1] == letter + " row" and state[2] == letter + " state"
	elif state:
		n = int(state[3][2:])
		letter = "AB"[n & 1]
		ok = (state[1], state[2]) == (letter + (" two" if n & 1 else " one"), letter + " busy")
	elif text.count("|") == 3:
		letter = "AB"[int(text.split("|")[0][2:]) & 1]
		ok = text.split("|")[1:] == [letter + " relro", letter + " array", letter + " literal"] and text[0] == letter
	else:
		continue
	seen += 1
	if not ok:
		wrong.append(text)
print(seen, len(wrong), *wrong[:3])' >"$dir/seen"
	read -r seen wrong rest <"$dir/seen"
	[ "$wrong" = 0 ] || fail "$what: $wrong of $seen are wrong: $rest"
	[ "$seen" = $((3 * loads)) ] || fail "$what: $seen events of $((3 * loads))"
}

for path in rseq thread; do
	export KTR_PATH=$path
	for id in sha1 none; do
		same=$(KTR_FILE=trace ./literals "$LOADS" exit "./A-$id.so" "./B-$id.so") || fail "literals: status $?"
		[ "$same" -gt 0 ] || fail "the plugins were never at the same place"
		right "$path, build-id $id: trace" "$LOADS" "$ktr" dump --raw trace
		rm -r trace
	done
	KTR_FILE=trace ./literals "$LOADS" rename A-none.so B-none.so >/dev/null || fail "literals: status $?"
	right "$path, one name: trace" "$LOADS" "$ktr" dump --raw trace
	rm -r trace
	loads=$((LOADS < 600 ? LOADS : 600)) # what the rings have of them
	KTR_SESSION=killed-$path ./literals $loads kill ./A-sha1.so ./B-sha1.so >/dev/null 2>&1
	right "$path, killed: rings" $loads "$ktr" dump --raw -s killed-$path
	"$ktr" rm -s killed-$path 2>/dev/null || rm -f "$KTR_DIR/killed-$path.ktr"
	KTR_FILE=joined KTR_SESSION=joined-$path ./literals $loads kill ./A-sha1.so ./B-sha1.so >/dev/null 2>&1
	right "$path, killed: trace and rings" $loads "$ktr" dump --raw joined
	grep -q "joined with session joined-$path: [1-9]" err || fail "$path: nothing was joined: $(cat err)"
	right "$path, killed: trace and rings, in reverse" $loads "$ktr" dump --raw -R joined
	right "$path, killed: tail" $loads timeout 300 "$ktr" tail --raw -n all --until-end joined
	n=$("$ktr" json joined 2>>err | grep -c '"msg":"[^"]*|[AB] literal"')
	[ "$n" = $loads ] || fail "$path, killed: json: $n events of $loads"
	"$ktr" salvage joined >/dev/null 2>>err || fail "$path: salvage: $(cat err)"
	right "$path, salvaged" $loads "$ktr" dump --raw joined
	rm -rf joined core*
	(ulimit -c unlimited; KTR_SESSION=core-$path exec ./literals $loads abort ./A-sha1.so ./B-sha1.so) >/dev/null 2>&1
	core=$(ls core* 2>/dev/null)
	if [ -s "$core" ]; then
		rm -f "$KTR_DIR/core-$path.ktr"
		right "$path, core" $loads "$ktr" dump --raw "$core"
	else
		echo "no core is written here: not tested"
	fi
done
exit $failed
