#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A trace that grows and is rotated is followed, and shipped piece by piece, while the shipper and the server are killed; in the end
# the program ends, or is killed. Then each event that ktr report counts is there once.
#
#	KILLS=10 SEED=1 sh tests/fleet/grow.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
KILLS=${KILLS:-10} SEED=${SEED:-1}
seed=$SEED
program= shipper=
at_exit() {
	[ -z "$shipper" ] || kill -9 "$shipper" 2>/dev/null
	[ -z "$program" ] || kill -9 "$program" 2>/dev/null
	servers_end
}
random() {
	SEED=$((SEED ^ SEED << 13))
	SEED=$((SEED ^ (SEED >> 7 & 0x1ffffffffffffff)))
	SEED=$((SEED ^ SEED << 17))
	r=$(((SEED >> 20 & 0xffffffff) % $1))
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
		if (i % 50 == 0)
			usleep(5000);
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
server_start || exit 1
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
mkfifo in
KTR_MASK=all KTR_FILE=trace KTR_ROTATE_SIZE=512K KTR_ROTATE_KEEP=1000 ./host <in &
program=$!
exec 7>in
await '[ -e trace/metadata ]'
# ship OPTIONS...: in the background, $shipper
ship() {
	"$ktr" ship --to "$url" --state state --host web01 --spans --patience 20s "$@" trace >>log 2>&1 7>&- &
	shipper=$!
}
n=0 n_shipper=0 n_server=0 n_whole=0
while [ $n -lt "$KILLS" ]; do
	random 2
	if [ $r = 0 ]; then
		ship --follow --every 1s
	else
		ship
	fi
	random 2500
	sleep "$((r / 1000)).$(printf %03d $((r % 1000)))"
	random 3
	if [ $r = 0 ]; then
		server_kill
		n_server=$((n_server + 1))
		server_start 7>&- || exit 1
	fi
	kill -9 $shipper 2>/dev/null && n_shipper=$((n_shipper + 1)) || n_whole=$((n_whole + 1))
	wait $shipper 2>/dev/null
	shipper=
	is "double after $n" "$(ask "SELECT count() - uniqExact(stream, idx) FROM ktr.events")" 0
	n=$((n + 1))
done
live=$(ask "SELECT count() FROM ktr.events")
[ "$live" -gt 0 ] || fail "nothing was shipped while the trace grew: $(tail -n 3 log)"
# What follows ends by itself when the trace does.
ship --follow --every 1s
if [ $((seed % 2)) = 0 ]; then
	end="was killed"
	kill -9 $program
else
	end=ended
fi
exec 7>&-
wait $program
program=
[ "$end" = ended ] || kill -9 $shipper
wait $shipper
rc=$?
shipper=
[ "$end" != ended ] || is "a trace that was followed to its end" $rc 0
ship
wait $shipper || fail "at last: $(tail -n 1 log)"
shipper=
want=$("$ktr" report --json trace 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')
is "events" "$(ask "SELECT count() FROM ktr.events")" "$want"
is "identities" "$(ask "SELECT uniqExact(stream, idx) FROM ktr.events")" "$want"
is "the whole of each stream, losses counted" "$(ask "SELECT sum(n) FROM (SELECT max(idx) + 1 AS n FROM ktr.events GROUP BY stream)")" \
	"$(($(ask "SELECT sum(events) FROM ktr.losses FINAL WHERE why = 'overwritten'") + want))"
is "spans" "$(ask "SELECT count(), sum(dur) FROM ktr.spans FINAL WHERE open = 0 AND unsure = 0" | tr '\t' ,)" \
	"$("$ktr" sql --csv trace "SELECT count(dur), sum(dur) FROM spans WHERE NOT unsure" 2>/dev/null | tail -n 1 | tr -d '\r')"
echo "seed $seed: $n_shipper kills of the shipper, $n_server of the server, $n_whole whole; the program $end; $live of $want events" \
	"while the trace grew, in $(find . -maxdepth 1 -name 'trace*' | wc -l) parts"
exit $failed
