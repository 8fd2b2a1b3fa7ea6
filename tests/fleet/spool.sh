#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What rotation removes while it cannot be shipped: a folder of traces of which few pieces are kept is followed, while at random
# moments the shipper, the server and both are ended, and the connection is stopped, so many of each, for so long that more
# pieces are rotated away than are kept. Then, of each trace: its events are there once; they and what its losses say are all
# that there was, also of streams that have none in the end. Where the server alone was ended nothing is unshipped. What was
# kept for that is gone in the end.
#
#	KILLS=2 SEED=1 [AWAY=3000] [LONGEST=seconds] sh tests/fleet/spool.sh		AWAY: [ms] at most that somebody is away
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
KILLS=${KILLS:-2} SEED=${SEED:-1} AWAY=${AWAY:-3000}
seed=$SEED
at_exit() {
	[ -z "$proxy" ] || kill -CONT "$proxy" 2>/dev/null
	hosts_end
}

cat >"$dir/host.c" <<'C'
#define _GNU_SOURCE
#include <ktr.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int over;
static cpu_set_t all;
static int n_all;
/* For two seconds all are on one processor: the streams of others fall silent, and pieces with their ends are removed. */
static void gather(int *at)
{
	struct timespec now;
	cpu_set_t one;
	int n, cpu = -1;

	clock_gettime(CLOCK_MONOTONIC, &now);
	n = (int)(now.tv_sec / 2 % n_all);
	if (n == *at)
		return;
	*at = n;
	do
		n -= CPU_ISSET(++cpu, &all) != 0;
	while (n >= 0);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
static void *work(void *n)
{
	int at = -1;
	long i;

	for (i = 0; !over; i++) {
		CTR3(KTR_GEN, "%p %ld %s", n, i, i % 7 ? "some text that takes its room in a trace" : "another");
		if (i % 50 == 0) {
			usleep(10000);
			gather(&at);
		}
	}
	*(long *)n = i;
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	long n[3];
	char c;

	sched_getaffinity(0, sizeof(all), &all);
	n_all = CPU_COUNT(&all);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, &n[i]);
	while (read(0, &c, 1) > 0)
		;
	over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", n[0] + n[1] + n[2]);
	return 0;
}
C
$cc -std=gnu11 -O2 -Iinclude "$dir/host.c" -o "$dir/host" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
server_start || exit 1
proxy_start 0
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
mkfifo in
n_traces=0 n_events=0 n_unshipped=0 n_rotated=0

# trace_start FOLDER: the next program, and its trace
trace_start() {
	folder=$1
	n_traces=$((n_traces + 1))
	trace=$folder/t$n_traces
	mkdir -p "$folder"
	KTR_MASK=gen KTR_FILE=$trace KTR_ROTATE_SIZE=256K KTR_ROTATE_KEEP=3 ./host <in >n 2>>host.err 8>&- 9>&- &
	program=$!
	exec 7>in
	await '[ -e '"$trace"'/metadata ]'
}
shipper_start() {
	"$ktr" ship --to "$through" --state state --host web01 --patience 100s --spool 1G --follow --every 1s "$folder" >>log 2>&1 7>&- &
	shipper=$!
}
shipper_kill() {
	kill -9 $shipper 2>/dev/null
	wait $shipper 2>/dev/null
	shipper=
}
# pause MILLISECONDS: so long at most
pause() {
	random "$1"
	sleep "$((r / 1000)).$(printf %03d $((r % 1000)))"
}
number() {
	set -- $(find "$folder" -maxdepth 1 -name "t$n_traces.*" | sed 's/.*\.//' | sort -n | tail -n 1)
	echo "${1:-0}"
}
# kill_one WHAT: and let it come back
kill_one() {
	case $1 in
	shipper) shipper_kill; pause "$AWAY"; shipper_start ;;
	server) server_kill; pause "$AWAY"; server_start 7>&- || exit 1 ;;
	both)
		both_kill
		pause "$AWAY"
		shipper_start
		pause "$AWAY"
		server_start 7>&- || exit 1
		;;
	connection) kill -STOP "$proxy"; pause "$AWAY"; kill -CONT "$proxy" ;;
	esac
}
# settle: the program ends, and what is left of its trace goes
settle() {
	exec 7>&-
	wait $program || fail "$trace: the program failed"
	program=
	n_rotated=$((n_rotated + $(number)))
	await 'grep -q "'"$trace"': [0-9]* events and" log'
	kill $shipper
	wait $shipper || fail "SIGTERM: $?: $(tail -n 1 log)"
	shipper=
	"$ktr" ship --to "$through" --state state --host web01 "$folder" >>log 2>&1 || fail "what is left: $(tail -n 1 log)"
	is "$folder: what is kept in the end" "$(find "$folder" -name .ktr-ship -exec find {} \;)" ""
	where="trace = toUUID('$(uuid "$trace")')"
	is "$trace: streams with an event twice" \
		"$(ask "SELECT stream FROM ktr.events WHERE $where GROUP BY stream HAVING count() != uniqExact(idx)")" ""
	# A stream is a processor's here, and its losses say which; what is missing after its last event is with the whole alone.
	ask "SELECT cpu, sum(n) AS missing FROM (SELECT cpu, stream, max(idx) + 1 - count() AS n FROM ktr.events WHERE $where
		GROUP BY cpu, stream) GROUP BY cpu ORDER BY cpu" >missing
	ask "SELECT cpu, sum(events) FROM ktr.losses FINAL WHERE $where AND why IN ('overwritten', 'unshipped') GROUP BY cpu" >lost
	more=$(awk 'FILENAME == "lost" { lost[$1] = $2; next } $2 > lost[$1] + 0 { print $1, $2, lost[$1] + 0 }' lost missing)
	is "$trace: processors of which more is missing than is told" "$more" ""
	events=$(ask "SELECT count() FROM ktr.events WHERE $where")
	lost=$(awk '{ n += $2 } END { print n + 0 }' lost)
	is "$trace: $events events, and $lost that are told to be missing" "$((events + lost))" "$(cat n)"
	n_events=$((n_events + events))
	unshipped=$(ask "SELECT sum(events) FROM ktr.losses FINAL WHERE $where AND why = 'unshipped'")
	n_unshipped=$((n_unshipped + unshipped))
}

started=$(date +%s)
# The server alone.
trace_start alone
shipper_start
n_alone=0 n_late=0
while [ $n_alone -lt "$KILLS" ]; do
	pause 1500
	before=$(number)
	kill_one server
	n_alone=$((n_alone + 1))
	[ "$(number)" -le $((before + 4)) ] || n_late=$((n_late + 1))
done
[ $n_late -gt 0 ] || [ "$KILLS" -lt 10 ] || fail "the server was never away for as long as pieces are kept"
settle
is "$trace: unshipped, where the server alone was killed" "$n_unshipped" 0

# All of them.
n_shipper=0 n_server=0 n_both=0 n_connection=0 n_round=0
trace_start all
shipper_start
while draw shipper server both connection; do
	pause 1500
	kill -0 $shipper 2>/dev/null || fail "the shipper ended: $(tail -n 1 log)"
	kill_one "$what"
	eval "n_$what=\$((n_$what + 1))"
	n_round=$((n_round + 1))
	[ $((n_round % 10)) != 0 ] || { settle; trace_start all; shipper_start; }
done
settle
[ "$KILLS" -lt 10 ] || [ "$n_unshipped" -gt 0 ] || fail "nothing was removed while the shipper was dead"
echo "seed $seed: kills: $n_alone of the server alone; $n_shipper of the shipper, $n_server of the server, $n_both of both," \
	"$n_connection stops of the connection; $n_traces traces in $n_rotated pieces, $n_events events, $n_unshipped unshipped;" \
	"$(($(date +%s) - started)) s"
exit $failed
