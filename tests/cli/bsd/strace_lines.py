# SPDX-License-Identifier: BSD-2-Clause
"""
Lines of `ktr kdump --strace` beside strace's: every name, result and error, and of arguments all that are flags, paths,
numbers, modes and addresses of sockets in both. What ktr-kdump(1) says may differ: where strace shows a structure, an array,
a text that is no path, or what another argument says, there is a number or an address; which of the ways to restart.
"""
import re

BIRTH = re.compile(r'(?:fork|vfork|clone|clone3)\(.*\)\s*= (0x[0-9a-f]+|\d+)(?: <[0-9.]+>)?$')
NUMBER = re.compile(r'-?(0x[0-9a-f]+|\d+)$')
FLAGS = re.compile(r'[A-Z][A-Za-z0-9_]*(\|[A-Za-z0-9_]+)*$')
ZERO = {'AT_STATX_SYNC_AS_STAT'}  # a name of 0, which says nothing
DATA = {'read', 'write', 'pread64', 'pwrite64', 'readv', 'writev', 'preadv', 'pwritev', 'sendto', 'recvfrom', 'sendmsg',
        'recvmsg'}


def born(events):
    """Numbers of those that a thread has made."""
    found = [BIRTH.match(text) for kind, text in events if kind == 'call']
    return [int(m[1], 0) for m in found if m and int(m[1], 0) > 0]


def split(text):
    """Of a line: name, arguments as they are shown, result."""
    found = re.match(r'(\w+)\((.*)\)\s*= (.*)$', text, re.S)
    if not found:
        return text, [], ''
    name, inner, result = found.groups()
    args, depth, quoted, at, i = [], 0, False, 0, 0
    while i <= len(inner):
        c = inner[i] if i < len(inner) else ','
        if quoted and c == '\\':
            i += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted and c in '{[(':
            depth += 1
        elif not quoted and c in '}])':
            depth -= 1
        elif not quoted and c == ',' and depth == 0:
            args.append(re.sub(r' /\*.*\*/$', '', inner[at:i].strip()))
            at = i + 1
        i += 1
    return name, [a for a in args if a], re.sub(r' <[0-9.]+>$', '', result)


def number(text):
    return int(text, 8 if re.match(r'0[0-7]+$', text) else 0)


def address(mine, theirs):
    """Of a socket."""
    port = re.search(r'sin6?_port=htons\((\d+)\)', theirs)
    host = re.search(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"', theirs)
    path = re.search(r'sun_path=@?"([^"]*)"', theirs)
    return path and path[1] in mine or host and port and (host[1] or host[2]) in mine and port[1] in mine


# Calls some of whose flags and names are numbers.
UNNAMED = {'fcntl', 'ioctl', 'ioprio_get', 'ioprio_set', 'kcmp', 'membarrier', 'semget', 'shmget', 'msgget', 'keyctl', 'bpf',
           'perf_event_open', 'seccomp', 'swapon', 'prctl', 'socket', 'mknod', 'mknodat'}


def alike(mine, theirs, names, may_be_number=True):
    if NUMBER.match(mine) or mine == 'NULL':
        mine, theirs = mine.replace('NULL', '0'), theirs.replace('NULL', '0')
        if not NUMBER.match(theirs):
            return may_be_number or mine == '0' and theirs in ZERO if FLAGS.match(theirs) else mine != '0' or theirs in ('[]', '""')
        a, b = number(mine), number(theirs)
        return a == b or (a - b) % (1 << 32) == 0 or names[0].get(a, 'of mine') == names[1].get(b, 'of theirs')
    if mine.startswith('"') and theirs.startswith('"'):
        return unquoted(mine) == unquoted(theirs)
    mine = mine.replace('SIGRTMIN+', 'SIGRT_')
    if FLAGS.match(mine) and FLAGS.match(theirs):
        return set(mine.split('|')) - ZERO == set(theirs.split('|')) - ZERO
    if mine.startswith('{st_mode'):
        return mine.split(',')[0] == theirs.split(',')[0]
    if mine.startswith('{') and theirs.startswith('{sa_family'):
        return address(mine, theirs)
    return mine == theirs


RANDOM = re.compile(r'/(t|tmp_obj_)[A-Za-z0-9]{6}"')


def unquoted(text):
    return RANDOM.sub('/"', text).encode('utf-8', 'surrogateescape').decode('unicode_escape')


def calls(events):
    """Without those that are up to the day, as in strace.py."""
    out = [split(text) for kind, text in events if kind == 'call']
    return [c for c in out if c[0] not in ('futex', 'getrandom') and not (c[0] == 'wait4' and c[2].startswith('?'))]


def result(text):
    return re.match(r'(\S*)(?: ([A-Z]+))?', re.sub(r'ERESTART\w+', 'ERESTART', text))


def arguments(name, args):
    """strace has clone's in another order, with names, and leaves out those that are not looked at."""
    if name == 'clone':
        flags = [a for a in args if 'CLONE_' in a or 'SIGCHLD' in a]
        return [a.replace('flags=', '') for a in flags]
    return [] if name == 'rt_sigreturn' else args


def same(name, mine, theirs, names):
    """Arguments. A port that the kernel chooses is another at every run."""
    for i, (a, b) in enumerate(zip(mine, theirs)):
        if i == 1 and name in ('getsockname', 'getpeername', 'accept', 'accept4') and b.startswith('{sa_family'):
            if a.startswith('{'):
                a, b = re.sub(r':\d+}$', ':0}', a), re.sub(r'htons\(\d+\)', 'htons(0)', b)
        if not alike(a, b, names, name in UNNAMED) and not (name in DATA and i == 1):
            return False
    return len(mine) >= len(theirs)


def compare(label, mine, theirs, names, say):
    """Lines of one thread; how many there are."""
    a, b = calls(mine), calls(theirs)
    if len(a) != len(b):
        say('%s: kdump --strace has %d lines, strace %d' % (label, len(a), len(b)))
    for i, ((name, args, end), (other, other_args, other_end)) in enumerate(zip(a, b)):
        x, y = result(end), result(other_end)
        ends = name in ('rt_sigreturn', 'getppid') or x[2] == y[2] and \
            (x[1] == y[1] or x[1] and y[1] and NUMBER.match(x[1]) and alike(x[1], y[1], names))
        good = name == other and ends and same(name, arguments(name, args), arguments(name, other_args), names)
        if not good and not (i == 0 and label == 'thread 0'):
            say('%s: line %d of kdump --strace is %s%s = %s, of strace %s%s = %s' %
                (label, i, name, args, end, other, other_args, other_end))
    return len(a)
