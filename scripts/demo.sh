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
draw() { # file, what it shows, command
	picture=$1 shows=$2
	shift 2
	"$ktr" "$@" -o "$out/$picture"
	printf '%-24s %s\n' "$out/$picture" "$shows"
}

dirs=
for d in /usr/include /usr/share/perl /usr/share/perl5 /usr/share/doc; do
	[ -d "$d" ] && dirs="$dirs $d"
done

rm -rf "$out"
mkdir -p "$out/sessions"

# A bare system has few files, and hardly a big one: then what there is is put together to forty of 2 MB.
# shellcheck disable=SC2086
if [ "$(find $dirs -type f -size +1000k 2>/dev/null | head -n 20 | wc -l)" -lt 20 ]; then
	mkdir "$out/more"
	for _ in 1 2 3 4; do find $dirs -type f -name '*.h' | sort; done | xargs cat 2>/dev/null |
		head -c 80000000 | split -b 2000000 - "$out/more/"
	dirs="$dirs $out/more"
fi

say "1. Index the files under$dirs with four workers, traced"
# shellcheck disable=SC2086
run "$ktr" run -e 256K -o "$out/trace" -- "$indexer" -j 4 -o "$out/index" $dirs

say "2. Why did one worker stall? The rows of the workers and of the locks they share"
run "$ktr" timeline "$out/trace" --group worker
run "$ktr" timeline "$out/trace" --group shard

say "3. How long is a wait for a lock? The 99th percentile answers"
"$ktr" report "$out/trace" --json >"$out/report.json"
echo "\$ $ktr report $out/trace | grep -E '^span|lock wait'"
"$ktr" report "$out/trace" | grep -E '^span|lock wait'

say "4. The same as pictures"
draw timeline.png 'what each thread did; the headline says what stands out' \
	timeline "$out/trace"
draw timeline.html 'the same as a page for a browser: zoom to the nanosecond, search, click, measure' \
	timeline "$out/trace"
# How long the last worker goes on alone depends on what lies in the directories: as long again as all had something
# to do is enough to see it, and leaves the picture full.
end=$("$ktr" sql --csv "$out/trace" "SELECT cast(min(max(until), 2 * max(CASE WHEN id IN ('worker 0', 'worker 1',
	'worker 2') AND state NOT IN ('idle', 'done') THEN until END)) AS integer) FROM spans WHERE grp = 'worker'" |
	tr -d '\r' | tail -n 1)
draw stall.png 'of that the workers and the locks alone, while all worked, and as long again' \
	timeline "$out/trace" --group worker --group shard --to "${end}ns" --size 1000x800
draw latency.png 'how long waits for a lock took, with p50, p99 and p99.9 marked' \
	plot latency "$out/trace" --group 'lock wait'
draw heatmap.png 'when the long waits were' plot heatmap "$out/trace" --group 'lock wait'
draw rate.png 'events per class over time' plot rate "$out/trace"
draw states.png 'what each worker spent its time on' plot states "$out/trace" --group worker
printf '%-24s %s\n' "$out/report.json" 'everything that was counted and timed'
printf '%-24s %s\n' "$out/trace/" "the trace itself: ktr dump $out/trace, or babeltrace2 $out/trace"

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
rm -rf "$out/sessions" "$out/more" "$out/index" "$out/live.log"
