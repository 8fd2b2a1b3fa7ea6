#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Exactly once: a trace is shipped while the shipper, the server and the connection are ended at random moments, the connection
# by a proxy that cuts before a request, within it, or after it before the answer. In the end each event is there once, and
# events, spans and minutes are those of a trace that was shipped in peace.
#
#	KILLS=20 SEED=1 [REPLICATED=1] sh tests/fleet/kills.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
KILLS=${KILLS:-20} SEED=${SEED:-1}
seed=$SEED
EVENTS=${EVENTS:-150000}
shipper=
at_exit() {
	[ -z "$shipper" ] || kill -9 "$shipper" 2>/dev/null
	servers_end
}
# chance N: one in so many
chance() {
	random "$1"
	[ $r = 0 ]
}

$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=trace KTR_ENTRIES=65536 ./flood "$EVENTS" >/dev/null || fail "the program failed"
REPLICATED=${REPLICATED:-}
[ -z "$REPLICATED" ] || keeper_start || { skip "there is no ZooKeeper"; exit 77; }
server_start || exit 1

proxy_start 0.33

touch calm
started=$(date +%s%N)
"$ktr" ship --to "$url" --state peace --database calm --create ${REPLICATED:+--replicated} --host web01 --spans trace 2>err || fail "in peace: $(cat err)"
peace=$((($(date +%s%N) - started) / 1000000))
"$ktr" ship --to "$url" --create ${REPLICATED:+--replicated} 2>err || fail "--create: $(cat err)"
rm calm
started=$(date +%s%N)
n_shipper=0 n_server=0 n=0
while [ $n -lt "$KILLS" ]; do
	"$ktr" ship --to "$through" --state state --host web01 --spans --patience 20s trace >>log 2>&1 &
	shipper=$!
	random 900
	sleep "0.$(printf %03d $r)"
	if chance 3; then
		server_kill
		n_server=$((n_server + 1))
		chance 2 && { kill -9 $shipper 2>/dev/null; n_shipper=$((n_shipper + 1)); }
		server_start || exit 1
	else
		kill -9 $shipper 2>/dev/null
		n_shipper=$((n_shipper + 1))
	fi
	n=$((n + 1))
	if chance 4; then # this one may come to its end
		wait $shipper
		is_done=$(ask "SELECT count() FROM ktr.events")
		[ "$is_done" = "$(ask "SELECT count() FROM calm.events")" ] && rm -rf state && ask "DROP DATABASE ktr" &&
			"$ktr" ship --to "$url" --create ${REPLICATED:+--replicated} 2>err && n_whole=$((${n_whole:-0} + 1))
	else
		kill -9 $shipper 2>/dev/null
	fi
	wait $shipper 2>/dev/null
	shipper=
	is "double after $n" "$(ask "SELECT count() - uniqExact(stream, idx) FROM ktr.events")" 0
done
touch calm
"$ktr" ship --to "$through" --state state --host web01 --spans trace 2>err || fail "at last: $(cat err)"
for of in "count() FROM %.events" "uniqExact(stream, idx) FROM %.events" "sum(cityHash64(stream, idx, ts, site, tid, s0, i0, i1)) FROM %.events" \
	"count() FROM %.spans" "sum(cityHash64(ts, dur, grp, id, state, tid, key, unsure, open)) FROM %.spans" \
	"sum(n) FROM %.site_minute" "countMerge(n), sumMerge(total), maxMerge(worst) FROM %.span_minute WHERE 1" \
	"sum(events) FROM %.losses FINAL" "count() FROM %.threads FINAL" "count() FROM %.files FINAL"; do
	is "$of" "$(ask "SELECT $(echo "$of" | sed 's/%/ktr/')")" "$(ask "SELECT $(echo "$of" | sed 's/%/calm/')")"
done
is "what ktr report counts" "$(ask "SELECT count() FROM ktr.events")" \
	"$("$ktr" report --json trace 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')"
echo "seed $seed${REPLICATED:+, replicated}: $n_shipper kills of the shipper, $n_server of the server, cuts before, within, after: $(cat cuts); \
${n_whole:-0} times from the beginning; $(ask "SELECT count() FROM ktr.events") events, in peace $peace ms; $((($(date +%s%N) - started) / 1000000000)) s"
exit $failed
