#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""decode.py TRACE [json-lines]: reads a trace by ktr-trace(5) alone, byte by byte, with no code of ours.

Whatever the page says of the bytes is checked. Prints a line per event, in the order of time, and per
loss; with the output of `ktr json --no-join` as second argument, compares both instead.
"""
import json
import os
import struct
import sys

WIDTH = {'I8': 'b', 'U8': 'B', 'I16': 'h', 'U16': 'H', 'I32': 'i', 'U32': 'I', 'I64': 'q', 'U64': 'Q',
         'F64': 'd', 'PTR': 'Q'}


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def lines(trace, name):
    rows = []
    for line in open(f'{trace}/ktr/{name}.jsonl', 'rb').read().split(b'\n')[:-1]:
        body, tail = line[:-18], line[-18:]
        assert tail == b',"crc":"%08x"}' % crc32c(body), f'{name}: {line}'
        rows.append(json.loads(line))
    return rows


def metadata(trace):
    text, begin = open(f'{trace}/metadata', 'rb').read(), 0
    assert text.startswith(b'/* CTF 1.8 */')
    while begin < len(text):
        end = text.index(b'/* ktr crc32c ', begin)
        assert text[end:end + 26] == b'/* ktr crc32c %08x */\n' % crc32c(text[begin:end])
        begin = end + 26


def string(data, at):
    end = data.index(0, at)
    return data[at:end].decode('utf-8', 'replace'), end + 1


def arguments(types, data, at):
    args = []
    for kind in types:
        if kind == 'STR':
            value, at = string(data, at)
        elif kind == 'STACK':
            n = struct.unpack_from('<H', data, at)[0]
            value = list(struct.unpack_from(f'<{n}Q', data, at + 2))
            at += 2 + 8 * n
        else:
            value = struct.unpack_from('<' + WIDTH[kind], data, at)[0]
            at += struct.calcsize(WIDTH[kind])
        args.append(value)
    return args, at


def header(data):
    """The fields of a packet's header, of either major version, and its length."""
    if data[28] == 1:
        (magic, stream, first_slot, next_slot, crc, flags, begin, end, content, size, seq, discarded, first,
         n, _ring, cpu) = struct.unpack_from('<IIQQIIQQQQQQQIII', data)
        at = 100
    else:
        (magic, n, first_slot, first, crc, flags, _ring, cpu, content, size, n_slots, begin, end, seq,
         discarded) = struct.unpack_from('<IIQQIHHIIIIQQQQ', data)
        stream, n, next_slot, at = n & 0xff, n >> 8, first_slot + n_slots, 80
        assert flags & 0xff == 2
    assert magic == 0xc1fc1fc1 and stream == 0 and flags < 0x800
    return first_slot, next_slot, crc, flags, begin, end, content, size, seq, discarded, first, n, cpu, at


def packet(data, sites, words):
    """One packet's header, and its events."""
    (first_slot, next_slot, crc, flags, begin, end, content, size, seq, discarded, first, n, cpu,
     at) = header(data)
    size //= 8
    content //= 8
    assert content <= size <= 1 << 20 and first_slot <= next_slot and begin <= end
    assert crc == crc32c(data[:24] + bytes(4) + data[28:size])
    time, events = begin, []
    for i in range(n):
        ident, low = struct.unpack_from('<HI', data, at)
        at += 6
        if ident == 0xffff:
            ident, time = struct.unpack_from('<IQ', data, at - 4)
            at += 8
        else:
            time += (low - time) % (1 << 32)
        word = struct.unpack_from('<I', data, at)[0]
        site = sites[ident >> 1]
        args, at = arguments(site['types'], data, at + 4)
        if ident & 1:
            at += 2
        assert begin <= time <= end
        events.append((time, cpu, word & 0x3fffff, site['name'], args, first + i,
                       words[word & ~0x400000]['name']))
    assert at == content and (not n or (events[0][0] == begin and events[-1][0] == end))
    head = dict(seq=seq, discarded=discarded, first=first, n=n, end=end, begin=begin, size=size,
                slots=(first_slot, next_slot), flags=flags)
    return head, events


def stream(path, keep, sites, words):
    data, last, events, lost = open(path, 'rb').read(), None, [], 0
    while data:
        head, more = packet(data, sites, words)
        assert bool(head['flags'] & 0x100) == keep
        if last:
            assert head['seq'] == last['seq'] + 1 and head['begin'] >= last['end']
            gap = head['discarded'] - last['discarded']
            assert head['first'] == last['first'] + last['n'] + gap
            assert gap or head['slots'][0] == last['slots'][1]
        else:
            assert head['seq'] == 0
        events += more
        last, lost = head, head['discarded']
        data = data[head['size']:]
    return events, lost


def decode(trace):
    metadata(trace)
    for name in ('info', 'procs', 'classes', 'modules', 'anchors', 'losses'):
        lines(trace, name)
    info = lines(trace, 'info')
    sites = {s['site']: s for s in lines(trace, 'sites')}
    words = {t['word']: t for t in lines(trace, 'threads')}
    events, lost = [], 0
    for name in sorted(os.listdir(trace)):
        if name.startswith(('cpu_', 'ring_')):
            more, n = stream(f'{trace}/{name}', name.endswith('.keep'), sites, words)
            events += more
            lost += n
    assert info[0]['kind'] == 'trace' and info[0]['major'] in (1, 2) and info[-1]['kind'] == 'end'
    assert info[-1]['events'] == len(events) and info[-1]['lost'] == lost
    return sorted(events, key=lambda e: (e[0], e[1], e[5])), lost


def plain(value):
    """A value of our JSON as the decoder's."""
    if value is None:
        return '(null)'
    if isinstance(value, list):
        return [int(pc['pc'], 0) for pc in value]
    return value


def same(a, b):
    if isinstance(a, int) and isinstance(b, str):
        return a == int(b.split()[0], 0)
    return a == b or (isinstance(a, str) and a + '...' == b)


def main():
    events, lost = decode(sys.argv[1])
    if len(sys.argv) == 2:
        for event in events:
            print(*event)
        print('lost', lost)
        return
    rows = [json.loads(line) for line in open(sys.argv[2], encoding='utf-8')]
    ours = [r for r in rows if r['type'] == 'event']
    ours.sort(key=lambda r: (r['ts_ns'], r['cpu'], r['index']))
    assert lost == sum(r['events'] for r in rows if r['type'] == 'loss'), lost
    assert len(ours) == len(events), (len(ours), len(events))
    for event, row in zip(events, ours):
        name = f"{row['file'].split('/')[-1]}:{row['line']}"
        assert event[:4] == (row['ts_ns'], row['cpu'], row['tid'], name), (event, row)
        assert event[5] == row['index'] and event[6] == row['thread'], (event, row)
        args = [plain(v) for v in row['args'].values()]
        assert len(args) == len(event[4]) and all(map(same, event[4], args)), (event, row)
    print(f'{sys.argv[1]}: {len(events)} events, {lost} lost')


main()
