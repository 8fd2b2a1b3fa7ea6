#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# debug.ktr.alq_crash: the trace of a program that dies of a fault is whole without ktr salvage, its own handlers
# run as they would, and those that mend faults go on doing so.
. "$(dirname "$0")/../lib.inc"
ulimit -c 0

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/trace/crash.c -o "$dir/crash" "$O/lib/libktr.a" \
	-lpthread || exit 1

# mode, exit status, what its handler says
dies() {
	t=$dir/$1
	KTR_ALQ_CRASH=1 KTR_MASK=gen KTR_ENTRIES=64K KTR_FILE=$t timeout 300 "$dir/crash" "$1" 20000 >"$dir/out" 2>"$dir/err"
	got=$?
	[ $got -eq "$2" ] || fail "$1: exit status $got instead of $2: $(cat "$dir/err")"
	[ "$(cat "$dir/out")" = "$3" ] || fail "$1: said $(cat "$dir/out")"
	n=$("$ktr" dump --no-join "$t" 2>/dev/null | grep -c 'event [0-9]')
	[ "$n" -eq 20000 ] || fail "$1: $n of 20000 events"
}

dies segv 139 ""
dies stack 139 ""
dies abort 134 ""
dies own 7 mine
dies chain 139 mine
dies mend 0 ""
dies child 0 ""
for t in segv own; do
	babeltrace2 "$dir/$t" >"$dir/out" 2>&1 || fail "$t: babeltrace2: $(tail -n 2 "$dir/out")"
done

# Off, as it is by default, nothing is caught; switched off, nothing any more.
KTR_MASK=gen KTR_FILE=$dir/none "$dir/crash" none 1 || fail "signals are caught that nobody asked for"
KTR_ALQ_CRASH=1 KTR_MASK=gen KTR_FILE=$dir/off "$dir/crash" off 1 || fail "off: $?"
exit $failed
