#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A writer that is late, at any point of its round: the program is stopped again and again, for longer than readers wait that
# show what comes. Its threads go from CPU to CPU, so that their spans lie in several streams. What is shipped meanwhile, and
# after the program was killed, are the spans that ktr sql makes of the whole, and the view has each once.
#
#	STOPS=60 SEED=1 sh tests/fleet/late.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
STOPS=${STOPS:-60} SEED=${SEED:-1}
seed=$SEED
at_exit() { hosts_end; }
cat >"$dir/hops.c" <<'C'
#include <ktr.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static void *work(void *me)
{
	for (unsigned i = (unsigned)(long)me;; i++) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(i % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &one);
		sched_setaffinity(0, sizeof(one), &one);
		for (int k = 0; k < 300; k++) {
			KTR_SCOPE(KTR_NET, "request");
			CTR2(KTR_GEN, "%u %d", i, k);
		}
		KTR_SCOPE(KTR_NET, "hop");
		sched_yield();
		CPU_ZERO(&one);
		CPU_SET((i + 1) % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &one);
		sched_setaffinity(0, sizeof(one), &one);
		usleep(1000);
	}
	return NULL;
}
int main(void)
{
	pthread_t t;
	for (long i = 1; i < 4; i++)
		pthread_create(&t, NULL, work, (void *)i);
	work(NULL);
}
C
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude "$dir/hops.c" -o "$dir/hops" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
server_start || exit 1
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
KTR_MASK=all KTR_FILE=trace ./hops &
program=$!
await '[ -e trace/metadata ]'
"$ktr" ship --to "$url" --state state --host web01 --spans --follow --every 1s trace >log 2>&1 &
shipper=$!
i=0
while [ $i -lt "$STOPS" ]; do
	random 40
	sleep "0.$(printf %03d $((r + 5)))"
	kill -STOP $program
	sleep 0.6
	kill -CONT $program
	i=$((i + 1))
done
kill -STOP $program
sleep 0.6
kill -9 $program
wait $program 2>/dev/null
program=
wait $shipper || fail "the shipper: $(tail -n 1 log)"
shipper=
"$ktr" ship --to "$url" --state state --host web01 --spans trace 2>err || fail "the rest: $(cat err)"
is "events" "$(ask "SELECT count(), uniqExact(stream, idx) FROM ktr.events" | tr '\t' ,)" \
	"$("$ktr" sql --csv trace "SELECT count(*), count(*) FROM events" 2>/dev/null | tail -n 1 | tr -d '\r')"
# By what they are, for times are told of the clock of each: beside it, how long they take.
ask "SELECT id, tid, count(), sum(dur) FROM ktr.spans WHERE open = 0 AND unsure = 0 GROUP BY id, tid ORDER BY id, tid" | tr '\t' , >got
"$ktr" sql --csv trace "SELECT id, tid, count(dur), sum(dur) FROM spans WHERE NOT unsure AND dur IS NOT NULL
		GROUP BY id, tid ORDER BY id, tid" 2>/dev/null | tail -n +2 | tr -d '\r' >want
[ -s want ] || fail "there are no spans"
cmp -s got want || fail "spans: $(diff got want | head -n 6)"
is "spans of the view" "$(ask "SELECT countMerge(n), sumMerge(total) FROM ktr.span_minute")" \
	"$(ask "SELECT count(), sum(dur) FROM ktr.spans FINAL WHERE open = 0 AND unsure = 0")"
exit $failed
