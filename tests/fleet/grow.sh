#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Exactly once while traces grow and are rotated: a folder of traces is shipped, followed or piece by piece, while at random
# moments the shipper, the server, both, the traced program and the connection are ended, so many of each. A program that was
# killed is followed by another, with a trace of its own. Then, of each trace: its events are there once, as many as ktr report
# counts; they and the losses are all that its streams have had; spans and the views' minutes are, row by row, what the
# distinct rows make.
#
#	KILLS=2 SEED=1 [REPLICATED=1] [LONGEST=seconds] sh tests/fleet/grow.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
KILLS=${KILLS:-2} SEED=${SEED:-1} REPLICATED=${REPLICATED:-}
seed=$SEED
program= shipper=
at_exit() {
	[ -z "$shipper" ] || kill -9 "$shipper" 2>/dev/null
	[ -z "$program" ] || kill -9 "$program" 2>/dev/null
	servers_end
}

cat >"$dir/host.c" <<'C'
#include <ktr.h>
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>
static volatile int over;
static void *work(void *me)
{
	for (long i = 0; !over; i++) {
		KTR_SCOPE(KTR_NET, "request");
		CTR3(KTR_GEN, "%d %ld %s", (int)(long)me, i, i % 7 ? "text" : "another one");
		if (i % 20 == 0)
			usleep(10000);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	char c;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	while (read(0, &c, 1) > 0)
		;
	over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude "$dir/host.c" -o "$dir/host" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
[ -z "$REPLICATED" ] || keeper_start || { skip "there is no ZooKeeper"; exit 77; }
server_start || exit 1
proxy_start 0
"$ktr" ship --to "$url" --create ${REPLICATED:+--replicated} 2>err || fail "--create: $(cat err)"
mkfifo in
exec 7<>in
mkdir traces shipped
n_programs=0
# The next program, and its trace.
program_start() {
	n_programs=$((n_programs + 1))
	KTR_MASK=all KTR_FILE=traces/t$n_programs KTR_ROTATE_SIZE=256K KTR_ROTATE_KEEP=1000 KTR_DEAD_SESSIONS=10000 \
		KTR_DEAD_BYTES=8G ./host <in 7>&- 8>&- 9>&- &
	program=$!
	await '[ -e traces/t'$n_programs'/metadata ]'
}
program_kill() {
	kill -9 $program
	wait $program 2>/dev/null
	program=
	n_program=$((n_program + 1))
}
# ship OPTIONS...: in the background, $shipper
ship() {
	"$ktr" ship --to "$through" --state state --host web01 --spans --patience 20s "$@" traces >>log 2>&1 7>&- &
	shipper=$!
}
ship_any() {
	random 3
	if [ "$r" = 0 ]; then
		ship
	else
		ship --follow --every 1s
	fi
}
shipper_kill() {
	kill -9 $shipper 2>/dev/null && n_shipper=$((n_shipper + 1))
	wait $shipper 2>/dev/null
	shipper=
}
server_again() {
	server_kill
	n_server=$((n_server + 1))
	server_start 7>&- || exit 1
}
# check TRACE
check() {
	where="trace = toUUID('$(uuid "$1")')"
	want=$("$ktr" report --json "$1" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')
	is "$1: events, identities" "$(ask "SELECT count(), uniqExact(stream, idx) FROM ktr.events WHERE $where")" \
		"$(printf '%s\t%s' "$want" "$want")"
	is "$1: the whole of each stream, losses counted" \
		"$(ask "SELECT sum(n) FROM (SELECT max(idx) + 1 AS n FROM ktr.events WHERE $where GROUP BY stream)")" \
		"$(($(ask "SELECT sum(events) FROM ktr.losses FINAL WHERE $where AND why = 'overwritten'") + want))"
	is "$1: spans" "$(ask "SELECT count(), sum(dur) FROM ktr.spans FINAL WHERE $where AND open = 0 AND unsure = 0" | tr '\t' ,)" \
		"$("$ktr" sql --csv "$1" "SELECT count(dur), sum(dur) FROM spans WHERE NOT unsure" 2>/dev/null | tail -n 1 | tr -d '\r')"
	n_events=$((n_events + want))
}
# All programs are dead: what is left of their traces goes, and is checked.
settle() {
	[ -z "$shipper" ] || shipper_kill
	rm -f cut
	tries=0
	until ship && wait $shipper; do
		tries=$((tries + 1))
		[ $tries -lt 3 ] || { fail "what is left: $(tail -n 1 log)"; break; }
	done
	shipper=
	for trace in traces/*/; do
		trace=${trace%/}
		case $trace in
		*.[0-9]*) continue ;;
		esac
		check "$trace"
	done
	n_parts=$((n_parts + $(find traces -maxdepth 1 -name '*.[0-9]*' | wc -l)))
	rm -rf traces/*
}

n_shipper=0 n_server=0 n_both=0 n_program=0 n_connection=0 n_events=0 n_parts=0 n_live=0
started=$(date +%s)
program_start
while draw shipper server both program connection; do
	{ [ -n "$shipper" ] && kill -0 $shipper 2>/dev/null; } || ship_any
	random 1500
	sleep "$((r / 1000)).$(printf %03d $((r % 1000)))"
	case $what in
	shipper) shipper_kill ;;
	server) server_again ;;
	both)
		both_kill
		n_both=$((n_both + 1))
		server_start 7>&- || exit 1
		;;
	program)
		program_kill
		[ $((n_program % 10)) != 0 ] || { n_live=$((n_live + $(ask "SELECT count() FROM ktr.events"))); settle; }
		program_start
		;;
	connection)
		random 3
		[ -e cut ] || { echo "$r" | tr 012 bwa | sed 's/b/before/; s/w/within/; s/^a/after/' >cut.made && mv cut.made cut; }
		i=0
		while [ -e cut ] && [ $i -lt 100 ]; do
			kill -0 $shipper 2>/dev/null || ship_any
			sleep 0.05
			i=$((i + 1))
		done
		[ -e cut ] || n_connection=$((n_connection + 1))
		;;
	esac
	is "double after $what" "$(ask "SELECT count() - uniqExact(trace, stream, idx) FROM ktr.events WHERE ts > (toUInt32(now()) - 60) * 1000000000")" 0
done
# What follows one trace ends by itself when the trace does.
settle_live=$(ls -d traces/t$n_programs)
[ -z "$shipper" ] || shipper_kill
"$ktr" ship --to "$through" --state state --host web01 --spans --patience 20s --follow --every 1s "$settle_live" >>log 2>&1 7>&- &
shipper=$!
exec 7>&-
wait $program || fail "the program failed"
program=
wait $shipper || fail "a trace that was followed to its end: $(tail -n 1 log)"
shipper=
settle
[ "$n_live" -gt 0 ] || [ "$KILLS" -lt 10 ] || fail "nothing was shipped while traces grew: $(tail -n 3 log)"
# rows NAME QUERY-OF-THE-VIEW QUERY-OF-ROWS
rows() {
	ask "$2" >got
	ask "$3" >want
	[ -s want ] || fail "$1: no rows"
	cmp -s got want || fail "$1: $(diff got want | head -n 4)"
}
# All rows are distinct, as was looked at trace by trace: to make them so once more, tens of millions, takes too much memory.
rows "minutes of sites" "SELECT minute, host, class, site, sum(n) FROM ktr.site_minute
		GROUP BY minute, host, class, site ORDER BY minute, host, class, site" \
	"SELECT toDateTime(intDiv(ts, 60000000000) * 60) AS minute, host, class, site, count() FROM ktr.events
		GROUP BY minute, host, class, site ORDER BY minute, host, class, site"
rows "minutes of spans" "SELECT minute, host, build, grp, id, countMerge(n), sumMerge(total), maxMerge(worst) FROM ktr.span_minute
		GROUP BY minute, host, build, grp, id ORDER BY minute, host, build, grp, id" \
	"SELECT toDateTime(intDiv(ts, 60000000000) * 60) AS minute, host, build, grp, id, count(), sum(dur), max(dur) FROM ktr.spans FINAL
		WHERE unsure = 0 AND open = 0 GROUP BY minute, host, build, grp, id ORDER BY minute, host, build, grp, id"
is "spans that are there twice" "$(ask "SELECT count() - (SELECT count() FROM ktr.spans FINAL) FROM ktr.spans")" 0
echo "seed $seed${REPLICATED:+, replicated}: kills: $n_shipper of the shipper, $n_server of the server, $n_both of both, $n_program of the" \
	"program; connections cut before, within, after: $(cat cuts 2>/dev/null); $n_programs traces in $n_parts parts besides, $n_events events," \
	"$(ask "SELECT count() FROM ktr.spans") spans; $(($(date +%s) - started)) s"
exit $failed
