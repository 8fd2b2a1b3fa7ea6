#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions' probes under the knife: the byte that switches them flipped FLIPS times at each of the 64 places in a line
# of the cache, against THREADS threads; and switched SWITCHES times from outside, while a program's functions are left
# in all ways there are; and so often again while filters of their calls are, too. Prints what it did.
#
#	FLIPS=N SWITCHES=N THREADS=N SEED=N tests/stress/fbt.sh
. "$(dirname "$0")/../cli/lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
cxx=${CXX:-c++}
flips=${FLIPS:-1000000} switches=${SWITCHES:-5000} threads=${THREADS:-8} seed=${SEED:-1}
cflags='-O2 -D_GNU_SOURCE -Iinclude -I. -fpatchable-function-entry=16,14 -include include/ktr/fbt.h'
libs="-Wl,-u,ktr__fbt_attach $O/lib/libktr-fbt.a $O/lib/libktr-provider.a $O/lib/libktr.a -lpthread"
export KTR_CONF= KTR_BUDGET=0

# shellcheck disable=SC2086 # options
$cc -std=gnu11 $cflags tests/stress/fbt_flip.c -o "$dir/flip" $libs && $cxx -std=gnu++17 $cflags \
	tests/programs/provider/fbt_ways.cc -o "$dir/ways" $libs && $cc -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude -I. \
	tests/stress/fbt_switch.c ktr/provider/session/*.c "$O/obj/libktr.a" -lpthread -o "$dir/switch" || exit 1

"$dir/flip" "$flips" "$seed" "$threads" >"$dir/out" || fail "flips: exit status $?"
tail -n 1 "$dir/out"

at_exit() { [ -z "${pid:-}" ] || kill "$pid" 2>/dev/null; }
switches() { # NAME FILTERS
	KTR_SESSION=$1 "$dir/ways" "$threads" 100000000 >"$dir/out" 2>&1 &
	pid=$!
	for i in $(seq 100); do
		session=$(find "$KTR_DIR" -name "$1.ktr" | head -n 1)
		[ -n "$session" ] && "$ktr" probe list -s "$1" >/dev/null 2>&1 && break
		sleep 0.1
	done
	"$dir/switch" "$session" "$switches" "$seed" "$2" || fail "switches, $1"
	kill -0 "$pid" 2>/dev/null || fail "$1: the program has ended: $(cat "$dir/out")"
	is "$1: nothing wrong" "$(cat "$dir/out")" ''
	kill "$pid"
	wait "$pid" 2>/dev/null
}
switches out 0
switches filters 1
exit $failed
