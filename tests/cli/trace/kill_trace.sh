#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL of the program that writes its trace, of ktr record, of both, five times each at random instants, and at some
# of its writer's system calls, where pieces are removed, too: babeltrace opens what is there as it lies, the trace
# reads, and salvage misses nothing but what was overwritten. `make check-kill` has every call and thousands of
# instants, tests/unit/writer/test_stops.c every call of a drain.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build_kill_trace
run "$out/kill-trace" -n 5 "$O/bin/ktr" "$work/killed"
run "$out/kill-trace" -c 13 -k "$O/bin/ktr" "$work/killed"
# A trace of thread rings has ten times as many files, each opened and closed.
for path in $paths; do
	calls=73
	[ "$path" = rseq ] || calls=613
	run on_path "$path" "$out/kill-trace" -c $calls "$O/bin/ktr" "$work/killed"
done
