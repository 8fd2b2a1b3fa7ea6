# SPDX-License-Identifier: BSD-2-Clause
"""
What `ktr ktrace -o` and ktr kdump's other forms say, beside what a ktrace.out holds.

    trace.py same KTR FILE TRACE NAME   the same calls, results and signals in each thread
    trace.py lives KTR DIR              names, files, peers, data of what tests/programs/bsd/lives.c does
    trace.py counts JSON COUNTS         a report beside strace -c
    trace.py order KTR TRACE N          a program's own points around each call
    trace.py json FILE                  lines of ktr kdump --json
"""
import collections
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace  # noqa: E402
from strace_names import NAMES, SIGNALS, errno_name  # noqa: E402

bad = []


def events(ktr, trace):
    """Of a trace: time, thread, class, name of the site, arguments by name."""
    out = subprocess.run([ktr, 'json', trace], capture_output=True, text=True, errors='surrogateescape')
    if out.returncode or out.stderr:
        bad.append('ktr json: %d, %s' % (out.returncode, out.stderr))
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    return [line for line in lines if line['type'] == 'event']


def site(event):
    return event['file']


def call_events(ktr, trace):
    """[tid, [(name, result or error)]], in the order in which threads appear; and signals."""
    threads, signals = collections.OrderedDict(), collections.defaultdict(list)
    for event in events(ktr, trace):
        name, args = site(event), event['args']
        if name == 'syscall::signal':
            signals[event['tid']].append(args['signal'])
        if not name.startswith('syscall::') or name.count(':') != 3:
            continue
        call, end = name.split(':')[2], name.split(':')[3]
        calls = threads.setdefault(event['tid'], [])
        if end == 'entry':
            calls.append([call, None])
        elif calls and calls[-1][0] == call:
            result = args.get('error', args['result'])
            calls[-1][1] = int(result, 16) if str(result).startswith('0x') else result
    return threads, signals


def file_events(path):
    threads, signals = collections.OrderedDict(), collections.defaultdict(list)
    for r in ktrace.read(path):
        if r.kind == ktrace.SYSCALL:
            threads.setdefault(r.tid, []).append([NAMES[ktrace.read_call(r.data)[0]], None])
        elif r.kind == ktrace.SYSRET:
            code, error, value = ktrace.read_ret(r.data)
            calls = threads.get(r.tid)
            if calls and calls[-1][0] == NAMES[code] and calls[-1][1] is None:
                calls[-1][1] = 'RESTART' if error == -1 else errno_name(error) if error > 0 else value
        elif r.kind == ktrace.PSIG:
            signals[r.tid].append(SIGNALS[ktrace.read_psig(r.data)[0]])
    return threads, signals


BIRTHS = {'fork', 'vfork', 'clone', 'clone3'}
NUMBERS = BIRTHS | {'wait4', 'getpid', 'gettid', 'getppid', 'set_tid_address', 'futex'}


def plain(calls):
    """Numbers of processes are those of one run; whether somebody has to wait is up to the day."""
    return [(name, None if name in NUMBERS or name == 'rt_sigreturn' else result) for name, result in calls if name != 'futex']


def same(ktr, path, trace, label):
    mine, my_signals = call_events(ktr, trace)
    theirs, their_signals = file_events(path)
    if len(mine) != len(theirs):
        bad.append('%s: %d threads in the trace, %d in the file' % (label, len(mine), len(theirs)))
    for (a, calls), (b, others) in zip(mine.items(), theirs.items()):
        for i, (one, other) in enumerate(zip(plain(calls), plain(others))):
            if one != other:
                bad.append('%s: thread %d, call %d is %s in the trace, %s in the file' % (label, a, i, one, other))
                break
        if len(plain(calls)) != len(plain(others)):
            bad.append('%s: thread %d has %d calls in the trace, %d in the file' % (label, a, len(plain(calls)), len(plain(others))))
        if my_signals[a] != their_signals[b]:
            bad.append('%s: thread %d has signals %s, the file %s' % (label, a, my_signals[a], their_signals[b]))


def run(ktr, folder, *command):
    trace = folder + '/l'
    subprocess.run(['rm', '-rf', trace], check=True)
    subprocess.run([ktr, 'ktrace', '-i', '-o', trace] + list(command), cwd=folder, stdout=subprocess.DEVNULL)
    for _ in range(6000):
        if '"kind":"end"' in open(trace + '/ktr/info.jsonl').read():
            break
        time.sleep(0.02)
    return events(ktr, trace)


def has(all_events, name, **args):
    if not any(site(e) == name and all(e['args'].get(k) == v for k, v in args.items()) for e in all_events):
        bad.append('no %s with %s; there are %s' % (name, args, [e['args'] for e in all_events if site(e) == name][:5]))


def lives(ktr, folder):
    got = run(ktr, folder, './lives', 'vectors')
    has(got, 'syscall::openat:entry', dfd='AT_FDCWD', filename='vectors', flags='O_RDWR|O_CREAT|O_TRUNC', mode='0644')
    has(got, 'syscall::openat:return', on='vectors')
    has(got, 'syscall::writev:return', result=14, on=folder + '/vectors')
    has(got, 'syscall::write:return', result=-14, error='EFAULT', on=folder + '/vectors')
    has(got, 'syscall::mmap:entry', prot='PROT_READ|PROT_WRITE', flags='MAP_PRIVATE|MAP_ANONYMOUS', fd=-1)
    has(got, 'syscall::mmap:return', off=0)
    has(got, 'syscall::data', what='wrote', on=folder + '/vectors', bytes=14, data='one two three\n')
    got = run(ktr, folder, './lives', 'sockets')
    has(got, 'syscall::connect:entry', uservaddr='127.0.0.1:1')
    has(got, 'syscall::connect:return', error='ECONNREFUSED', on='127.0.0.1:1')
    has(got, 'syscall::connect:entry', uservaddr='/nonexistent/socket')
    got = run(ktr, folder, './lives', 'signals', '1')
    has(got, 'syscall::signal', signal='SIGUSR1', code=-6)
    has(got, 'syscall::rt_sigaction:entry', sig='SIGUSR1')
    got = run(ktr, folder, './lives', 'killed')
    has(got, 'syscall::signal', signal='SIGKILL')
    got = run(ktr, folder, 'sh', '-c', 'exec true')
    has(got, 'syscall::program', program='true')
    has(got, 'syscall::exit_group:entry', error_code=0)


def counts(report, text):
    mine = {c['name']: (c['calls'] + c['unknown'], c['errors']) for c in json.load(open(report))['syscalls']['calls']}
    theirs = {}
    for line in open(text):
        words = line.split()
        if len(words) >= 2 and words[0] in NAMES.values():
            theirs[words[0]] = (int(words[1]), int(words[2]) if len(words) > 2 else 0)
    for name in set(mine) | set(theirs):
        # How long a program has to wait for what is the same is no reason for another call, but for these.
        if name not in ('futex', 'exit_group') and mine.get(name, (0, 0)) != theirs.get(name, (0, 0)):
            bad.append('%s: %s calls and errors, strace -c has %s' % (name, mine.get(name), theirs.get(name)))
    if len(theirs) < 10:
        bad.append('strace -c: only %s' % theirs)


def order(ktr, trace, n):
    threads = collections.defaultdict(list)
    for event in events(ktr, trace):
        name = site(event)
        if name in ('syscall::fcntl:entry', 'syscall::fcntl:return'):
            threads[event['tid']].append(name.split(':')[3])
        elif event['class'] == 'own' and event['msg'].split()[0] in ('before', 'after'):
            threads[event['tid']].append(event['msg'].split()[0])
    threads = {t: found for t, found in threads.items() if 'before' in found}
    if len(threads) != 2:
        bad.append('%d threads with points of their own: %s' % (len(threads), list(threads)))
    for tid, found in threads.items():
        if found != ['before', 'entry', 'return', 'after'] * int(n):
            first = next((i for i in range(len(found)) if found[i] != ['before', 'entry', 'return', 'after'][i % 4]), len(found))
            bad.append('thread %d: %d points and calls, out of order at %d: %s' % (tid, len(found), first, found[first - 2:first + 6]))


def json_lines(path):
    lines = [json.loads(line) for line in open(path)]
    calls = [line for line in lines if 'call' in line]
    if not any(c['call'] == 'write' and c['args']['fd'] == 1 and c['data'] == 'child\n' and c['result'] == 6 for c in calls):
        bad.append('no write of a child: %s' % [c for c in calls if c['call'] == 'write'])
    if sorted(line['exit'] for line in lines if 'exit' in line) != [0, 0, 1]:
        bad.append('ends: %s' % [line for line in lines if 'exit' in line])
    if not any(c['call'] == 'openat' and c['args']['flags'] == 'O_RDONLY|O_CLOEXEC' and c['args']['filename'].startswith('/')
               for c in calls):
        bad.append('no openat: %s' % [c for c in calls if c['call'] == 'openat'])


{'same': same, 'lives': lives, 'counts': counts, 'order': order, 'json': json_lines}[sys.argv[1]](*sys.argv[2:])
for line in bad[:20]:
    print('FAILED:', line)
sys.exit(1 if bad else 0)
