#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is left when a writer is killed, on both paths (tests/kill/trace.c tells what must hold): at each CALLS-th of
# its system calls and of the pages within its writes, with rotation, where the disk is full, and where rotation
# removes pieces; and KILLS times at random instants of programs, of ktr record, and of both, with rings of two
# sizes. Counts of several runs add up: give each another SEED. Is no babeltrace there, that is said and it is not
# asked.
#
#	KILLS=10000 CALLS=1 SEED=1 tests/kill/run.sh		make check-kill
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh
KILLS=${KILLS:-10000}
CALLS=${CALLS:-1}
SEED=${SEED:-$(date +%s)}
for reader in babeltrace babeltrace2; do
	command -v $reader >/dev/null || echo "$reader is not installed: not tested"
done
build_kill_trace
trace() { run on_path "$path" nice "$out/kill-trace" -s "$SEED" "$@" "$O/bin/ktr" "$work/killed"; }
n_paths=0
for path in $paths; do n_paths=$((n_paths + 1)); done
each=$(((KILLS + 6 * n_paths - 1) / (6 * n_paths)))
for path in $paths; do
	trace -c "$CALLS"
	trace -c "$CALLS" -f
	trace -c "$CALLS" -k
	for entries in 4096 65536; do
		trace -n $each -r $entries
		SEED=$((SEED + 1))
	done
done
