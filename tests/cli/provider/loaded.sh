#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Locks and memory of a program that has loaded an object by a relative name and gone to another folder, and a second libktr:
# the object's functions and locks have their names, and what the other libktr does with locks and memory is not the program's.
# From the start, and attached to.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks and memory are of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/provider/loaded.c -o "$dir/loaded" -ldl -lpthread &&
	$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin -fPIC -shared -DPLUGIN tests/programs/provider/loaded.c -o "$dir/plugin.so" \
		-lpthread || exit 1
mkdir "$dir/second"
cp "$(realpath "$O/lib/libktr.so")" "$dir/second/libktr.so.0"
case $ktr in /*) ;; *) ktr=$top/$ktr ;; esac
pid=
at_exit() {
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
}

# said NAME TIMES: of loaded_work(), called so often
said() {
	is "$1: locks" "$("$ktr" lockstat -j "$dir/t" | python3 -c '
import json, sys
told = json.load(sys.stdin)
print(*sorted((row["lock"], row["count"], row["caller"].split("+")[0]) for row in told["tables"]["Mutex hold"]))')" \
		"('loaded_lock', $((7 * $2)), 'loaded_work')"
	is "$1: memory" "$("$ktr" heap -n 0 --by live --depth 1 "$dir/t" | sed -n 's/^ *\(7000 .*\)/\1/p' | sed 's/ .*  / /')" \
		'7000 loaded_work < ...'
	"$ktr" dump --filter 'class == heap || class == lock' "$dir/t" | grep 'libktr\|/second/' | grep -v '@libktr-agent' >"$dir/ours"
	is "$1: nothing of the other libktr" "$(head -n 3 "$dir/ours")" ''
}
(cd "$dir" && "$ktr" run --agent --lock all --heap all -o "$dir/t" ./loaded ./plugin.so "$dir/second/libktr.so.0" >out 2>err) ||
	fail "$(cat "$dir/err")"
is 'as without' "$(cat "$dir/out")" 'done'
said 'from the start' 4

rm -rf "$dir/t"
mkdir "$dir/told"
(cd "$dir" && exec ./loaded ./plugin.so "$dir/second/libktr.so.0" "$dir/told" >out 2>err) &
pid=$!
await '[ -e "$dir/told/begun" ] || ! kill -0 $pid'
"$ktr" attach -p "$pid" --lock all --heap all -o "$dir/t" 2>"$dir/err" || case $(cat "$dir/err") in
*'kernel forbids'* | *ptrace*) skip "$(cat "$dir/err")"; exit $failed ;;
*) fail "attach: $(cat "$dir/err")" ;;
esac
: >"$dir/told/go"
wait "$pid" || fail "exit status $?: $(cat "$dir/err")"
pid=
is 'attached: as without' "$(cat "$dir/out")" 'done'
said 'attached' 3
exit $failed
