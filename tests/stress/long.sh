#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The long campaigns: at least 200 million events on each path, 1,000 kills on each path, odd lives at
# every instruction; 300 kills each of writing programs, of ktr record and of both; 200 opens of a trace by
# babeltrace2 while it is written. Takes half an hour or so; EVENTS and KILLS shorten it.
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh
EVENTS=${EVENTS:-200000000}
KILLS=${KILLS:-1000}
build_stress
build_kill
build_odd
for path in $paths; do
	run on_path "$path" "$out/stress" -e $((EVENTS / 2)) -p 4 -t 8 -r 256
	run on_path "$path" "$out/stress" -e $((EVENTS / 4)) -p 4 -t 2 -r 512 -P
	run on_path "$path" "$out/stress" -e $((EVENTS / 8)) -p 8 -t 1 -r 65536
	run on_path "$path" "$out/stress" -e $((EVENTS / 8)) -p 4 -t 4 -r 512 -C 3
	run on_path "$path" "$out/stress" -e $((EVENTS / 8)) -p 4 -t 4 -r 512 -C 4 -P
	run on_path "$path" "$out/stress" -e $((EVENTS / 8)) -p 1 -t 8 -r 4096 -i 20000 -P
	run on_path "$path" "$out/kill" -n $((KILLS / 2)) -r 256
	run on_path "$path" "$out/kill" -n $((KILLS / 2)) -r 16384
done
build_kill_trace
run "$out/kill-trace" -n 300 "$O/bin/ktr" "$work/killed"
run env OPENS=200 sh tests/cli/trace/opens.sh
run env ODD_LONG=1 "$out/odd"
run env ALL=1 O="$O" sh tests/link/run.sh
run env RARE=100000000 O="$O" sh tests/cli/control/live.sh
