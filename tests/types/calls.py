# SPDX-License-Identifier: BSD-2-Clause
# Run by gdb, on a program that was built without optimisation: each function that it calls is stopped at its first
# instruction, where the values of its arguments are taken from where `ktr types --json` says that they are, and at its
# end, where its result is. gdb says what they are after the function has stored them, and as what it returned.
#
#	TYPES=json SOURCE=program.c gdb -nx -q -batch -x tests/types/calls.py PROGRAM
#
# Only functions of the file that SOURCE is the end of.
import json
import os

import gdb

gdb.execute('set width 0')
gdb.execute('set confirm off')
gdb.execute('set breakpoint pending off')
types = [f for f in json.load(open(os.environ['TYPES']))['functions'] if f['typed'] and not f['alias']]
# What gdb 13 takes from a wrong place.
KNOWN = {('wide', 'the result'): '1267650600228229401496703205381', ('add', 'the result'): '{6, 8, 10, 12}'}
source = os.environ.get('SOURCE', '')
types = [f for f in types if f.get('file', '').endswith(source)]
wrong, counts = [], {}


def register(name):
    value = gdb.newest_frame().read_register(name)
    if not name.startswith('xmm'):
        return (int(value) & (1 << 64) - 1).to_bytes(8, 'little')
    return b''.join((int(value['v2_int64'][i]) & (1 << 64) - 1).to_bytes(8, 'little') for i in range(2))


def memory(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def taken(place, size):
    """The bytes of a value, where it is said to be; None: nowhere."""
    if place['class'] in ('NONE', 'UNKNOWN'):
        return None
    if place['class'] == 'INDIRECT':
        at = place['registers'][0] if place['registers'] else None
        address = register(at) if at else memory(stack + place['stack_offset'], 8)
        return memory(int.from_bytes(address, 'little'), size)
    if place['class'] == 'MEMORY':
        return memory(stack + place['stack_offset'], size)
    if place['class'] == 'X87':
        return None
    if len(place['registers']) == 1:
        return register(place['registers'][0])[:size]
    return b''.join(register(r)[:8] for r in place['registers'])[:size]


def same(what, got, type_, value):
    if got is None or len(got) != type_.sizeof:
        return
    key = what[2]
    counts[key] = counts.get(key, 0) + 1
    ours = gdb.Value(got, type_.strip_typedefs() if type_.code == gdb.TYPE_CODE_TYPEDEF else type_)
    value = KNOWN.get(what[:2], str(value))
    if str(ours) != value:
        wrong.append('%s: %s by %s is %s, not %s' % (what[0], what[1], what[2], ours, value))


class End(gdb.FinishBreakpoint):
    """The end of a function's call, which is looked at without stopping."""

    def __init__(self, frame, function):
        super().__init__(frame, internal=True)
        self.function = function

    def stop(self):
        value, f = self.return_value, self.function
        if value is not None:
            same((f['name'], 'the result', 'result ' + f['result']['class']), taken(f['result'], value.type.sizeof),
                 value.type, value)
        return False


gdb.execute('starti', to_string=True)
base = int(gdb.execute('info proc mappings', to_string=True).split('0x', 1)[1].split()[0], 16)
for f in types:
    # Addresses are the object's own; those of a program that is mapped anywhere begin at the first mapping.
    address = f['address'] + (base if f['address'] < base else 0)
    gdb.Breakpoint('*%d' % address)
seen = set()
while True:
    try:
        gdb.execute('continue', to_string=True)
        pc = gdb.selected_frame().pc()
    except gdb.error:
        break
    f = next((b for b in types if pc in (b['address'], b['address'] + base)), None)
    if f is None or f['address'] in seen:
        continue
    seen.add(f['address'])
    stack = int.from_bytes(register('rsp'), 'little')
    values = [(a, taken(a, a['size'])) for a in f['args']]
    # Behind what stores the arguments.
    try:
        end = int(gdb.execute('info line *%d' % pc, to_string=True).split('ends at ')[1].split()[0], 16)
        gdb.execute('tbreak *%d' % end, to_string=True)
        gdb.execute('continue', to_string=True)
    except (gdb.error, IndexError):
        continue
    frame = gdb.selected_frame()
    block = frame.block()
    while block.function is None:
        block = block.superblock
    arguments = {s.name: s for s in block if s.is_argument}
    for a, got in values:
        try:
            value = arguments[a['name']].value(frame)
            same((f['name'], a['name'], a['class']), got, value.type, value)
        except (gdb.error, KeyError):
            pass
    if f['name'] != 'main':
        try:
            End(frame, f)
        except (gdb.error, ValueError):
            pass
for line in wrong:
    print('calls: ' + line)
print('calls: %d functions; %s; %d wrong' %
      (len(seen), ', '.join('%s %d' % c for c in sorted(counts.items())), len(wrong)))
