# SPDX-License-Identifier: BSD-2-Clause
"""What ktr stacks printed of tests/programs/tool/stacks.c, beside its source and gdb.

	stacks.py SOURCE OUTPUT [GDB]

GDB: what gdb printed for `thread apply all bt`."""
import re
import sys


def fail(text):
    print('FAILED: ' + text)
    fail.n += 1


fail.n = 0


def threads(text):
    """{tid: (name, head, [(pc, symbol, object, place or None)])}"""
    found, now = {}, None
    for line in text.splitlines():
        head = re.match(r'(\d+) \((.*?)\): (.*)$', line)
        if head:
            now = found[int(head[1])] = (head[2], head[3], [])
        elif line.startswith('    0x'):
            part = line.strip().split('  ')
            now[2].append((int(part[0], 16), part[1], part[2], part[3] if len(part) > 3 else None))
        elif line and not line.startswith('    ...'):
            fail('a line of no kind: ' + line)
    return found


def gdb_threads(text):
    """{tid: [pc]}, of those frames that have one: others were inlined"""
    found, now = {}, None
    for line in text.splitlines():
        head = re.search(r'^Thread \d+ .*LWP (\d+)', line)
        frame = re.match(r'#\d+ +0x([0-9a-f]+) in ', line)
        if head:
            now = found[int(head[1])] = []
        elif frame and now is not None:
            now.append(int(frame[1], 16))
    return found


def compare(name, ours, gdbs):
    # gdb has no address for the innermost line of a statement and for a signal's frame, and adds calls that were jumps.
    both = [pc for pc in ours if pc in gdbs]
    if both != [pc for pc in gdbs if pc in ours] or len(ours) - len(both) > 2 or len(gdbs) - len(both) > 1 or len(both) < 5:
        fail('%s: %s, and gdb has %s' % (name, [hex(pc) for pc in ours], [hex(pc) for pc in gdbs]))


CALLS = {'futex': r'futex\(0x[0-9a-f]+ <wanted>, FUTEX_WAIT', 'read': r'read\(\d+ <pipe:\[\d+\]>, 0x[0-9a-f]+, 1\)',
         'sleep': r'(clock_)?nanosleep\(|restart_syscall', 'poll': r'poll\(0x[0-9a-f]+, 1, 600000\)|restart_syscall',
         'signal': r'rt_sigtimedwait\(', 'handler': r'pause\(\)'}


def check(source, found, gdb):
    line = {m[1]: n for n, text in enumerate(source.splitlines(), 1) for m in [re.search('line of ([a-z]+)', text)] if m}
    names = {name for name, _, _ in found.values()}
    for kind in line:
        if kind not in names:
            fail('no thread ' + kind)
    for tid, (name, head, frames) in found.items():
        if name not in line:
            continue
        symbols = [re.sub(r'\+0x[0-9a-f]+$', '', frame[1]) for frame in frames]
        own = 'wait_' + name
        chain = [own] + (['wait_raise'] if name == 'handler' else []) + ['middle', 'outer', 'run']
        if [s for s in symbols if s in chain] != chain:
            fail('%s: %s instead of %s' % (name, symbols, chain))
            continue
        place = frames[symbols.index(own)][3]
        near = {'run': (line[name] - 1, line[name])}.get(name, (line[name],))
        if not place or int(place.rsplit(':', 1)[1]) not in near:
            fail('%s: at %s instead of line %d' % (name, place, line[name]))
        if name == 'run':
            if not head.startswith('running') or ' in ' in head:
                fail('run: ' + head)
            continue
        if not re.match(r'sleeping in (%s)' % CALLS[name], head):
            fail('%s: %s' % (name, head))
        if gdb:
            compare(name, [frame[0] for frame in frames], gdb.get(tid, []))


with open(sys.argv[1]) as source, open(sys.argv[2]) as output:
    told = gdb_threads(open(sys.argv[3]).read()) if len(sys.argv) > 3 else None
    check(source.read(), threads(output.read()), told)
sys.exit(1 if fail.n else 0)
