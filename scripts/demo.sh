#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make demo: a parallel file indexer, traced through its own CTR points, answers why one of its workers
# stalled; then a class is switched while it runs; then it is killed and its last events are shown.
#
#	scripts/demo.sh [build-directory]
#
# Leaves demo-out/: trace/, report.json, timeline.png and further charts.
set -eu
cd "$(dirname "$0")/.."
O=${1:-build}
ktr=$O/bin/ktr
indexer=$O/examples/indexer
out=demo-out
export KTR_DIR="$PWD/$out/sessions"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

dirs=
for d in /usr/include /usr/share/perl /usr/share/perl5 /usr/share/doc /usr/lib/python3*; do
	[ -d "$d" ] && dirs="$dirs $d"
done

rm -rf "$out"
mkdir -p "$out/sessions"

say "1. Index the files under$dirs with four workers, traced"
# shellcheck disable=SC2086
run "$ktr" run -o "$out/trace" -- "$indexer" -j 4 -o "$out/index" $dirs

say "2. Why did one worker stall? The rows of the workers and of the locks they share"
run "$ktr" timeline "$out/trace" --group worker
run "$ktr" timeline "$out/trace" --group 'lock wait'

say "3. How long is a wait for a lock? The 99th percentile answers"
"$ktr" report "$out/trace" --json >"$out/report.json"
run "$ktr" report "$out/trace" --spans

say "4. The same as pictures"
"$ktr" timeline "$out/trace" -o "$out/timeline.png"
echo "$out/timeline.png   rows over time: worker 3 waits for shard 7 while the flusher holds its lock"
"$ktr" plot latency "$out/trace" --group 'lock wait' -o "$out/latency.png"
echo "$out/latency.png    how long waits for a lock took, with p50, p99 and p99.9 marked"
"$ktr" plot heatmap "$out/trace" --group 'lock wait' -o "$out/heatmap.png"
echo "$out/heatmap.png    when the long waits were"
"$ktr" plot rate "$out/trace" -o "$out/rate.png"
echo "$out/rate.png       events per class over time"
"$ktr" plot states "$out/trace" --group worker -o "$out/states.png"
echo "$out/states.png     what each worker spent its time on"
echo "$out/report.json    everything that was counted and timed"
echo "$out/trace/         the trace itself: ktr dump $out/trace, or babeltrace2 $out/trace"

say "5. A class switched off and on in a running program, without touching it"
# shellcheck disable=SC2086
KTR_SESSION=demo KTR_MASK=all "$indexer" -j 4 -n 0 $dirs >"$out/live.log" 2>&1 &
pid=$!
trap 'kill -9 $pid 2>/dev/null || :' EXIT
while ! "$ktr" sysctl -q -s demo debug.ktr.mask >/dev/null 2>&1; do sleep 0.05; done
rate() {
	a=$("$ktr" sysctl -n -s demo debug.ktr.recorded)
	sleep 0.5
	b=$("$ktr" sysctl -n -s demo debug.ktr.recorded)
	echo "$(((b - a) * 2)) events/s with mask $("$ktr" sysctl -n -s demo debug.ktr.mask)"
}
rate
run "$ktr" sysctl -s demo debug.ktr.mask=-index
rate
run "$ktr" sysctl -s demo debug.ktr.mask=+index
rate

say "6. Killed with SIGKILL: the rings outlive it"
run kill -9 "$pid"
wait "$pid" 2>/dev/null || :
trap - EXIT
run "$ktr" ls
run "$ktr" dump -s demo -n 8
"$ktr" rm -q demo 2>/dev/null || "$ktr" rm demo >/dev/null
rm -rf "$out/sessions" "$out/index"
