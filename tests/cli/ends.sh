#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a process or thread was doing ends where it ended, however that was: exit, _exit, SIGKILL, a crash, the raw
# system call, exec. All readers agree on it.
. "$(dirname "$0")/lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/cli/ends.c "$O/lib/libktr.a" -lpthread -o "$dir/ends" || exit 1

# looks NAME: a trace, or a session, in which children lived for some 25 ms each and the parent went on for 2 s
looks() {
	status 0 "$ktr" sql --json "$@" "select id, state, time, until, dur from spans where kind = 'state'"
	cp "$dir/out" "$dir/spans"
	status 0 "$ktr" report --json "$@"
	cp "$dir/out" "$dir/report"
	status 0 "$ktr" timeline --rows ids --width 400 "$@"
	cp "$dir/out" "$dir/timeline"
	python3 - "$dir" "$*" >"$dir/out" 2>&1 <<'END' || fail "$*: $(cat "$dir/out")"
import json, re, sys
folder = sys.argv[1] + '/'
spans = [json.loads(line) for line in open(folder + 'spans')]
wrong = []
ids = ['child _exit', 'child kill', 'child crash', 'child raw', 'child exit', 'child exec', 'child again', 'raw thread', 'kind thread']
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
    bar = re.sub(r' *\S+ [\d.]+ %$', '', row.rstrip())[2 + len(i):].strip() if row else None
    if bar is None or len(bar) > 100:
        wrong.append('timeline: %s is drawn over %s of some 360 columns' % (i, bar and len(bar)))
sys.exit('; '.join(wrong) if wrong else 0)
END
}

status 0 env KTR_FILE="$dir/t" KTR_MASK=all KTR_KEEP_SESSION=1 KTR_SESSION=ends "$dir/ends"
looks "$dir/t"
exit $failed
