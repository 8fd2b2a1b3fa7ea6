#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a process or thread was doing ends where it ended, however that was: exit, _exit, SIGKILL, a crash, the raw
# system call, exec. All readers agree on it.
. "$(dirname "$0")/../lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/show/ends.c "$O/lib/libktr.a" -lpthread -o "$dir/ends" || exit 1

unseen=
# looks NAME: a trace, or a session, in which children lived for some 25 ms each and the parent went on for 2 s
looks() {
	status 0 "$ktr" sql --json "$@" "select id, state, time, until, dur from spans where kind = 'state'"
	cp "$dir/out" "$dir/spans"
	status 0 "$ktr" report --json "$@"
	cp "$dir/out" "$dir/report"
	status 0 "$ktr" timeline --rows ids --width 400 "$@"
	cp "$dir/out" "$dir/timeline"
	python3 - "$dir" "$unseen" >"$dir/out" 2>&1 <<'END' || fail "$*: $(cat "$dir/out")"
import json, re, sys
folder = sys.argv[1] + '/'
spans = [json.loads(line) for line in open(folder + 'spans')]
wrong = []
ids = ['child _exit', 'child kill', 'child crash', 'child raw', 'child exit', 'child exec', 'child again', 'raw thread', 'kind thread']
ids = [i for i in ids if i != sys.argv[2]]
life = {}
for s in spans:
    if s['id'] not in ids:
        continue
    if s['until'] is None:
        wrong.append('sql: %s %s has no end' % (s['id'], s['state']))
    else:
        life[s['id']] = life.get(s['id'], 0) + s['dur']
for i in ids:
    # The machine may be slow; what is wrong is ten times as long.
    if not 0 <= life.get(i, -1) < 1e9:
        wrong.append('sql: %s lived for %s ns' % (i, life.get(i)))
report = json.load(open(folder + 'report'))
told = {}
for s in report['states']:
    told[s['id']] = told.get(s['id'], 0) + s['open_ns'] + s.get('total_ns', 0)
for i in ids:
    if abs(told.get(i, -1) - life.get(i, 0)) > 1000:
        wrong.append('report: %s lived for %s ns, sql: %s' % (i, told.get(i), life.get(i)))
for i in ids:
    row = next((line for line in open(folder + 'timeline') if line.startswith('  ' + i) and line.rstrip().endswith('%')), None)
    bar = re.sub(r' *\S+ (below )?[\d.]+ %$', '', row.rstrip())[2 + len(i):].strip() if row else None
    if bar is None or len(bar) > 100:
        wrong.append('timeline: %s is drawn over %s of some 360 columns' % (i, bar and len(bar)))
sys.exit('; '.join(wrong) if wrong else 0)
END
}

status 0 env KTR_FILE="$dir/t" KTR_MASK=all KTR_KEEP_SESSION=1 KTR_SESSION=ends "$dir/ends"
looks "$dir/t"
# A copy says the same, and so does what a session holds, of which nobody has looked at /proc.
status 0 "$ktr" cut -o "$dir/copy" "$dir/t"
looks "$dir/copy"
status 0 "$ktr" snapshot -s ends -o "$dir/snapshot"
# (A thread that ended by the raw system call ends with its process there: nobody has seen it go.)
unseen='raw thread'
looks "$dir/snapshot"
looks -s ends

# A program that was killed ended with its last event, whatever is asked of its spans, and be it the trace's last one.
cat >"$dir/killed.c" <<'C'
#include <ktr.h>
#include <signal.h>
#include <unistd.h>
int main(void)
{
	KTR_SCOPE(KTR_NET, "request");
	for (int i = 0; i < 20; i++) {
		CTR1(KTR_GEN, "step %d", i);
		usleep(i % 5 ? 0 : 60000);
	}
	raise(SIGKILL);
}
C
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude "$dir/killed.c" "$O/lib/libktr.a" -lpthread -o "$dir/killed" || exit 1
killed() {
	status 0 "$ktr" sql --csv "$1" "SELECT max(e.time) - min(s.time), max(s.dur), max(s.unsure) FROM events e, spans s"
	is "$1: a span of a program that was killed" "$(tail -n 1 "$dir/out" | tr -d '\r' | sed 's/^\([0-9]*\),\1,0$/agree/')" agree
	status 0 "$ktr" sql --csv "$1" "SELECT dur FROM spans"
	alone=$(tail -n 1 "$dir/out" | tr -d '\r')
	status 0 "$ktr" report --json "$1"
	is "$1: by ktr report" "$(python3 -c 'import json, sys; print([s["open_ns"] + s.get("total_ns", 0) for s in json.load(open(sys.argv[1]))["spans"]])' "$dir/out")" "[$alone]"
}
for session in 0 4; do
	KTR_DEAD_SESSIONS=$session KTR_FILE="$dir/killed$session" KTR_MASK=all "$dir/killed" 2>/dev/null
	killed "$dir/killed$session"
done

# Viewers get the same lengths.
status 0 "$ktr" export chrome -o "$dir/chrome" "$dir/t"
python3 - "$dir/chrome" >"$dir/out" 2>&1 <<'END' || fail "chrome: $(cat "$dir/out")"
import json, sys
events = json.load(open(sys.argv[1]))
events = events['traceEvents'] if isinstance(events, dict) else events
bars = [e for e in events if e.get('ph') == 'X' and e['name'] in ('saving', 'syncing', 'busy')]
long = [e for e in bars if e['dur'] > 1e6]
sys.exit('%d bars; too long: %s' % (len(bars), long) if len(bars) < 16 or long else 0)
END
status 0 "$ktr" timeline --rows ids -o "$dir/t.html" "$dir/t"
python3 - "$dir/t.html" >"$dir/out" 2>&1 <<'END' || fail "page: $(cat "$dir/out")"
import base64, json, re, sys, zlib
page = open(sys.argv[1], 'rb').read()
index = json.loads(zlib.decompress(base64.b64decode(re.search(rb'id="index">([^<]*)', page).group(1))))
names = ['kind', 'pid', 'group', 'ident', 'has', 'lanes', 'least', 'greatest', 'end']
rows = [dict(zip(names, row)) for row in index['rows']]
children = [row for row in rows if str(row['ident']).startswith('child') or str(row['ident']).endswith('thread')]
wrong = [(row['group'], row['ident']) for row in children if row['end'] is None]
sys.exit('%d rows; without an end: %s' % (len(children), wrong) if len(children) < 23 or wrong else 0)
END
exit $failed
