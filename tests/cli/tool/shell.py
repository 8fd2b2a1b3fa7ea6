# SPDX-License-Identifier: BSD-2-Clause
"""The shell of ktr sql as somebody at a terminal has it. shell.py KTR TRACE FOLDER SLOW_KEYS"""
import os
import sys

from terminal import Terminal

ktr, trace, folder, slow = sys.argv[1:]
failed = 0
PROMPT = b'ktr> '
t = Terminal(ktr, 'sql', trace, cwd=folder, HOME=folder, PAGER='cat')


def step(what, keys, *wanted):
    """Types it; all that is wanted comes to show, one after the other."""
    global failed
    at = len(t.seen)
    t.send(keys)
    for text in wanted:
        if not t.shows(text, at):
            failed = 1
            print('FAILED: %s: %r does not show: %r' % (what, text, t.seen[at:]))
            return
        at = t.seen.index(text, at) + len(text)


step('a prompt', b'', PROMPT)
step('a box with durations', b'SELECT grp, dur FROM spans WHERE dur = 1500 OR dur > 0 LIMIT 1;\r',
     '┌'.encode(), b'dur', '├'.encode(), b's ', '└'.encode(), PROMPT)
step('a table completed', b'SELECT count(*) AS n FROM slow\t', b'est_spans ')
step('a column completed', b'WHERE thr\t', b'ead')
step('^C clears the line', b'\x03', b'^C', PROMPT)
step('what it was is gone', b'SELECT 41 + 1;\r', b' 42 ', PROMPT)
step('names to choose from', b'SELECT d\t\t', b'dur ', b'depth')
step('... and away', b'\x03', b'^C', PROMPT)
step('a dot command completed', b'.sch\t', b'ema ')
step('... and its table', b'lock_w\t\r', b'lock_waits: grp,key,n,total_dur', PROMPT)
step('a second line', b'SELECT 1\r', b'...> ')
step('^C clears both', b'\x03', b'^C', PROMPT)
step('a name that is none', b'SELECT durr FROM spans;\r', b'no such column: durr; did you mean dur?',
     b'  SELECT durr FROM spans', b'         ^', PROMPT)
step('^C ends a query', b'SELECT count(*) FROM spans a, spans b, spans c, spans d;\r', b' events, ')
step('... alone', b'\x03', b'interrupted', PROMPT)
step('up brings back', b'\x1b[A\x1b[A\x1b[A\x1b[A\r', b'SELECT 41 + 1;', b' 42 ', PROMPT)
step('the mode', b'.mode csv\r', PROMPT)
step('... it prints in', b'SELECT 7 AS n;\r', b'n\r\r\n7', PROMPT)
t.send(b'\x04')
if t.status() != 0:
    failed = 1
    print('FAILED: the shell does not end with 0')
if os.stat(folder + '/.ktr_sql_history').st_mode & 0o077:
    failed = 1
    print('FAILED: others read the history')
t = Terminal(ktr, 'sql', trace, cwd=folder, HOME=folder, PAGER='cat')
step('a second shell', b'', PROMPT)
step('... with the history of the first', b'\x1b[A', b'SELECT 7 AS n;')
step('... whose line is cleared', b'\x03', b'^C', PROMPT)
t.send(b'\x04')
if t.status() != 0:
    failed = 1
    print('FAILED: the second shell does not end with 0')

# ^C comes after the shell was told of a key, before it has read it: the key is gone then.
t = Terminal(ktr, 'sql', trace, cwd=folder, HOME=folder, PAGER='cat', LD_PRELOAD=slow)
step('a slow shell', b'', PROMPT)
step('... is told of a key', b'x', b'a key is there')
step('... that ^C throws away', b'\x03', b'^C', PROMPT)
t.send(b'\x04')
if t.status() != 0:
    failed = 1
    print('FAILED: the slow shell does not end with 0')

# ^D at the very prompt, typed before the shell can have done anything more: both are on one CPU, which goes to who has
# waited.
cpus = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(cpus)})
for _ in range(20):
    t = Terminal(ktr, 'sql', trace, cwd=folder, HOME=folder, PAGER='cat')
    t.shows(PROMPT)
    t.send(b'\x04')
    if t.status() != 0:
        failed = 1
        print('FAILED: ^D at the very prompt does not end the shell')
        break
os.sched_setaffinity(0, cpus)

# A machine without less, or without what PAGER names: the answer is shown all the same.
os.makedirs(folder + '/nothing', exist_ok=True)
for pager in {}, {'PAGER': 'no-such-pager -x'}, {'PAGER': '/nowhere/pager'}:
    t = Terminal(ktr, 'sql', trace, 'SELECT 6 * 7 AS answer', cwd=folder, HOME=folder, PATH=folder + '/nothing', **pager)
    status = t.status()
    if status != 0 or b'42' not in t.seen or b'not found' in t.seen:
        failed = 1
        print('FAILED: without a pager (%s): status %s, %r' % (pager, status, t.seen))

# A query of the command line: 130, and the database that it wrote into is as it was.
t = Terminal(ktr, 'sql', trace, "ATTACH 'o.db' AS o; CREATE TABLE o.t AS SELECT a.dur FROM spans a, spans b, spans c",
             cwd=folder, HOME=folder)
t.stop_when(lambda: b'/s' in t.seen)
t.send(b'\x03')
t.go_on()
status = t.status()
if status != 130:
    failed = 1
    print('FAILED: a query that ^C ends has the status', status)
if os.path.exists(folder + '/o.db-journal'):
    failed = 1
    print('FAILED: a journal is left')
sys.exit(failed)
