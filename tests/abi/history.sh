#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs built with the headers of earlier commits run with the present library, and present programs with theirs: all
# events recorded, read by the present tools; or refused with one line. REVS: which commits, otherwise the oldest
# one that has the C API and the last one before the headers changed. A clone without history has neither: then
# tests/cli/build/abi.sh, which makes another version from the present sources, is all there is, and that is said.
. "$(dirname "$0")/../cli/lib.inc"
flags="-std=gnu11 -D_GNU_SOURCE -O1"
revs=${REVS:-}
if [ -z "$revs" ]; then
	changed=$(git log -1 --format=%H -- include/ktr 2>/dev/null)
	revs=$(git rev-parse -q --verify "$changed~1" 2>/dev/null)
	# The program asks for statistics, so the library has to have them.
	oldest=$(git log --reverse --format=%H -- ktr/ctl.c 2>/dev/null | head -n 1)
	[ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = false ] && revs="$oldest $revs"
fi
[ -n "$(echo $revs)" ] || { skip "earlier commits: this clone has no history"; exec sh tests/cli/build/abi.sh; }

# runs WHAT LIBRARIES PROGRAM
runs() {
	LD_LIBRARY_PATH=$2 "$ktr" run -m gen -e 65536 -o "$dir/trace" "$3" 0 >"$dir/out" 2>"$dir/err" 3>/dev/null
	is "$1: exit status" $? 7
	is "$1: its output" "$(cat "$dir/out")" "worked 8997000"
	if [ "$(grep -c '^ktr: a module was built for ABI .*: not traced$' "$dir/err")" = 1 ]; then
		echo "$1: refused: $(head -n 1 "$dir/err")"
	else
		is "$1: events" "$("$ktr" dump -q "$dir/trace" | grep -c ' bad ')" 12000
		is "$1: lines on stderr" "$(grep -vc ' events, 0 lost' "$dir/err")" 0
		echo "$1: runs"
	fi
	rm -rf "$dir/trace"
}

$cc $flags -Iinclude tests/stress/bad.c -o "$dir/present" -L"$O/lib" -lktr -lpthread || exit 1
for rev in $revs; do
	old=$dir/$rev
	mkdir -p "$old"
	git archive "$rev" | tar -x -C "$old" || { fail "$rev: git archive"; continue; }
	MAKEFLAGS='' make -s -C "$old" O="$old/build" "$old/build/lib/libktr.so" >"$dir/log" 2>&1 ||
		{ fail "$rev does not build: $(tail -n 5 "$dir/log")"; continue; }
	$cc $flags -I"$old/include" tests/stress/bad.c -o "$dir/earlier" -L"$old/build/lib" -lktr -lpthread || failed=1
	short=$(git log -1 --format='%h of %as' "$rev")
	runs "a program of $short" "$O/lib" "$dir/earlier"
	runs "a library of $short" "$old/build/lib" "$dir/present"
done
exit $failed
