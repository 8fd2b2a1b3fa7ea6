# SPDX-License-Identifier: BSD-2-Clause
"""What tests/programs/tool/task.c printed, beside /proc and gdb; and the buffers of samples, read as ktr_task(3) has them.

	task.py info PID OUTPUT [TID...]	TID: of threads that run, whose times go on
	task.py state OUTPUT GDB [TID...]	GDB: of `thread apply all info registers`; TID: not compared
	task.py buffers FILE SUMS [whole|early] [TID...]
		SUMS: what it told in the end; whole: nothing may be lost; early: it ended in the middle. TID: those that
		have been there from the first round to the last. Prints the threads that were seen.
	task.py two FILE SUMS			two samplings wrote there, of a thread and of all
	task.py faults FILE SUMS TOUCHED EVERY ONE	TOUCHED: thread, address, pages, function; ONE: 0, of all threads
	task.py frames FILE STACKS		STACKS: of ktr stacks; threads that sleep have the same frames in both"""
import collections
import os
import re
import struct
import sys


def fail(text):
    print('FAILED: ' + text)
    fail.n += 1


fail.n = 0


def status(pid, tid):
    with open('/proc/%d/task/%d/status' % (pid, tid), errors='replace') as file:
        return dict(line.rstrip('\n').split(':\t', 1) for line in file if ':\t' in line)


def info(pid, output, running):
    pid, running = int(pid), [int(tid) for tid in running]
    tick = 1000000000 // os.sysconf('SC_CLK_TCK')
    lines = [line.rstrip('\n').split(' ', 12) for line in open(output)]
    there = sorted(int(name) for name in os.listdir('/proc/%d/task' % pid))
    if [int(line[0]) for line in lines] != there:
        fail('threads %s instead of %s' % ([line[0] for line in lines], there))
    for line in lines:
        tid = int(line[0])
        stat = open('/proc/%d/task/%d/stat' % (pid, tid)).read().rsplit(')', 1)[1].split()
        told = status(pid, tid)
        call = open('/proc/%d/task/%d/syscall' % (pid, tid)).read().split()[0]
        exact = open('/proc/%d/task/%d/schedstat' % (pid, tid)).read().split()[0]
        want = {'state': stat[0], 'cpu': stat[36], 'nice': stat[16], 'priority': stat[15],
                'call': '-1' if call == 'running' else call, 'user': str(int(stat[11]) * tick),
                'system': str(int(stat[12]) * tick), 'exact': exact, 'start': str(int(stat[19]) * tick),
                'voluntary': told['voluntary_ctxt_switches'], 'involuntary': told['nonvoluntary_ctxt_switches'],
                'name': told['Name']}
        for name, got in zip(['state', 'cpu', 'nice', 'priority', 'call', 'user', 'system', 'exact', 'start', 'voluntary',
                              'involuntary', 'name'], line[1:]):
            if tid in running and name in ('user', 'system', 'exact', 'voluntary', 'involuntary'):
                good = 0 <= int(got) <= int(want[name])
            elif tid in running and name in ('cpu', 'state', 'call'):
                good = True
            else:
                good = got == want[name]
            if not good:
                fail('%d: %s %s, and /proc has %s' % (tid, name, got, want[name]))
        if tid in running and (int(line[6]) == 0 or int(line[8]) == 0 or int(line[8]) + 2 * tick < int(line[6])):
            fail('%d runs: %s' % (tid, line))


REGISTERS = ('r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base '
             'ds es fs gs').split()


def state(output, gdb, running):
    ours = {}
    for line in open(output):
        tid, *values = line.split()
        ours[int(tid)] = dict(zip(REGISTERS, [int(value) for value in values], strict=True))
    found, now = {}, None
    for line in open(gdb, errors='replace'):
        head = re.search(r'^Thread \d+ .*LWP (\d+)', line)
        row = re.match(r'([a-z0-9_]+) +0x([0-9a-f]+) ', line)
        if head:
            now = found[int(head[1])] = {}
        elif row and now is not None and row[1] in REGISTERS:
            now[row[1]] = int(row[2], 16)
    if sorted(found) != sorted(ours):
        fail('threads %s, and gdb has %s' % (sorted(ours), sorted(found)))
    for tid in sorted(set(ours) - {int(tid) for tid in running}):
        if len(found.get(tid, {})) < 20:
            fail('gdb has %s of %d' % (found.get(tid), tid))
        for name, value in found.get(tid, {}).items():
            if ours[tid][name] != value:
                fail('%d: %s 0x%x, and gdb has 0x%x' % (tid, name, ours[tid][name], value))


HEAD = struct.Struct('<IHHII9QiiIi')
STACK = struct.Struct('<IiQQIIHcBi')
Buffer = collections.namedtuple('Buffer', 'magic version header n_bytes n_samples number first lost rounds missed stops ns most '
                                          'period pid tid is_last code')
Stack = collections.namedtuple('Stack', 'n_bytes tid ns round stopped back n_frames state flags code frames')


def samples(data, at, head):
    """The samples of the buffer at a place."""
    end, place, own = at + head.n_bytes, at + head.header, {}
    while place < end:
        row = STACK.unpack_from(data, place)
        n = row[6]
        if row[0] % 8 or row[0] < STACK.size or place + row[0] > end:
            fail('a sample of %d bytes at %d' % (row[0], place))
            return
        if row[5]:
            if place - row[5] not in own:
                fail('a sample at %d refers to %d' % (place, place - row[5]))
                return
            frames = own[place - row[5]]
        else:
            frames = own[place] = struct.unpack_from('<%dQ' % n, data, place + STACK.size)
        if len(frames) != n:
            fail('%d frames instead of %d' % (len(frames), n))
        yield Stack(*row, frames)
        place += row[0]


def read(path):
    """[(head, [sample])], and whether the last one is whole"""
    data, at, found = open(path, 'rb').read(), 0, []
    while len(data) - at >= HEAD.size:
        head = Buffer(*HEAD.unpack_from(data, at))
        if head.magic != 0x5053544b or head.version != 1 or head.header != HEAD.size:
            fail('buffer %d: %s' % (len(found), head))
            break
        if at + head.n_bytes > len(data):
            return found, False
        found.append((head, list(samples(data, at, head))))
        at += head.n_bytes
    return found, at == len(data)


def sums(path):
    words = open(path).read().split()
    return {words[i]: int(words[i + 1]) for i in range(words.index('code'), len(words) - 1, 2)}


def two(path, told):
    """Two samplings wrote to one descriptor: each has its own numbers."""
    found, whole = read(path)
    told, all_got = sums(told), 0
    if not whole or told['samplings'] != 2 or len({head.tid for head, _ in found}) != 2:
        fail('%s, %s' % ({head.tid for head, _ in found}, told))
    for tid in {head.tid for head, _ in found}:
        got = 0
        own = [(head, rows) for head, rows in found if head.tid == tid]
        for n, (head, rows) in enumerate(own):
            if head.number != n or head.first != got + head.lost or head.n_samples != len(rows):
                fail('of %d: %s, %d came' % (tid, head, got))
            if tid and {row.tid for row in rows} - {tid}:
                fail('of %d there are others: %s' % (tid, {row.tid for row in rows}))
            got += len(rows)
        if not own[-1][0].is_last or not got:
            fail('of %d: %s' % (tid, own[-1][0]))
        all_got += got
    if all_got + told['lost'] != told['samples'] or told['lost']:
        fail('%d samples came: %s' % (all_got, told))


def buffers(path, told, how, always):
    found, whole = read(path)
    told, got, seen, rounds = sums(told), 0, {}, set()
    if not found:
        fail('no buffers')
        return
    for n, (head, rows) in enumerate(found):
        if head.number != n:
            fail('buffer %d has the number %d' % (n, head.number))
        if len(rows) != head.n_samples or head.n_bytes > 32768:
            fail('buffer %d: %d samples of %d' % (n, len(rows), head.n_samples))
        # What is missing of the running numbers is what was lost.
        if head.first != got + head.lost:
            fail('buffer %d begins with %d: %d samples came, %d were lost' % (n, head.first, got, head.lost))
        got += len(rows)
        for row in rows:
            rounds.add(row.round)
            seen.setdefault(row.tid, []).append(row)
            if row.code == 0 and row.n_frames == 0:
                fail('%d has no frames' % row.tid)
            if row.flags & 2 and (row.stopped or row.state != b'S'):
                fail('%d slept on, and stood: %s' % (row.tid, row))
    # It may have been ended within a round, which was not done then: that is the last.
    rounds.discard(told['rounds'] + told['missed'])
    last = found[-1][0]
    if how != 'early' and (not whole or not last.is_last or any(head.is_last for head, _ in found[:-1])):
        fail('the last one: %s' % (last,))
    if got + told['lost'] != told['samples'] or (how == 'whole' and told['lost']):
        fail('%d samples came, %s' % (got, told))
    if how == 'whole' and (len(rounds) != told['rounds'] or not 0 <= told['rounds'] + told['missed'] - max(rounds) - 1 <= told['missed']):
        fail('%d rounds to number %d: %s' % (len(rounds), max(rounds), told))
    for tid, rows in seen.items():
        if [row.round for row in rows] != sorted({row.round for row in rows}):
            fail('%d: rounds that do not ascend' % tid)
        if [row.ns for row in rows] != sorted(row.ns for row in rows):
            fail('%d: times that do not ascend' % tid)
    for tid in always:
        if how == 'whole' and {row.round for row in seen.get(int(tid), [])} & rounds != rounds:
            fail('%s was there in %d rounds of %d: not in %s of %s, %s' % (tid, len(seen.get(int(tid), [])), len(rounds),
                 sorted(rounds - {row.round for row in seen.get(int(tid), [])}), sorted(rounds), told))
    print(' '.join(str(tid) for tid in sorted(seen)))


def born(path, told, some):
    """Each is in every round that began when it was there, and was done before it ended."""
    rounds, of = {}, collections.defaultdict(list)
    for _, rows in read(path)[0]:
        for row in rows:
            first, last = rounds.get(row.round, (row.ns, row.ns))
            rounds[row.round] = min(first, row.ns), max(last, row.ns)
            of[row.tid].append(row)
    order = sorted(rounds)
    n_seen = n_rounds = n_born = 0
    for line in open(told):
        tid, begin, end = map(int, line.split())
        if end < rounds[order[0]][0] or begin > rounds[order[-1]][1]:
            continue
        n_born += 1
        there = {row.round for row in of[tid] if begin <= row.ns <= end}
        n_seen += bool(there)
        # A round looks for who is there behind the one before it, and is done before the next one's first look.
        want = {order[i] for i in range(1, len(order) - 1) if rounds[order[i - 1]][1] > begin and rounds[order[i + 1]][0] < end}
        n_rounds += len(want)
        if want - there:
            fail('%d lived from %d to %d: it is not in %s' % (tid, begin, end, sorted(want - there)))
    print('%d threads were born and ended meanwhile: %d were seen, in %d rounds at least' % (n_born, n_seen, n_rounds))
    if some and not (n_seen and n_rounds):
        fail('none of them was seen')


def frames(path, stacks):
    ours = {}
    for _, rows in read(path)[0]:
        for row in rows:
            ours[row.tid] = row
    now, found = None, {}
    for line in open(stacks, errors='replace'):
        head = re.match(r'(\d+) \(.*?\): sleeping', line)
        if re.match(r'\d', line):
            now = found.setdefault(int(head[1]), []) if head else None
        elif line.startswith('    0x') and now is not None:
            now.append(int(line.split()[0], 16))
    if len(found) < 5:
        fail('ktr stacks has %d threads that sleep' % len(found))
    for tid, pcs in found.items():
        row = ours.get(tid)
        # What a signal has interrupted is given as the byte behind it.
        if not row or len(row.frames) != len(pcs) or any(a != b and a != b + 1 for a, b in zip(row.frames, pcs)):
            fail('%d: %s, and ktr stacks has %s' % (tid, row and [hex(pc) for pc in row.frames], [hex(pc) for pc in pcs]))


def faults(path, told, touched, every, one):
    """Each page that was touched is a fault: at its address, of its thread, in the function that did it."""
    found, whole = read(path)
    told, every, got = sums(told), int(every), 0
    want, seen = {}, collections.defaultdict(list)
    for line in open(touched):
        words = line.split()
        if len(words) == 4:
            want[int(words[0])] = range(int(words[1]), int(words[1]) + 4096 * int(words[2]), 4096)
            function = int(words[3])
    if one != '0':
        want = {tid: pages for tid, pages in want.items() if tid == found[0][0].tid}
    for head, rows in found:
        if head.first != got + head.lost or head.period:
            fail('a buffer: %s, %d came' % (head, got))
        got += len(rows)
        for row in rows:
            if row.tid not in want and one != '0':
                fail('%d is another thread: %s' % (row.tid, row))
            if not row.flags & 4 or row.stopped or row.code:
                fail('a sample: %s' % (row,))
            if row.tid in want and row.round & -4096 in want[row.tid]:
                seen[row.tid].append((row.ns, row.round & -4096))
                if not function <= row.frames[0] < function + 256 or len(row.frames) < 4:
                    fail('%#x was touched by %s' % (row.round, [hex(pc) for pc in row.frames]))
    if not whole or got + told['lost'] != told['samples'] or not found[-1][0].is_last:
        fail('%d samples came: %s' % (got, told))
    if len(want) != (3 if one == '0' else 1):
        fail('%d threads' % len(want))
    n = 0
    for tid, pages in want.items():
        # CPUs tell one after the other. A fault that two threads are in the way of is taken again, and told of twice.
        came = [page for ns, page in sorted(seen[tid])]
        if came != sorted(came):
            fail('%d: a page was touched out of turn' % tid)
        seen[tid] = set(came)
        n += len(seen[tid])
        # One in so many of all faults, of which these are the most, but for those that are told of twice.
        if every > 1 and not told['lost'] and abs(len(seen[tid]) - len(pages) / every) > len(pages) / every / 20:
            fail('%d: %d of %d pages, one in %d' % (tid, len(seen[tid]), len(pages), every))
        if every == 1 and not told['lost'] and len(seen[tid]) != len(pages):
            fail('%d: %d of %d pages' % (tid, len(seen[tid]), len(pages)))
    if every == 1 and n + told['lost'] < sum(len(pages) for pages in want.values()):
        fail('%d of %d pages: %s' % (n, sum(len(pages) for pages in want.values()), told))


what, args = sys.argv[1], sys.argv[2:]
if what == 'info':
    info(args[0], args[1], args[2:])
elif what == 'state':
    state(args[0], args[1], args[2:])
elif what == 'born':
    born(args[0], args[1], len(args) > 2)
elif what == 'two':
    two(args[0], args[1])
elif what == 'faults':
    faults(*args)
elif what == 'buffers':
    buffers(args[0], args[1], args[2] if len(args) > 2 else '', args[3:])
else:
    frames(args[0], args[1])
sys.exit(fail.n != 0)
