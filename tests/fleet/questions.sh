#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What ktr fleet answers is what ktr sql counts in the same traces; each question's file is taken by clickhouse-client as it is.
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc

$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
questions=$PWD/tools/fleet/questions board=$PWD/tools/fleet/grafana.json
cd "$dir" || exit 1
for host in one two; do
	KTR_MASK=all KTR_FILE=$host KTR_ENTRIES=65536 ./flood 20000 >/dev/null || fail "the program failed"
done
KTR_MASK=all KTR_FILE=lossy KTR_ENTRIES=256 ./flood 20000 >/dev/null || fail "the program failed"
server_start || exit 1
fleet() { "$ktr" fleet "$@" "$url" >out 2>err; }
fleet top && fail "an answer without tables"
grep -q 'ktr ship --create' err || fail "no tables: $(cat err)"
for host in one two lossy; do
	"$ktr" ship --to "$url" --state state --create --host $host --build "build-$host" --spans $host 2>err || fail "ship: $(cat err)"
done
sql() { "$ktr" sql --csv "$1" "$2" 2>err | tail -n +2 | tr -d '\r"'; }
# rows QUESTION...: of its JSON, "a,b,c" a line
rows() {
	fields=$1
	shift
	fleet "$@" --json || fail "$*: $(cat err)"
	python3 -c 'import json, sys
for row in json.load(open("out"))["rows"]: print(*(row[f] for f in sys.argv[1].split(",")), sep=",")' "$fields"
}

for file in "$questions"/*.sql; do
	clickhouse-client --host 127.0.0.1 --port "$tcp_port" <"$file" >out 2>err || fail "$file: $(cat err)"
done
is "top" "$(rows class,site,events,threads top --host one)" \
	"$(sql one 'SELECT class, site, count(*) AS n, count(DISTINCT tid) FROM events GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT 20')"
is "slow" "$(rows dur_ns slow --host two | sed -n 1,5p)" \
	"$(sql two "SELECT dur FROM spans WHERE kind = 'span' AND NOT unsure AND dur NOT NULL ORDER BY dur DESC LIMIT 5")"
is "losses" "$(rows lost,gaps,worst losses --host lossy)" "$(sql lossy 'SELECT sum(events), count(*), max(events) FROM losses')"
is "hosts" "$(rows host,traces,builds hosts)" "$(printf 'lossy,1,1\none,1,1\ntwo,1,1')"
is "span" "$(rows spans,worst_ns span request --host one | awk -F, '{ n += $1; if ($2 > w) w = $2 } END { print n "," w }')" \
	"$(sql one "SELECT count(dur), max(dur) FROM spans WHERE grp = 'request' AND kind = 'span' AND NOT unsure")"
rows grp,id,spans_a,spans_b,p50_a_ns,p99_b_ns diff one build-two | sort >got
for host in one two; do
	sql $host "SELECT grp, id, count(dur), quantile(dur, .5), quantile(dur, .99) FROM spans
		WHERE kind = 'span' AND NOT unsure GROUP BY 1, 2 HAVING count(dur) ORDER BY 1, 2" >$host.want
done
python3 - <<'PY' || fail "diff: $(cat got)"
rows = [l.rstrip('\n').split(',') for l in open('got')]
one, two = ({tuple(f[:2]): f[2:] for f in (l.rstrip('\n').split(',') for l in open(h + '.want'))} for h in ('one', 'two'))
assert {tuple(r[:2]) for r in rows} == set(one) | set(two) and rows
for grp, id, a, b, p50, p99 in rows:
    w1, w2 = (x.get((grp, id), ('0', '0', '0')) for x in (one, two))
    assert (a, b) == (w1[0], w2[0]), (grp, id, a, b, w1, w2)
    for got, want, n in ((p50, w1[1], a), (p99, w2[2], b)):
        assert int(n) < 2000 or abs(float(got) - float(want)) <= 0.03 * float(want) + 20, (grp, id, got, want)
PY
fleet slow || fail "slow: $(cat err)"
grep -q '^basis: hosts 3, traces 3, events lost [1-9]' out || fail "what it rests on: $(tail -n 1 out)"
head -n 1 out | grep -q '^host  *grp  *id  *dur' || fail "a table: $(head -n 2 out)"
fleet slow --host one || fail "slow --host: $(cat err)"
lost=$(sql one 'SELECT coalesce(sum(events), 0) FROM losses')
grep -q "^basis: hosts 1, traces 1, events lost $lost," out || fail "what it rests on of one host, which lost $lost: $(tail -n 1 out)"
fleet losses --host lossy && [ "$(tail -n 1 out | grep -o 'lost [0-9]*')" = "lost $(sql lossy 'SELECT sum(events) FROM losses')" ] ||
	fail "what it rests on of the one that lost: $(tail -n 1 out)"
# Charts, by gnuplot where it is: a picture's first bytes, and the script.
for question in top slow losses hosts "span request" "diff one lossy"; do
	# shellcheck disable=SC2086 # a word each
	fleet $question -o chart.gp || fail "$question -o: $(cat err)"
	grep -q "^plot " chart.gp || fail "$question: a script that plots nothing"
	if command -v gnuplot >/dev/null; then
		# shellcheck disable=SC2086
		fleet $question -o chart.png || fail "$question -o: $(cat err)"
		[ "$(head -c 8 chart.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "$question: no picture"
	fi
done
grep -q "one and lossy" chart.gp || fail "a chart that does not say of what it is"
status 2 "$ktr" fleet basis -o chart.png "$url"
status 2 "$ktr" fleet top -o chart.xyz "$url"
fleet top --host nobody -o chart.gp && fail "a chart of nothing"
grep -q 'no rows to draw' err || fail "a chart of nothing: $(cat err)"

# Grafana's queries: all are taken, and but for counters, which no program had, all have rows.
now=$(date +%s)
python3 "$top/tests/fleet/grafana.py" "$board" one request $((now - 3600)) $((now + 60)) >queries || fail "$board"
while read -r sql; do
	ask "$sql" </dev/null >out 2>err || fail "$sql: $(cat err)"
	[ -s out ] || [ "${sql%ktr.counters*}" != "$sql" ] || [ "${sql%ktr.losses*}" != "$sql" ] || fail "no rows: $sql"
done <queries
ask "$(grep 'ktr fetch' queries)" | head -n 1 | tr '\t' '\n' >slowest
# shellcheck disable=SC2046 # its words
"$ktr" $(grep '^ktr fetch' slowest | sed 's/^ktr //; s/ URL$//') "$url" 2>err || fail "what Grafana says of the slowest: $(cat err)"
is "the slowest, fetched" "$("$ktr" sql --csv near.ktr "SELECT max(dur) FROM spans WHERE kind = 'span' AND NOT unsure" 2>err | tail -n 1 | tr -d '\r')" \
	"$(sed -n 4p slowest)"

# The same traces in a folder, without the server.
mkdir folder
for host in one two lossy; do
	mkdir folder/$host && ln -s ../../$host folder/$host/trace
done
# both FIELDS QUESTION...
both() {
	fields=$1
	shift
	is "of a folder: $*" "$(url=folder && rows "$fields" "$@" && python3 -c 'import json; print(json.load(open("out"))["basis"])')" "$(rows "$fields" "$@" && python3 -c 'import json; print(json.load(open("out"))["basis"])')"
}
both class,site,events,hosts,threads top
both host,ts,dur_ns,grp,id,process,thread,tid,at slow
both host,why,lost,gaps,worst,longest_ns losses
both host,traces,since,until,events_lost hosts
both minute,host,grp,id,spans,mean_ns,worst_ns span request
both grp,id,spans_a,spans_b diff one two
both hosts,traces,events_lost,spans_unsure,spans_open basis
"$ktr" fleet diff one two --host one --sql >out 2>err && fail "diff --host: $(cat out)"
grep -q 'diff is about those that it names' err || fail "diff --host: $(cat err)"
is "a window before all" "$(rows class top --to 2001-01-01)" ""
"$ktr" fleet span "it's" --sql --database other >out
grep -q "'it\\\\x27s' AS name," out && grep -q 'FROM other.span_minute' out || fail "--sql: $(cat out)"
exit $failed
