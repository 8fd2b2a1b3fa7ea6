#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr sql: every table against what other commands say of the same trace, conditions that are looked up
# against the same ones that are not, the forms of output, what goes wrong, and damaged traces.
. "$(dirname "$0")/../lib.inc"

# The rows of a query, without the line of names.
rows() {
	timeout 300 "$ktr" sql --csv "$@" 2>>"$dir/errors" </dev/null | tr -d '\r' | tail -n +2
}

cat >"$dir/program.c" <<'END'
#include <ktr.h>
#include <math.h>
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		KTR_START0(KTR_VFS, "file", i % 2 ? "odd" : "even", i);
		CTR2(KTR_NET, "got %d of %s", i, "a,\"name\"\033[31m\xff");
		KTR_COUNTER0(KTR_GEN, "queue", "depth", i);
		KTR_STATE0(KTR_SCHED, "row", "r", i % 4 ? "on" : "off");
		KTR_STOP0(KTR_VFS, "file", i % 2 ? "odd" : "even", i);
	}
	KTR_START0(KTR_VFS, "file", "open", 1);
	CTR4(KTR_PROC, "%lu %p %s %f", ~0ul, (void *)0x1f, (char *)0, NAN);
	return 0;
}
END
$cc -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/program.c" -o "$dir/program" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$dir" || exit 1
"$ktr" sql --help >out || fail "no help"
"$ktr" run -s mine -e 16384 -m net,vfs,gen,sched,proc -- ./program >run.log 2>&1 || exit 1
"$ktr" sql 'SELECT 1' >out 2>err
if grep -q 'without SQLite' err; then
	skip "built without SQLite"
	exit $failed
fi

# Every row is an event of ktr json, in its order.
"$ktr" json --events | python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    print(e["ts_ns"], e["cpu"], e["tid"], e["class"], e["line"], e["kind"], e["index"], sep="|")
    print(json.dumps(e["msg"]), json.dumps(e["args"]))' >want
"$ktr" sql --json 'SELECT ts_ns, cpu, tid, class, line, kind, idx, msg, args FROM events' | python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    print(e["ts_ns"], e["cpu"], e["tid"], e["class"], e["line"], e["kind"], e["idx"], sep="|")
    print(json.dumps(e["msg"]), json.dumps(json.loads(e["args"])))' >got
cmp -s want got || fail "events are not those of ktr json: $(diff want got | head -n 4)"
is "newest first" "$(rows 'SELECT ts_ns FROM events ORDER BY time DESC' | md5sum)" \
	"$(rows 'SELECT ts_ns FROM events ORDER BY +time DESC' | md5sum)"

# Rows that OFFSET passes over are counted, not read, and what comes after them is what it was.
n=$(wc -l <want)
n=$((n / 2))
for skip in 4090 4095 4096 4097 4500 $((n - 1)); do
	is "OFFSET $skip" "$(rows "SELECT ts_ns, class, idx FROM events LIMIT 3 OFFSET $skip" | md5sum)" \
		"$(rows "SELECT ts_ns, class, idx FROM events" | tail -n "+$((skip + 1))" | head -n 3 | md5sum)"
done
is "OFFSET beyond the end" "$(rows "SELECT ts_ns FROM events LIMIT 3 OFFSET $n")" ""
is "a count" "$(rows 'SELECT count(*) FROM events')" "$n"
is "a count with a window" "$(rows "SELECT count(*) FROM events WHERE time >= 0 AND filter = 'class == net or class == gen'")" 2000
is "a count joined" "$(rows 'SELECT count(*) FROM (SELECT 1 UNION ALL SELECT 2), events')" "$((2 * n))"

# Rows that are handed over grouped are those that SQLite groups by itself: it cannot ask for +class so. The last ones
# are more than there is memory for. Threads that share the walk give the same rows.
while read -r by rest; do
	[ -n "$by" ] || continue
	query="SELECT $(echo "$by" | sed 's/+//g'), count(*), $rest FROM events"
	plain="$query GROUP BY $(echo "$by" | sed 's/+//g')"
	want=$(rows "$query GROUP BY $by" | md5sum)
	is "GROUP BY $by" "$(rows "$plain" | md5sum)" "$want"
	is "GROUP BY $by, by three threads" "$(rows -j 3 "$plain" | md5sum)" "$want"
done <<END
+class sum(arg0), avg(arg0)
+site sum(arg0), total(idx), max(msg)
+thread min(time), max(ts_ns), max(utc_ns)
+cpu,+class max(args), group_concat(idx), total(rowid)
+class,+cpu group_concat(arg1), total(arg2)
+kind,+keep,+approx total(rowid), min(rowid)
+file,+line,+func max(format)
+pid,+tid,+process group_concat(line)
+site_id group_concat(time)
+keep group_concat(args), group_concat(msg), group_concat(time)
END
rows 'EXPLAIN SELECT class, sum(arg0) FROM events GROUP BY class' | grep -q Sorter && fail "events are sorted to be grouped"
is "grouped and filtered" "$(rows "SELECT class, count(*) FROM events WHERE time >= 0 AND filter = 'arg0 < 10' GROUP BY class" | md5sum)" \
	"$(rows "SELECT class, count(*) FROM events WHERE time >= 0 AND filter = 'arg0 < 10' GROUP BY +class" | md5sum)"
for window in "filter = 'arg0 < 10' AND time >= 0" 'time BETWEEN 100000 AND 300000' 'time < 5' 'time > 1e15'; do
	is "grouped, with a window" "$(rows -j 3 "SELECT class, count(*), group_concat(time) FROM events WHERE $window GROUP BY class" | md5sum)" \
		"$(rows "SELECT class, count(*), group_concat(time) FROM events WHERE $window GROUP BY +class" | md5sum)"
done
is "no groups" "$(rows "SELECT class, count(*) FROM events WHERE time < 0 GROUP BY class")" ""
is "counters grouped" "$(rows 'SELECT grp, id, count(*), sum(value) FROM counters GROUP BY grp')" "queue,depth,1000,499500"

# Conditions the reader is asked about leave the rows that SQLite leaves by itself: it cannot ask for them
# through a LIMIT.
tid=$(rows "SELECT tid FROM events WHERE class = 'net' LIMIT 1")
middle=$(rows "SELECT time FROM events WHERE class = 'net' AND arg0 = 500")
at=$(rows "SELECT ts_ns FROM events WHERE class = 'net' AND arg0 = 700")
utc=$(rows "SELECT utc_ns FROM events WHERE ts_ns = $at LIMIT 1")
while read -r left op right; do
	[ -n "$left" ] || continue
	condition="$left $op $right"
	echo "SELECT '$(echo "$condition" | sed "s/'/''/g")',
		(SELECT count(*) || ' ' || total(idx) FROM events WHERE $condition),
		(SELECT count(*) || ' ' || total(idx) FROM (SELECT * FROM events LIMIT 100000) WHERE $condition);"
done >conditions <<END
time < $middle
time <= $middle
time > $middle
time >= $middle
time = $middle
time < $middle.5
time > $middle.5
time >= -1e30
time <= 1e30
time < '$middle'
time > 'x'
time < 'x'
time > NULL
ts_ns >= $at
utc_ns < $utc
cpu = 0
cpu = -1
cpu = 'x'
tid = $tid
tid = '$tid'
tid IN ($tid, 1)
pid = $tid
thread = 'program'
thread = '"'
process = 'program'
class = 'net'
class = 'nothing'
class = 'NET'
kind = 'start'
site = 'program.c:7'
site_id = 1
site_id = 1.5
line = 7
line = '7'
func = 'main'
file = 'program.c'
format = 'got %d of %s'
END
"$ktr" sql --csv <conditions >out || fail "conditions"
is "conditions" "$(grep -c ' .* [0-9.]*,' out)" 37
tr -d '\r' <out | awk -F, '/^.* .* [0-9.]*,/ && $(NF-1) != $NF { print "different rows: " $0; exit 1 }' || failed=1

# OR of such conditions, and the joins that look for what found no partner, read a table in several walks.
while read -r table condition; do
	is "$table, $condition" "$(rows "SELECT count(*), total(time) FROM $table WHERE $condition")" \
		"$(rows "SELECT count(*), total(time) FROM (SELECT * FROM $table LIMIT 100000) WHERE $condition")"
done <<END
events time = $middle OR ts_ns = $at
events time < $middle OR class = 'net'
events class = 'net' OR kind = 'stop'
counters time < $middle OR ts_ns > $at
spans pid = $tid OR grp = 'row'
END
is "a right join" "$(rows "SELECT count(*), count(one), total(idx) FROM (SELECT 1 AS one) RIGHT JOIN events
	ON kind = 'stop'")" "$(rows "SELECT count(*), sum(kind = 'stop'), total(idx) FROM events")"
for table in events counters spans; do
	is "rows of $table have numbers of their own" "$(rows "SELECT count(DISTINCT rowid) FROM $table")" \
		"$(rows "SELECT count(*) FROM $table")"
done

is "a window and a site" "$(rows "SELECT count(*) FROM events WHERE time > $middle AND class = 'net'")" 499
is "an expression" "$(rows "SELECT count(*) FROM events('arg0 % 2 == 0 and class == net')")" 500
is "an expression and a condition" \
	"$(rows "SELECT count(*) FROM events WHERE filter = 'class == net or class == vfs' AND kind = 'stop'")" 1000
is "sites" "$(rows "SELECT count(*) FROM sites WHERE name LIKE 'program.c:%' AND kind != 'event'")" 5
is "a join" "$(rows "SELECT count(*) FROM sites s JOIN events e ON e.site_id = s.id WHERE s.class = 'net'")" 1000

# Typed arguments.
is "arguments" "$(rows "SELECT typeof(arg0), arg0, arg1, typeof(arg2), typeof(arg3) FROM events
	WHERE format = '%lu %p %s %f'")" 'text,18446744073709551615,31,null,null'
is "an argument by name" "$(rows "SELECT sum(args ->> 'i') FROM events WHERE class = 'net'")" 499500

# Spans, counters, threads, the trace itself.
is "spans" "$(rows "SELECT id, count(*), count(dur), sum(until IS NULL) FROM spans WHERE kind = 'span' GROUP BY id")" \
	"$(printf 'even,500,500,0\nodd,500,500,0\nopen,1,0,1')"
is "states" "$(rows "SELECT state, count(*), count(dur) FROM spans WHERE kind = 'state' GROUP BY 1")" \
	"$(printf 'off,250,250\non,750,749')"
is "median" "$(rows "SELECT quantile(dur, 0.5) FROM spans WHERE id = 'odd'")" \
	"$("$ktr" report --json | python3 -c '
import json, sys
print([s["p50_ns"] for s in json.load(sys.stdin)["spans"] if s["id"] == "odd"][0])')"
is "pairs" "$(rows "SELECT count(dur) FROM spans('got..stop:arg0')")" 0
is "pairs of a thread" "$(rows "SELECT kind, count(dur) FROM spans('got %d..state')")" pair,1000
is "counters" "$(rows 'SELECT grp, id, min(value), max(value), avg(value) FROM counters')" queue,depth,0,999,499.5
is "losses" "$(rows 'SELECT count(*) FROM losses')" 0
is "the trace" "$(rows 'SELECT kind, cmdline FROM trace')" 'trace,./program'
is "a thread" "$(rows "SELECT name FROM threads WHERE tid = $tid")" program
is "quantiles of none" "$(rows 'SELECT quantile(dur, 0.5) IS NULL FROM spans WHERE 0')" 1

# A live session: each query sees what there is by then, also of call sites that were not there before; and
# when the program has ended, what there was.
cat >live.c <<'END'
#include <ktr.h>
#include <stdio.h>
int main(void)
{
	CTR0(KTR_NET, "first");
	while (getchar() == 'x')
		CTR0(KTR_VFS, "later");
	return 0;
}
END
$cc -std=gnu11 -Iinclude -I"$top/include" live.c -o live "$O/lib/libktr.a" -lpthread || exit 1
mkfifo go ask
KTR_MASK=net,vfs KTR_SESSION=live ./live <go &
exec 3>go
await '[ "$("$ktr" dump --count -s live 2>/dev/null)" = 1 ]'
timeout 300 "$ktr" sql --csv -s live <ask >out 2>err 3>&- &
shell=$!
exec 4>ask
asked=0
ask() {
	echo "SELECT count(*) FROM events WHERE class = 'vfs';" >&4
	asked=$((asked + 1))
	await '[ "$(grep -c "^[0-9]" out)" -ge $asked ] || ! kill -0 $shell 2>/dev/null'
}
ask
printf x >&3
await '[ "$("$ktr" dump --count -s live 2>/dev/null)" = 2 ]'
ask
printf q >&3
await '[ ! -e "$KTR_DIR/ktr-$(id -u)/live.ktr" ]'
ask
exec 3>&- 4>&-
wait
is "a live session" "$(grep -v count out | tr -d '\r' | tr '\n' ' ')$(cat err)" "0 1 1 "

# Forms.
status 0 "$ktr" sql "SELECT arg1 FROM events WHERE class = 'net' LIMIT 1"
is "control characters on the screen" "$(grep -c "$(printf '\033')" out)" 0
is "CSV" "$(rows "SELECT arg1 FROM events WHERE class = 'net' LIMIT 1" | python3 -c '
import csv, sys
print(ascii(next(csv.reader(sys.stdin))[0]))')" "'a,\"name\"\\\\x1b[31m\\ufffd'"
printf 'SELECT 1\n+ 1 AS n;\n.mode json\nSELECT 2 AS two;\n.tables\n.schema sites\n.quit\nSELECT 3;' |
	"$ktr" sql >out 2>err || fail "the shell failed: $(cat err)"
is "the shell" "$(tr -d '\r' <out | tr '\n' ' ')" \
	'n 2 {"two":2} events spans calls counters losses sites threads trace busiest_sites lock_waits slowest_spans span_times state_times who_ran sites: id,name,class,mask,file,line,func,format,kind,grp,module,args '

# Spans that are looked for once for each row of another table are kept: the answers are those of a table that they
# have been copied into, and the trace is not read as often.
joins='a.tid = b.tid AND b.time >= a.time AND b.until <= a.until
a.id = b.id AND b.time BETWEEN a.time AND a.until
a.grp = b.grp AND a.key = b.key AND b.time > a.time
b.time <= a.time AND b.until >= a.until AND b.thread = a.thread
b.until > a.time AND b.time < a.until AND b.pid = a.pid AND b.cpu = a.cpu
b.state = a.state AND b.end_tid = a.end_tid AND b.site = a.site
a.dur + 0.0 = b.dur AND b.time = a.time + 0.0'
printf '%s\n' "$joins" | while read -r on; do
	what='count(*), sum(a.dur), sum(b.dur), min(b.time), max(b.depth)'
	for spans in spans "spans('got %d..state')"; do
		[ "$spans" = spans ] || case $on in *state*) continue ;; esac
		"$ktr" sql "SELECT $what FROM $spans a JOIN $spans b ON $on" >kept 2>err
		"$ktr" sql "CREATE TABLE t AS SELECT * FROM $spans; SELECT $what FROM t a JOIN t b ON $on" >copied 2>>err
		[ -s kept ] && cmp -s kept copied || echo "$spans, $on: $(cat err kept copied)"
	done
	"$ktr" sql "EXPLAIN QUERY PLAN SELECT 1 FROM spans a JOIN spans b ON $on" | grep -q 'VIRTUAL TABLE INDEX 2:' ||
		echo "$on reads the trace for each row"
done >wrong
is "joins of spans" "$(cat wrong)" ""
"$ktr" sql 'SELECT count(*) > 0 FROM spans' | grep -q '^ *1' || fail "there are no spans to join"
for view in slowest_spans span_times state_times busiest_sites lock_waits who_ran; do
	status 0 "$ktr" sql "SELECT * FROM $view"
done

# What goes wrong.
"$ktr" sql 'SELECT count(*)
	FROM spans s WHERE s.grpp = 1' >out 2>err
is "a column that is none" "$(cat err)" "ktr sql: no such column: s.grpp; did you mean grp?
   FROM spans s WHERE s.grpp = 1
                      ^"
status 2 "$ktr" sql 'SELEC 1'
status 2 "$ktr" sql 'SELECT nothing FROM events'
status 2 "$ktr" sql --csv --json 'SELECT 1'
status 2 "$ktr" sql ktr.out 'SELECT 1' more
status 1 "$ktr" sql nowhere 'SELECT 1'
status 1 "$ktr" sql "SELECT * FROM events('n >')"
grep -q 'is missing here' err || fail "a mistake in an expression: $(cat err)"
status 2 "$ktr" sql "SELECT * FROM events WHERE filter LIKE 'x'"
status 1 "$ktr" sql "SELECT * FROM spans('nothing..got')"
grep -q "no call site is 'nothing'" err || fail "an unknown end of a pair: $(cat err)"
status 1 "$ktr" sql 'SELECT quantile(time, 2) FROM events'
{
	"$ktr" sql --csv 'SELECT * FROM events' 2>err
	echo $? >code
} | head -n 1 >out
is "a reader that has had enough" "$(cat code err)" 0
sh -c '"$1" sql "SELECT * FROM events" >/dev/full' - "$ktr" 2>err && fail "a full disk is no error"
[ ! -s errors ] || fail "complaints: $(cat errors)"

# Damage ends in a note or an error.
for stream in ktr.out/cpu_? ktr.out/ring_?; do
	[ -s "$stream" ] || continue
	truncate -s -100 "$stream"
	printf '\377\377\377\377' | dd of="$stream" bs=1 seek=5000 conv=notrunc 2>dd.log
done
status 1 "$ktr" sql 'SELECT count(*) FROM events; SELECT count(*) FROM spans; SELECT count(*) FROM losses'
[ -s err ] || fail "nothing was said of the damage"
query='SELECT class, count(*), sum(arg0) FROM events GROUP BY class'
"$ktr" sql -j 1 "$query" >want 2>err.want
"$ktr" sql -j 3 "$query" >got 2>err
is "grouped by three threads, of a damaged trace: exit status" $? 1
cmp want got && cmp err.want err || fail "grouped by three threads, of a damaged trace: $(cat got err)"
for file in ktr.out/metadata ktr.out/ktr/*; do
	for at in 10 200 900; do
		printf '\200\000"}' | dd of="$file" bs=1 seek=$at conv=notrunc 2>dd.log
		timeout 300 "$ktr" sql 'SELECT * FROM events; SELECT * FROM spans; SELECT * FROM sites' >out 2>err
		rc=$?
		[ $rc -le 2 ] || fail "$file, damaged at $at: exit status $rc"
	done
done
# The operands in the wrong order.
query='SELECT count(*) FROM events'
"$ktr" sql "$query" ktr.out >out 2>err
[ $? -eq 2 ] && grep -q "the trace comes first: ktr sql ktr.out 'SELECT" err || fail "operands in the wrong order: $(cat err)"
exit $failed
