#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# babeltrace2 reads our traces as they are: counts, names, arguments, thread ids and discarded events
# agree with what was recorded and with our own reader; also while a trace is being written.
. "$(dirname "$0")/../lib.inc"
if ! command -v babeltrace2 >/dev/null; then
	echo "babeltrace2 is not installed: not tested"
	exit 0
fi

# key file: the last value of a member in a sidecar
member() {
	grep -o "\"$1\":[0-9]*" "$2" | tail -n 1 | cut -d: -f2
}

$cc -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" \
	"$O/lib/libktr.a" -lpthread || exit 1

# Every type of argument, by name, as babeltrace2 shows it.
KTR_MASK=all KTR_FILE="$dir/types" "$dir/events" 1 || fail "the program failed"
babeltrace2 "$dir/types" >"$dir/text" 2>"$dir/err" || fail "babeltrace2 refuses the trace"
[ -s "$dir/err" ] && fail "babeltrace2 says: $(cat "$dir/err")"
tid=$(sed -n 's/.*"tid":\([0-9]*\),"pid":\1,.*/\1/p' "$dir/types/ktr/threads.jsonl" | head -n 1)
while IFS= read -r want; do
	grep -qF -- "$want" "$dir/text" || fail "not in babeltrace2's output: $want"
done <<END
{ tid = $tid, approx = 0, life = 0 }, { 1 = -1, 200 = 200, 2 = -2, 60000 = 60000
200 = 200, 2 = -2, 60000 = 60000, 3 = -3, 4000000000u = 4000000000 }
{ 4L = -4, 1ul_63 = 9223372036854775808, 0_25 = 0.25, 0x10 = 0x10 }
rx:ctf_events.c:28: {
none = "(null)", 7 = 7, ktr_cut = 0, ktr_null = 2 }
xxxxx", ktr_cut = 1, ktr_null = 0 }
{ ktr_n0 = 3, stack = [ [0] = 0x
sched:ctf_events.c:31: {
{ id = "w1", state = "waiting", shard = 5 }
{ rounds_0 = 1, strlen_a_b = 3 }
{ nowhere = 0x10, bytes = "bytes", 9 = 9 }
{ i = 0, me = 3 }
proc:
END
babeltrace2 --fields=loglevel,emf "$dir/types" 2>/dev/null |
	grep -q 'TRACE_DEBUG (14):tests/programs/trace/ctf_events.c:27 ' || fail "no level, or no file and line"
env -i TZ=UTC PATH="$PATH" babeltrace2 --clock-seconds "$dir/types" 2>/dev/null | head -n 1 |
	awk -v now="$(date +%s)" -F'[][.]' '{ exit !($2 > now - 600 && $2 <= now) }' ||
	fail "the clock is not that of the wall"

# Counts, on both paths, with and without losses: 3 events in each of 4 * N rounds, and some more.
for path in rseq thread; do
	for entries in 256 4096 1M; do
		t="$dir/$path.$entries"
		KTR_PATH=$path KTR_ENTRIES=$entries KTR_MASK=all,-proc KTR_FILE="$t" \
			"$dir/events" 20000 || fail "the program failed"
		babeltrace2 "$t" >"$dir/text" 2>"$dir/err" || fail "$t: babeltrace2 refuses the trace"
		events=$(wc -l <"$dir/text")
		lost=$(sed -n 's/.*discarded \([0-9]*\) event.*/\1/p' "$dir/err" |
			awk '{ n += $1 } END { print n + 0 }')
		[ "$events" -eq "$(member events "$t/ktr/info.jsonl")" ] || fail "$t: $events events"
		[ "$lost" -eq "$(member lost "$t/ktr/info.jsonl")" ] || fail "$t: $lost lost"
		[ $((events + lost)) -eq $((4 * 20000 * 3 + 8)) ] || fail "$t: $events + $lost"
		grep -v 'Tracer discarded' "$dir/err" && fail "$t: babeltrace2 complains"
	done
done

# Our own reader agrees, event by event: time, CPU, thread, site, arguments, losses.
for path in rseq thread; do
	for entries in 256 65536; do
		t="$dir/agree.$path.$entries"
		KTR_PATH=$path KTR_ENTRIES=$entries KTR_MASK=all KTR_FILE="$t" "$dir/events" 500 ||
			fail "the program failed"
		python3 tests/cli/read/agree.py "$O/bin/ktr" "$t" >"$dir/text" 2>&1 || fail "$(cat "$dir/text")"
	done
done
python3 tests/cli/read/agree.py "$O/bin/ktr" "$dir/types" >"$dir/text" 2>&1 || fail "$(cat "$dir/text")"

# A trace is opened again and again while it is being written.
KTR_MASK=all KTR_ENTRIES=4096 KTR_FILE="$dir/live" "$dir/events" "${ROUNDS:-2000000}" &
pid=$!
opens=0
await '[ -e "$dir/live/metadata" ] || ! kill -0 $pid 2>/dev/null'
while kill -0 $pid 2>/dev/null; do
	babeltrace2 "$dir/live" -c sink.utils.dummy >/dev/null 2>"$dir/err" ||
		fail "opened while it grows: $(head -n 3 "$dir/err")"
	opens=$((opens + 1))
	[ $opens -ge "${OPENS:-20}" ] && kill -9 $pid
done
wait $pid 2>/dev/null
echo "opened $opens times while it grew"
exit $failed
