#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What ktr ship sends is what ktr sql counts in the same traces, on a real server: events, spans, losses, texts of any bytes;
# once, however often it is run.
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc

ship() {
	"$ktr" ship --to "$url" --state "$dir/state" --host web01 "$@" >"$dir/out" 2>"$dir/err"
}
# sql TRACE QUERY
sql() {
	"$ktr" sql --csv "$1" "$2" 2>>"$dir/err" | tail -n +2 | tr -d '\r"' || fail "ktr sql $2: $(cat "$dir/err")"
}

$cc -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" "$O/lib/libktr.a" \
	-lpthread || exit 1
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=plain ./events 3000 || fail "the program failed"
KTR_MASK=all KTR_FILE=pool KTR_PATH=thread ./events 2000 || fail "the program failed"
KTR_MASK=all KTR_FILE=lossy KTR_ENTRIES=256 ./events 20000 || fail "the program failed"
KTR_MASK=all KTR_FILE=rotated KTR_ROTATE_SIZE=256K KTR_ROTATE_KEEP=100 ./events 20000 || fail "the program failed"
KTR_MASK=all KTR_FILE=spans ./flood 20000 >/dev/null || fail "the program failed"
cat >counters.c <<'C'
#include <ktr.h>
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		KTR_COUNTER0(KTR_GEN, "queue", i % 2 ? "files" : "sockets", i);
		CTR1(KTR_GEN, "%d", i);
	}
	return 0;
}
C
$cc -std=gnu11 -O2 -I"$top/include" -o counted counters.c "$O/lib/libktr.a" -lpthread || exit 1
KTR_MASK=all KTR_FILE=counters ./counted || fail "the program failed"
server_start || exit 1

# Nothing is there yet.
ship plain && fail "shipped to tables that are not there"
grep -q 'ktr ship --create' err || fail "no tables: $(cat err)"
ship --create || { fail "--create: $(cat err)"; exit 1; }
ship --create || fail "--create, again: $(cat err)"
is "tables" "$(ask "SELECT count() FROM system.tables WHERE database = 'ktr'")" 18

for t in plain pool lossy rotated spans; do
	ship --spans $t || fail "$t: $(cat err)"
	uuid=$(ask "SELECT trace FROM ktr.traces ORDER BY version DESC LIMIT 1")
	where="trace = toUUID('$uuid')"
	is "$t: events" "$(ask "SELECT count() FROM ktr.events WHERE $where")" "$(sql $t 'SELECT count(*) FROM events')"
	is "$t: identities" "$(ask "SELECT uniqExact(stream, idx) FROM ktr.events WHERE $where")" \
		"$(ask "SELECT count() FROM ktr.events WHERE $where")"
	ask "SELECT class, site, kind, count(), sum(cpu), uniqExact(tid) FROM ktr.events WHERE $where GROUP BY class, site, kind
		ORDER BY class, site, kind FORMAT CSV" | tr -d '"' >got
	sql $t "SELECT class, site, kind, count(*), sum(cpu), count(DISTINCT tid) FROM events GROUP BY class, site, kind
		ORDER BY class, site, kind" >want
	cmp -s got want || fail "$t: by class, site and kind: $(diff got want | head -n 5)"
	is "$t: spans" "$(ask "SELECT grp, id, count(), sum(unsure), sum(if(open = 0, dur, 0)) FROM ktr.spans FINAL WHERE $where
		GROUP BY grp, id ORDER BY grp, id FORMAT CSV" | tr -d '"')" \
		"$(sql $t 'SELECT grp, id, count(*), sum(unsure), ifnull(sum(dur), 0) FROM spans GROUP BY grp, id ORDER BY grp, id')"
	is "$t: lost" "$(ask "SELECT sum(events) FROM ktr.losses FINAL WHERE $where")" \
		"$(sql $t 'SELECT ifnull(sum(events), 0) FROM losses')"
	n=$(ask "SELECT count() FROM ktr.events")
	ship --spans $t || fail "$t, again: $(cat err)"
	is "$t, again" "$(ask "SELECT count() FROM ktr.events")" "$n"
	is "$t, what was told again" "$(grep -c ' 0 events and 0 spans' err)" 1
done
[ "$(ask "SELECT sum(events) FROM ktr.losses FINAL")" -gt 0 ] || fail "nothing was lost"
is "minutes of sites" "$(ask "SELECT sum(n) FROM ktr.site_minute")" "$(ask "SELECT count() FROM ktr.events")"
is "minutes of spans" "$(ask "SELECT countMerge(n) FROM ktr.span_minute")" \
	"$(ask "SELECT count() FROM ktr.spans WHERE unsure = 0 AND open = 0")"
# Counters are in a table of their own, events only those of a filter.
ship --no-events counters || fail "counters: $(cat err)"
is "counters" "$(ask "SELECT grp, id, count(), sum(value), max(value) FROM ktr.counters FINAL
	GROUP BY grp, id ORDER BY grp, id FORMAT CSV" | tr -d '"')" \
	"$(sql counters "SELECT grp, id, count(*), sum(value), max(value) FROM counters GROUP BY 1, 2 ORDER BY 1, 2" | sed 's/\.0$//; s/\.0,/,/g')"
[ "$(ask "SELECT count() FROM ktr.counters")" -gt 0 ] || fail "no counters"
ship --database few --create --filter 'class == net' plain || fail "--filter: $(cat err)"
is "of a filter" "$(ask "SELECT class, count() FROM few.events GROUP BY class FORMAT CSV" | tr -d '"')" \
	"$(sql plain "SELECT class, count(*) FROM events WHERE class = 'net' GROUP BY class")"
is "what is gone of traces that are complete" "$(ask "SELECT count() FROM ktr.losses WHERE why = 'unshipped'")" 0
ship --database few --filter 'class ==' lossy && fail "a filter that is none"
is "a filter that is none, lines" "$(grep -c 'ktr ship: --filter: column [0-9]*: ' err)" 1
ship --database few --filter 'clas == net' lossy || fail "a name that may come: $(cat err)"
is "a name that may come, lines" "$(grep -c 'lossy: --filter, column 1: .*, so far' err)" 1
# Bytes are what they were, whatever they are.
is "texts" "$(ask "SELECT DISTINCT hex(s0), nulls, cut, length(s1) FROM ktr.events WHERE nulls = 2")" \
	"$(printf '77C3B6726B202271756F74656422\t2\t0\t0')"
is "a text that was cut" "$(ask "SELECT DISTINCT length(s0), cut FROM ktr.events WHERE cut != 0 AND class = 'net'
	AND site LIKE 'ctf_events%'")" "$(printf '512\t1')"
is "a double" "$(ask "SELECT DISTINCT f2, i1 FROM ktr.events WHERE f2 != 0")" "$(printf '0.25\t-9223372036854775808')"

# What is known of a trace, and of what it is made of.
"$ktr" cut -o part plain 2>/dev/null
ship part && fail "what ktr cut made was shipped"
grep -q -e --again err || fail "what ktr cut made: $(cat err)"
rm -rf state
ship plain && fail "shipped again without what was written down"
grep -q -e --again err || fail "without what was written down: $(cat err)"

# Who may, and who says so.
printf "se'cret\n" >key
chmod 644 key
ship --user shipper --password-file key --again plain && fail "a password that all may read was taken"
grep -q 'chmod 600' err || fail "a password that all may read: $(cat err)"
chmod 600 key
ship --user shipper --password-file key --again plain || fail "by a password: $(cat err)"
echo wrong >key
ship --user shipper --password-file key plain && fail "shipped by a wrong password"
is "a wrong password, lines" "$(wc -l <err)" 1
grep -q 'does not know the user shipper' err || fail "a wrong password: $(cat err)"
rm -rf state
ship --user reader --again plain && fail "shipped by a user that may only read"
is "a user that may only read, lines" "$(grep -vc 'keeps no copies' err)" 1
"$ktr" ship --to "http://shipper:x@127.0.0.1:$http_port" plain 2>err && fail "a password in the address was taken"
grep -q 'seen by all' err || fail "a password in the address: $(cat err)"
ask "INSERT INTO ktr.schema VALUES (99)"
ship plain && fail "shipped to a schema of a later version"
grep -q 'are of version 99' err || fail "a later schema: $(cat err)"
server_kill
ship --patience 0 plain && fail "shipped to a server that is gone"
is "a server that is gone, lines" "$(wc -l <err)" 1
grep -q 'cannot be reached' err || fail "a server that is gone: $(cat err)"
exit $failed
