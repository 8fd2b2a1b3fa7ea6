# SPDX-License-Identifier: BSD-2-Clause
# The queries of a Grafana dashboard, one a line, as its ClickHouse source would send them for one hour, host and span.
#
#	python3 grafana.py DASHBOARD.json HOST SPAN FROM TO		[s] since 1970
import json, re, sys

board = json.load(open(sys.argv[1]))
host, span, since, until = sys.argv[2:6]
queries = [t['rawSql'] for p in board['panels'] for t in p['targets']]
queries += [v['query'] for v in board['templating']['list'] if v['type'] == 'query']
for sql in queries:
    sql = re.sub(r'\$__timeFilter\((\w+)\)', r'\1 >= toDateTime(%s) AND \1 <= toDateTime(%s)' % (since, until), sql)
    sql = sql.replace('$__fromTime', 'toDateTime(%s)' % since).replace('$__toTime', 'toDateTime(%s)' % until)
    sql = sql.replace('${host:singlequote}', "'%s'" % host).replace('${span:sqlstring}', "'%s'" % span)
    assert '$' not in sql, sql
    print(sql)
