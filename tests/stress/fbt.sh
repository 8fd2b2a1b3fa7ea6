#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions' probes under the knife: the byte that switches them flipped FLIPS times at each of the 64 places in a line
# of the cache, against THREADS threads; and switched SWITCHES times from outside, while a program's functions are left
# in all ways there are, an object of them loaded and unloaded; and so often again while filters of their calls are,
# too. Prints on what it did how much of which.
#
#	FLIPS=N SWITCHES=N THREADS=N SEED=N tests/stress/fbt.sh
. "$(dirname "$0")/../cli/lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
cxx=${CXX:-c++}
flips=${FLIPS:-1000000} switches=${SWITCHES:-5000} threads=${THREADS:-8} seed=${SEED:-1}
. tests/cli/provider/fbt.inc
export KTR_CONF= KTR_BUDGET=0

# shellcheck disable=SC2086,SC2154 # options
$cc -std=gnu11 -O2 -D_GNU_SOURCE -I. $cflags tests/stress/fbt_flip.c -o "$dir/flip" $static &&
	$cxx -std=gnu++17 -O2 $cflags tests/programs/provider/fbt_ways.cc -o "$dir/ways" $shared &&
	$cc -O2 -fPIC -shared $cflags tests/programs/provider/fbt_plugin.c -o "$dir/plugin.so" $shared &&
	$cc -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude -I. tests/stress/fbt_switch.c ktr/provider/session/*.c "$O/obj/libktr.a" \
		-lpthread -o "$dir/switch" || exit 1
cpu() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1; }
echo "on $(nproc) CPUs of $(cpu vendor_id), $(cpu 'model name'), family $(cpu 'cpu family'), model $(cpu model); seed $seed"
"$dir/flip" "$flips" "$seed" "$threads" >"$dir/out" || fail "flips: exit status $?"
tail -n 1 "$dir/out"

at_exit() { [ -z "${pid:-}" ] || kill "$pid" 2>/dev/null; }
switches() { # NAME FILTERS
	KTR_SESSION=$1 "$dir/ways" "$threads" 100000000 "$dir/plugin.so" >"$dir/out" 2>&1 &
	pid=$!
	for i in $(seq 100); do
		session=$(find "$KTR_DIR" -name "$1.ktr" | head -n 1)
		[ -n "$session" ] && "$ktr" probe list -s "$1" >/dev/null 2>&1 && break
		sleep 0.1
	done
	"$dir/switch" "$session" "$switches" "$seed" "$2" || fail "switches, $1"
	kill -0 "$pid" 2>/dev/null || fail "$1: the program has ended: $(cat "$dir/out")"
	kill "$pid"
	wait "$pid" 2>/dev/null
	pid=
	grep -qx '[1-9][0-9]* rounds, 0 wrong' "$dir/out" && [ "$(wc -l <"$dir/out")" = 1 ] || fail "$1: $(tail "$dir/out")"
	echo "$1: $(tail -n 1 "$dir/out") of $threads threads"
}
switches out 0
switches filters 1
exit $failed
