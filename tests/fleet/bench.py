# SPDX-License-Identifier: BSD-2-Clause
# The fifteen questions of bench.sh: asks, times, and compares with ktr sql. Bounds: a second each, quantiles 1 %.
#
#	python3 bench.py URL KTR HOST...		in the folder that has a trace of each host's name
import collections, csv, io, subprocess, sys, time, urllib.request

url, ktr, hosts = sys.argv[1], sys.argv[2], sys.argv[3:]
failed = False


def ask(sql):
    with urllib.request.urlopen(urllib.request.Request(url + '/', data=(sql + ' FORMAT TabSeparated').encode())) as r:
        return [line.split('\t') for line in r.read().decode().splitlines()]


def local(sql, host):
    out = subprocess.run([ktr, 'sql', '--csv', host, sql], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    return list(csv.reader(io.StringIO(out.stdout)))[1:]


def everywhere(sql, of=None):
    """Rows of each host's trace, the host in front; UTC is what is added to its times."""
    sql = sql.replace('UTC', '(SELECT first_ns + utc_offset_ns FROM trace)')
    return [[host] + row for host in (of or hosts) for row in local(sql, host)]


def number(x):
    """A number as one, whole where it is; else the text."""
    if x.lstrip('-').isdigit():
        return int(x)
    try:
        return float(x)
    except ValueError:
        return x


def same(name, got, want, loose=()):
    """The same rows, in any order; columns of `loose` are quantiles."""
    global failed
    exact = lambda rows: sorted((tuple(number(x) for i, x in enumerate(r) if i not in loose), r) for r in rows)
    a, b = exact(got), exact(want)
    if not a or [x[0] for x in a] != [x[0] for x in b]:
        bad = [(x, y) for x, y in zip([x[0] for x in a], [x[0] for x in b]) if x != y][:2]
        print('FAILED: %s: %d rows, %d of ktr sql; %s' % (name, len(a), len(b), bad))
        failed = True
        return
    for (_, x), (_, y) in zip(a, b):
        for i in loose:
            # A step of the clock, of some machines 10 ns, is no error of the quantile.
            if abs(number(x[i]) - number(y[i])) > max(0.01 * number(y[i]), 10):
                print('FAILED: %s: quantile %s, by ktr sql %s, of %s' % (name, x[i], y[i], x))
                failed = True


def merged(rows, n_keys, ops):
    """Rows of one key made one: ops are sum, min, max for the columns after it."""
    all = collections.OrderedDict()
    for r in rows:
        key, rest = tuple(r[:n_keys]), [number(x) for x in r[n_keys:]]
        have = all.get(key)
        all[key] = rest if have is None else [op((a, b)) for op, a, b in zip(ops, have, rest)]
    return [list(k) + [str(x) for x in v] for k, v in all.items()]


SURE = "kind = 'span' AND unsure = 0 AND open = 0"
LOCAL = "kind = 'span' AND NOT unsure AND dur NOT NULL"
MINUTE = 'intDiv(ts, 60000000000)'
slowest = ask("SELECT host, ts, dur, pid, tid FROM ktr.spans WHERE id = 'request' AND %s ORDER BY dur DESC, ts LIMIT 5" % SURE)
host, ts, dur = slowest[0][0], int(slowest[0][1]), int(slowest[0][2])
second = ts // 10**9
first = hosts[0]
SLOWEST = ("SELECT host, slowest.1 AS tid, slowest.2 AS since, slowest.3 AS until FROM (SELECT host, "
           "argMax((tid, ts, ts + toInt64(dur)), (dur, -ts)) AS slowest FROM ktr.spans WHERE id = 'request' AND %s GROUP BY host)" % SURE)

questions = [
    ('p99 of spans by host and minute, from rows',
     "SELECT host, %s AS m, id, count(), sum(dur), min(dur), max(dur), quantileTDigest(0.99)(dur) FROM ktr.spans WHERE %s "
       "GROUP BY host, m, id" % (MINUTE, SURE),
     lambda: everywhere("SELECT (time + UTC) / 60000000000, id, count(*), sum(dur), min(dur), max(dur), quantile(dur, 0.99) "
       "FROM spans WHERE %s GROUP BY 1, 2" % LOCAL), (7,)),
    ('the same from the view by the minute',
     "SELECT host, intDiv(toUInt32(minute), 60), id, countMerge(n), sumMerge(total), maxMerge(worst), "
       "quantilesTDigestMerge(0.5, 0.9, 0.99, 0.999)(q)[3] "
     "FROM ktr.span_minute WHERE grp = 'scope' GROUP BY host, minute, id",
     lambda: everywhere("SELECT (time + UTC) / 60000000000, id, count(*), sum(dur), max(dur), quantile(dur, 0.99) FROM spans "
       "WHERE grp = 'scope' AND %s GROUP BY 1, 2" % LOCAL), (6,)),
    ('hosts that lost events, the worst gap',
     'SELECT host, sum(events), count(), max(events) FROM ktr.losses FINAL GROUP BY host',
     lambda: [r for r in everywhere('SELECT sum(events), count(*), max(events) FROM losses') if r[1]], ()),
    ('busiest call sites',
     # Numbers are grouped faster than names, which are looked up last.
     'SELECT class, site, kind, sum(n), min(first), max(last) FROM (SELECT trace, site_id, count() AS n, min(ts) AS first, '
     'max(ts) AS last FROM ktr.events GROUP BY trace, site_id) AS e ALL INNER JOIN '
     '(SELECT DISTINCT trace, site_id, class, site, kind FROM ktr.sites) AS s USING (trace, site_id) GROUP BY class, site, kind',
     lambda: merged([r[1:] for r in everywhere('SELECT class, site, kind, count(*), min(utc_ns), max(utc_ns) FROM events '
                                               'GROUP BY 1, 2, 3')], 3, (sum, min, max)), ()),
    ('call sites of one host in one second',
     "SELECT class, site, count() FROM ktr.events WHERE host = '%s' AND intDiv(ts, 1000000000) = %d GROUP BY class, site" % (host, second),
     lambda: [r[1:] for r in everywhere('SELECT class, site, count(*) FROM events WHERE utc_ns >= %d AND utc_ns < %d '
                                        'GROUP BY 1, 2' % (second * 10**9, (second + 1) * 10**9), [host])], ()),
    ('the five slowest requests',
     "SELECT host, dur FROM ktr.spans WHERE id = 'request' AND %s ORDER BY dur DESC, ts LIMIT 5" % SURE,
     lambda: sorted(everywhere("SELECT dur FROM spans WHERE id = 'request' AND %s ORDER BY dur DESC LIMIT 5" % LOCAL), key=lambda r: -int(r[1]))[:5], ()),
    ('events within the slowest of each host, by a join',
     # Joined by the number alone, and by time; the few rows that are left are looked at for their host.
     "SELECT host, count() FROM (SELECT host, tid, since FROM (SELECT host, tid, ts FROM ktr.events) AS e ALL INNER JOIN "
     "(SELECT tid, since, until FROM (%s)) AS s USING (tid) WHERE ts >= since AND ts <= until) "
     "WHERE (host, tid, since) IN (SELECT host, tid, since FROM (%s)) GROUP BY host" % (SLOWEST, SLOWEST),
     lambda: everywhere("SELECT count(*) FROM events AS e, (SELECT tid, time, until FROM spans WHERE id = 'request' AND %s "
       "ORDER BY dur DESC, time LIMIT 1) AS s "
                        "WHERE e.tid = s.tid AND e.time >= s.time AND e.time <= s.until" % LOCAL), ()),
    ('two builds: median, p99, mean',
     "SELECT build, id, count(), sum(dur), quantileTDigest(0.5)(dur) FROM ktr.spans WHERE host IN ('%s', '%s') AND %s GROUP "
       "BY build, id" % (hosts[0], hosts[2], SURE),
     lambda: [[{hosts[0]: '1', hosts[2]: '2'}[r[0]]] + r[1:] for r in everywhere(
         'SELECT id, count(*), sum(dur), quantile(dur, 0.5) FROM spans WHERE %s GROUP BY 1' % LOCAL, [hosts[0], hosts[2]])], (4,)),
    ('heat map of one host: second and power of two',
     "SELECT intDiv(ts, 1000000000) AS s, toUInt8(floor(log2(dur + 0.5))) AS p, count() FROM ktr.spans WHERE host = '%s' AND "
       "%s GROUP BY s, p" % (first, SURE),
     lambda: [r[1:] for r in everywhere('SELECT (time + UTC) / 1000000000, CAST(floor(log2(dur + 0.5)) AS INTEGER), count(*) '
                                        'FROM spans WHERE %s GROUP BY 1, 2' % LOCAL, [first])], ()),
    ('what share of slow requests is their query, by a join',
     "SELECT count(), sum(d), sum(q) FROM (SELECT host, pid, tid, dur AS q, ts AS at FROM ktr.spans WHERE host = '%s' AND id "
       "= 'query' AND %s) AS b ALL INNER JOIN "
     "(SELECT host, pid, tid, dur AS d, ts AS since, ts + toInt64(dur) AS until FROM ktr.spans WHERE host = '%s' AND id = "
       "'request' AND %s ORDER BY dur DESC, ts LIMIT 20) AS a "
     "USING (host, pid, tid) WHERE at >= since AND at <= until" % (first, SURE, first, SURE),
     lambda: [r[1:] for r in everywhere("SELECT count(*), sum(a.dur), sum(b.dur) FROM (SELECT * FROM spans WHERE id = "
       "'request' AND %s ORDER BY dur DESC, time LIMIT 20) AS a, "
                                        "spans AS b WHERE b.id = 'query' AND b.tid = a.tid AND b.time >= a.time AND b.time <= a.until AND NOT b.unsure AND b.dur NOT NULL" % LOCAL, [first])], ()),
    ('a millisecond around the slowest, all threads of its host',
     "SELECT tid, count(), sum(cpu) FROM ktr.events WHERE host = '%s' AND ts >= %d AND ts < %d AND intDiv(ts, 1000000000) IN "
       "(%d, %d) GROUP BY tid"
     % (host, ts - 500000, ts + 500000, (ts - 500000) // 10**9, (ts + 500000) // 10**9),
     lambda: [r[1:] for r in everywhere('SELECT tid, count(*), sum(cpu) FROM events WHERE utc_ns >= %d AND utc_ns < %d '
                                        'GROUP BY 1' % (ts - 500000, ts + 500000), [host])], ()),
    ('status 500 by host and second',
     "SELECT host, intDiv(ts, 1000000000) AS s, count() FROM ktr.events WHERE class = 'gen' AND i0 = 500 AND kind = 'event' "
       "GROUP BY host, s",
     lambda: everywhere("SELECT utc_ns / 1000000000, count(*) FROM events WHERE class = 'gen' AND kind = 'event' AND arg0 = "
       "500 GROUP BY 1"), ()),
    ('a counter by second: number, sum, least, greatest',
     "SELECT host, intDiv(ts, 1000000000) AS s, count(), sum(value), min(value), max(value) FROM ktr.counters WHERE grp = "
       "'queue' GROUP BY host, s",
     lambda: everywhere("SELECT (time + UTC) / 1000000000, count(*), sum(value), min(value), max(value) FROM counters WHERE "
       "grp = 'queue' GROUP BY 1"), ()),
    ('users with most requests, by an argument',
     "SELECT i0, count(), sum(f1), max(f1) FROM ktr.events WHERE class = 'net' AND kind = 'event' GROUP BY i0",
     lambda: merged([r[1:] for r in everywhere("SELECT arg0, count(*), sum(arg1), max(arg1) FROM events WHERE class = 'net' "
       "AND kind = 'event' GROUP BY 1")], 1, (sum, sum, max)), ()),
    ('a text in any argument',
     "SELECT host, count() FROM ktr.events WHERE s0 LIKE '%rder%' OR s1 LIKE '%rder%' OR s2 LIKE '%rder%' GROUP BY host",
     lambda: everywhere("SELECT count(*) FROM events WHERE arg0 LIKE '%rder%' OR arg1 LIKE '%rder%' OR arg2 LIKE '%rder%'"), ()),
]

n = int(ask('SELECT count() FROM ktr.events')[0][0])
print('%d events, %s spans, %s lost' % (
    n, ask('SELECT count() FROM ktr.spans')[0][0], ask('SELECT sum(events) FROM ktr.losses FINAL')[0][0]))
for name, sql, want, loose in questions:
    best = 1e9
    for _ in range(3):
        before = time.monotonic()
        got = ask(sql)
        best = min(best, time.monotonic() - before)
    print('%6.0f ms  %s' % (best * 1e3, name), flush=True)
    if best >= 1:
        print('FAILED: %s: a second and more' % name)
        failed = True
    same(name, got, want(), loose)
sys.exit(failed)
