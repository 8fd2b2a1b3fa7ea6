# SPDX-License-Identifier: BSD-2-Clause
"""
Runs a program under strace, which prints registers, then paths, and under `ktr ktrace`, each time in an empty folder,
without address randomisation, in a namespace of processes whose numbers no run shares with another, at a time of day
that stands still. Every call of every thread, its arguments and its result, every path,
the data that was read and written, and every signal that ktrace records must be the same. Numbers of processes are compared
by who they are; data that is another in each run under strace, random numbers, by its length. Then the lines of
`ktr kdump --strace` are compared with strace's: names, results, and all arguments that both show as numbers, names, or text.

    strace.py KTR DIR NAME -- COMMAND...
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace  # noqa: E402
import strace_lines  # noqa: E402
from strace_names import NAMES, SIGNALS, errno_name  # noqa: E402

BIRTHS = {'fork', 'vfork', 'clone', 'clone3'}
RANDOM = re.compile(rb'/(t|tmp_obj_)[A-Za-z0-9]{6}$')  # git's temporary names
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?')


INSIDE = 'echo "$0" >/proc/sys/kernel/ns_last_pid; "$@"; exit $?'


def namespace():
    """Words that begin a command in a namespace of processes; none: they are refused."""
    for words in [['unshare', '-pf', '--kill-child', '--mount-proc'], ['unshare', '-Urpf', '--kill-child', '--mount-proc']]:
        done = subprocess.run(words + ['sh', '-c', INSIDE + ' 2>/dev/null', '30000', 'sh', '-c', 'echo $$'], capture_output=True)
        if done.stdout == b'30001\n':
            return words
    return []


NAMESPACE = namespace()
STILL = ['env', 'LD_PRELOAD=' + os.environ['STILL']]  # a program's clock: tests/programs/bsd/still.c


def run(first, argv, folder, env):
    """first: the number before that of the first process."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    argv = (NAMESPACE + ['sh', '-c', INSIDE, str(first)] if NAMESPACE else []) + ['setarch', '-R'] + argv
    done = subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout


# ---- what strace says: by thread, events in order ----

def strace_threads(path):
    """[pid, events], in order of appearance; what is unfinished is joined with its end."""
    threads, order, open_calls = {}, [], {}
    for line in open(path, errors='surrogateescape'):
        pid, text = line.rstrip('\n').split(None, 1)
        pid = int(pid)
        if pid not in threads:
            threads[pid] = []
            order.append(pid)
        superseded = re.match(r'\+\+\+ superseded by execve in pid (\d+)', text)
        if superseded:
            if pid in open_calls:
                threads[pid].append(('call', open_calls.pop(pid) + ') = ?'))
            open_calls[pid] = open_calls.pop(int(superseded[1]))
        elif text.startswith('+++'):
            killed = re.match(r'\+\+\+ killed by (\w+)', text)
            threads[pid].append(('end', killed[1] if killed else ''))
        elif text.startswith('---'):
            threads[pid].append(('signal', text.split()[1]))
        elif re.search(r'<(unfinished|pid changed to \d+) \.\.\.>$', text):
            open_calls[pid] = text[:text.rindex('<')].rstrip()
        elif text.startswith('<... '):
            threads[pid].append(('call', open_calls.pop(pid) + re.sub(r'^<\.\.\. \w+ resumed>', '', text)))
        else:
            threads[pid].append(('call', text))
    for pid, text in open_calls.items():
        threads[pid].append(('call', text + ') = ?'))
    return [(pid, threads[pid]) for pid in order]


def strace_call(text):
    """name, arguments, result: a number, an errno's name, or 'restart', None."""
    found = re.match(r'(\w+)\((.*?)\)?\s*= (\S+)(?: (\w+))?', text)
    assert found, text
    name, inner, value, error = found.groups()
    args = [int(a, 16) for a in re.findall(r'0x[0-9a-f]+|\b0\b', inner)] if inner else []
    if value == '?':
        return name, args, 'restart' if error and error.startswith('ERESTART') else None
    if value == '-1' and error:
        return name, args, 'restart' if error.startswith('ERESTART') else error
    return name, args, int(value, 0)


# ---- what ktrace says ----

def ktrace_threads(path, names):
    threads, order = {}, []
    for r in ktrace.read(path):
        if r.tid not in threads:
            threads[r.tid] = []
            order.append(r.tid)
        events = threads[r.tid]
        if r.kind == ktrace.SYSCALL:
            code, args = ktrace.read_call(r.data)
            events.append(['call', names.get(code, str(code)), list(args), None, [], None])
        elif r.kind == ktrace.SYSRET:
            code, error, value = ktrace.read_ret(r.data)
            last = next((e for e in reversed(events) if e[0] == 'call'), None)
            if names.get(code) == 'execve' and not (last and last[1] == 'execve' and last[3] is None):
                # By another thread, whose number is the process's from here on.
                other = next(e for e in threads.values() if e and e[-1][0] == 'call' and e[-1][1] == 'execve')
                last = other.pop()
                events.append(last)
            if last is None or last[3] is not None:
                assert names.get(code) in BIRTHS and value == 0, (r.tid, code)
                continue  # a child's first record: strace has none
            assert last[1] == names.get(code, str(code))
            last[3] = 'restart' if error == -1 else 'just' if error == -2 else value if not error else \
                errno_name(error)
        elif r.kind == ktrace.NAMEI:
            events[-1][4].append(r.data)
        elif r.kind == ktrace.GENIO:
            events[-1][5] = ktrace.read_genio(r.data)[2]
        elif r.kind == ktrace.PSIG:
            events.append(['signal', SIGNALS[ktrace.read_psig(r.data)[0]], ktrace.read_psig(r.data)[1]])
    return [(tid, threads[tid]) for tid in order]


# ---- the same? ----

def tree(threads, births):
    """Names threads by who made them, and as the how-manieth: '0', '0.1', ..."""
    named, pids = {}, {}
    for pid, _ in threads:
        if not named:
            named[pid] = '0'
            pids[pid] = '0'
    for pid, _ in threads:
        for i, child in enumerate(births.get(pid, [])):
            pids[child] = None
    pending = [threads[0][0]]
    while pending:
        pid = pending.pop(0)
        for i, child in enumerate(births.get(pid, [])):
            named[child] = '%s.%d' % (named[pid], i)
            pending.append(child)
    return named


def calls_of(events):
    """
    Without those that are up to the day: whether one thread has to wait for another, or is told of a child's end first,
    and how often random numbers are asked for, which glibc does again if it does not like them (mkstemp(3)).
    """
    return [e for e in events if e[0] == 'call' and e[1] not in ('futex', 'getrandom') and e[1:4:2] != ['wait4', 'restart']]


unlike = []  # data of one length that is not the same; another run of strace tells whether it ever is


def steady(theirs, texts):
    """Of data that was not the same: those that are, in another run under strace."""
    theirs = parsed(theirs, order_like(texts, theirs))
    names = tree(theirs, children(theirs))
    again = {'thread ' + str(names.get(pid)): [shown_data(e[1], e[4], e[3]) for e in calls_of(events)]
             for pid, events in theirs}
    return [text for label, i, text, data in unlike if i < len(again.get(label, [])) and again[label][i] == data]


def compare(label, mine, theirs, names_mine, names_theirs, say):
    """Calls of one thread."""
    a, b = calls_of(mine), calls_of(theirs)
    for i in range(max(len(a), len(b))):
        if i >= len(a) or i >= len(b):
            say('%s: %d calls, strace has %d; the first that lacks is %s' %
                (label, len(a), len(b), (a + b)[i] if i < len(a) else b[i]))
            return
        _, name, args, result, paths, data = a[i]
        _, other, other_args, other_result, other_paths, other_data = b[i]

        def same(value, other_value):
            return value == other_value or names_mine.get(value, 'of mine') == names_theirs.get(other_value, 'of theirs')
        if name != other:
            say('%s: call %d is %s, strace has %s' % (label, i, name, other))
            return
#The first is made by the tracers themselves, and who was there before is a number for each run.
        first = i == 0 and label == 'thread 0'
        if name == 'getppid' and label == 'thread 0':
            result = other_result
        if first:
            args = other_args
        n = min(len(args), len(other_args))
        if not all(map(same, args[:n], other_args[:n])) or len(other_args) > len(args):
            say('%s: call %d %s has %s, strace has %s' % (label, i, name, [hex(x) for x in args], [hex(x) for x in other_args]))
        if result == 'just':
            continue  # rt_sigreturn: strace prints the register that it leaves
        if not same(result, other_result):
            say('%s: call %d %s is %s, strace has %s' % (label, i, name, result, other_result))
        if paths is not None and other_paths is not None and [RANDOM.sub(b'/tXXXXXX', x) for x in paths] != \
                [RANDOM.sub(b'/tXXXXXX', x) for x in other_paths]:
            say('%s: call %d %s has paths %s, strace has %s' % (label, i, name, paths, other_paths))
        if name in DATA and named(data, names_mine) != named(other_data, names_theirs):
            text = '%s: call %d %s has data %r, strace has %r' % (label, i, name, data, other_data)
            if data is None or other_data is None or len(data) != len(other_data):
                say(text)
            else:
                unlike.append((label, i, text, other_data))


def named(data, table):
    """Numbers of processes in data are who they are."""
    return data and re.sub(rb'\d+', lambda m: str(table.get(int(m[0]), m[0])).encode(), data)


def unescape(text):
    return text.encode('utf-8', 'surrogateescape').decode('unicode_escape').encode('latin-1')


def main():
    ktr, folder, label = sys.argv[1:4]
    label = ' '.join(label.split())[:60]
    command = sys.argv[5:]
    names = NAMES
    env = dict(PATH=os.environ['PATH'], HOME='/nonexistent', LC_ALL='C', TZ='UTC', PYTHONHASHSEED='0', PERL_HASH_SEED='0',
               PERL_PERTURB_KEYS='0', PYTHONDONTWRITEBYTECODE='1', GIT_AUTHOR_DATE='@1 +0000',
               GIT_COMMITTER_DATE='@1 +0000', GIT_CONFIG_NOSYSTEM='1')
    raw, text, out = folder + '/raw', folder + '/text', folder + '/ktrace.out'
    work = folder + '/work'
    command = [shutil.which(word) for word in STILL[:1]] + STILL[1:] + [shutil.which(command[0])] + command[1:]
    codes = [run(20000, ['strace', '-f', '-q', '-e', 'raw=all', '-o', raw] + command, work, env),
             run(20000, ['strace', '-f', '-q', '-s', '4096', '-o', text] + command, work, env),
             run(25000, [ktr, 'ktrace', '-i', '-f', out] + command, work, env)]
    faults = []
    say = faults.append
    if len({repr(c) for c in codes}) != 1:
        say('ends and output differ: %r' % ([c if len(repr(c)) < 200 else c[0] for c in codes],))
    theirs, texts = strace_threads(raw), strace_threads(text)
    mine = ktrace_threads(out, names)
    report(label, mine, theirs, texts, say)
    if unlike:
        run(20000, ['strace', '-f', '-q', '-s', '4096', '-o', text] + command, work, env)
        for fault in steady(strace_threads(raw), strace_threads(text)):
            say(fault)
    n_lines = lines(ktr, out, folder + '/lines', texts, say)
    for fault in faults[:20]:
        print('FAILED: %s: %s' % (label, fault))
    n = sum(len(e) for _, e in mine)
    if os.environ.get('COUNT'):
        print('%s: %d threads, %d calls, paths and signals are those of strace, %d data by their length; %d lines of kdump --strace'
              % (label, len(mine), n, len(unlike), n_lines))
    sys.exit(1 if faults else 0)


def lines(ktr, out, shown, texts, say):
    """Those of kdump --strace beside strace's; how many there are."""
    text = subprocess.run([ktr, 'kdump', '--strace', '-m', '4096', '-f', out], capture_output=True, text=True, check=True,
                          errors='surrogateescape').stdout
    with open(shown, 'w', errors='surrogateescape') as file:
        file.write(re.sub(r'(?m)^(\d+) \d+\.\d{6} ', r'\1 ', text))
    mine = strace_threads(shown)
    texts = order_like(texts, mine)
    births = [{pid: strace_lines.born(events) for pid, events in threads} for threads in (mine, texts)]
    names_mine, names_theirs = tree(mine, births[0]), tree(texts, births[1])
    n = 0
    for (pid, events), (other_pid, other) in zip(mine, texts):
        n += strace_lines.compare('thread ' + str(names_mine.get(pid)), events, other, (names_mine, names_theirs), say)
    return n


def parsed(theirs, texts):
    """strace's two runs as one: registers of the first, paths of the second."""
    out = []
    for (pid, events), (_, shown) in zip(theirs, texts):
        joined, calls = [], [t for kind, t in shown if kind == 'call']
        for kind, what in events:
            if kind != 'call':
                joined.append([kind, what, None])
                continue
            name, args, result = strace_call(what)
            shown_call = calls.pop(0) if calls else ''
            joined.append(['call', name, args, result, shown_call, None])
        out.append((pid, joined))
    return out


def children(threads):
    return {pid: [e[3] for e in events if e[0] == 'call' and e[1] in BIRTHS and isinstance(e[3], int) and e[3] > 0]
            for pid, events in threads}


def report(label, mine, theirs, texts, say):
    theirs = parsed(theirs, order_like(texts, theirs))
    if len(mine) != len(theirs):
        say('%d threads, strace has %d' % (len(mine), len(theirs)))
        return
    names_mine, names_theirs = tree(mine, children(mine)), tree(theirs, children(theirs))
    by_name = {names_theirs.get(pid): events for pid, events in theirs}
    # Of the programs of the tests one that ignores a signal does so before the first comes, and for good.
    ignored = {m[1] for _, events in texts for kind, t in events
               for m in [re.match(r'rt_sigaction\((\w+), {sa_handler=SIG_IGN', t)] if kind == 'call' and m}
    for pid, events in mine:
        name = names_mine.get(pid)
        other = by_name.get(name)
        if other is None:
            say('thread %s: strace has none' % name)
            continue
        for e in other:
            if e[0] == 'call':
                e[5] = shown_data(e[1], e[4], e[3])
                e[4] = shown_paths(e[1], e[4])
        for e in events:
            if e[0] == 'call' and e[1] not in PATHS:
                e[4] = None
        compare('thread ' + str(name), events, other, names_mine, names_theirs, say)
        signals(name, events, other, ignored, say)


def order_like(texts, theirs):
    """The second run's threads in the order of the first, by who made them."""
    names_text, names_raw = [tree(threads, {pid: strace_lines.born(events) for pid, events in threads})
                             for threads in (texts, theirs)]
    by_name = {names_text.get(pid): (pid, events) for pid, events in texts}
    return [by_name.get(names_raw.get(pid), (pid, [])) for pid, _ in theirs]


# Calls whose strings in strace's lines are paths, and which of them ktrace records.
PATHS = {'open', 'openat', 'stat', 'lstat', 'newfstatat', 'access', 'faccessat2', 'faccessat', 'execve', 'unlink', 'unlinkat',
         'mkdir', 'rmdir', 'chdir', 'rename', 'renameat2', 'readlink', 'statfs', 'utimensat', 'chmod', 'fchmodat', 'link',
         'linkat', 'statx', 'fchownat'}


# Calls whose strings in strace's lines are what they have read or written.
DATA = {'read', 'write', 'pread64', 'pwrite64', 'readv', 'writev', 'preadv', 'pwritev', 'sendto', 'recvfrom'}
DATA_MAX = 4096  # of a call


def shown_data(name, text, result):
    """None: it has moved none, and has no record of any; the addresses of sockets are no data."""
    if name not in DATA or not isinstance(result, int):
        return None
    text = text.rsplit(' = ', 1)[0]
    if name in ('sendto', 'recvfrom'):
        text = text.split('{sa_family')[0]
    return b''.join(unescape(m[1]) for m in QUOTED.finditer(text))[:min(result, DATA_MAX)]


def shown_paths(name, text):
    if name not in PATHS:
        return None
    if name == 'execve':
        text = text.split(', [')[0]
    if name == 'readlink':
        text = text.split('", ')[0] + '"'
    return [unescape(m[1]) for m in QUOTED.finditer(text.split(') = ')[0])]


def signals(name, mine, theirs, ignored, say):
    """ktrace leaves out what is ignored; strace does not tell: those that do nothing by default may be missing."""
    a = [e[1] for e in mine if e[0] == 'signal']
    b = [e[1] for e in theirs if e[0] == 'signal'] + [e[1] for e in theirs if e[0] == 'end' and e[1] == 'SIGKILL']
    quiet = {'SIGCHLD', 'SIGCONT', 'SIGWINCH', 'SIGURG'}
    b = [s for s in b if s not in ignored]
    if [s for s in a if s not in quiet] != [s for s in b if s not in quiet] or (set(a) & quiet) - set(b):
        say('thread %s: signals %s, strace has %s' % (name, a, b))


main()
