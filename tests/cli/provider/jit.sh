#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Code that no file has: samples in it have the names that perf's maps and jitdumps tell, [jit] where nobody tells one, also
# when those files are gone, and in another machine's trace; files of another process that had the number, and half
# records, do not count. node, where it is there, has the names of its functions.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
$cc -O2 -o "$dir/jit" tests/programs/provider/jit.c || { fail 'jit.c'; exit 1; }
cd "$dir" || exit 1
maps=
at_exit() {
	rm -f $maps
}
# of TRACE: pid; maps are removed at the end
pid_of() {
	sed -n '1s/.*"pid":\([0-9]*\).*/\1/p' "$1/ktr/procs.jsonl"
}
# most TRACE: the function with most time for itself
most() {
	"$ktr" report --profile --json "$1" | python3 -c '
import json, sys
functions = [f for f in json.load(sys.stdin)["profile"]["functions"] if f["tid"] is None]
print(max(functions, key=lambda f: f["self_ns"])["name"])'
}

for how in map dump none; do
	timeout 300 "$ktr" profile -o $how.out ./jit $how >log 2>&1 || fail "$how: $(cat log)"
	maps="$maps /tmp/perf-$(pid_of $how.out).map"
done
is 'by a map' "$(most map.out)" 'made at run time; in map'
is 'by a jitdump' "$(most dump.out)" 'made at run time, in dump'
is 'by nobody' "$(most none.out)" '[jit]'
rm -f /tmp/perf-"$(pid_of map.out)".map jit-*.dump
is 'its map is gone' "$(most map.out)" 'made at run time; in map'
is 'its jitdump is gone' "$(most dump.out)" 'made at run time, in dump'
"$ktr" flame map.out | head -n 1 | grep -q '^made at run time. in map had most' || fail "flame: $("$ktr" flame map.out | head -n 1)"
"$ktr" export folded map.out -o folded && grep -q ';made at run time[^;]* in map [0-9]*$' folded || fail "folded: $(tail -n 1 folded)"

# What was not kept is looked for where the process ran, and nothing that is older than the process.
rm -f map.out/ktr/code.map
is 'no map any more' "$(most map.out)" '[jit]'
old=/tmp/perf-$(pid_of none.out).map
base=$(sed -n 's/.*"base":"0x\([0-9a-f]*\)".*"path":"\[jit\]".*/\1/p' none.out/ktr/modules.jsonl | head -n 1)
echo "$base 1000 told later" >"$old"
is 'a map that was made later' "$(most none.out)" 'told later'
touch -d '2020-01-01' "$old"
is 'a map of another process' "$(most none.out)" '[jit]'
# Lines that are none, and a last one that has no end.
printf 'x\n\n1\n1 2\n%s 1000 \n%s zz name\n%s 1000 half' "$base" "$base" "$base" >"$old"
is 'a map of no names' "$(most none.out)" '[jit]'
rm -f "$old"
mkfifo "$old"
is 'a map that is no file' "$(timeout 60 "$ktr" report --profile --json none.out | grep -c '\[jit\]')" 1
rm -f "$old"

if command -v node >/dev/null; then
	cat >hot.js <<-'END'
		function hotSquares(n) { let s = 0; for (let i = 0; i < n; i++) s += i * i % 7; return s; }
		let t = Date.now(), x = 0;
		while (Date.now() - t < 1500) x += hotSquares(200000);
	END
	for option in --perf-basic-prof --perf-prof; do
		timeout 300 "$ktr" profile -o node.out node $option hot.js >log 2>&1 || fail "node: $(cat log)"
		maps="$maps /tmp/perf-$(pid_of node.out).map"
		most node.out | grep -q 'hotSquares ' || fail "node $option: $(most node.out)"
		"$ktr" flame node.out >flame && head -n 1 flame | grep -q hotSquares || fail "flame of node $option: $(head -n 1 flame)"
	done
else
	skip 'no node'
fi
exit $failed
