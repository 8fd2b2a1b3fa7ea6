# SPDX-License-Identifier: BSD-2-Clause
"""Reads what ktr export wrote and compares it with what ktr json says.

    exports.py FORMAT FILE JSON-LINES
"""
import collections
import csv
import json
import re
import struct
import sys

FORMAT, FILE, TOLD = sys.argv[1:4]
HEAD = json.loads(open(TOLD, encoding='utf-8').readline())
EVENTS = [e for e in map(json.loads, open(TOLD, encoding='utf-8')) if e['type'] == 'event']
LOSSES = [e for e in map(json.loads, open(TOLD, encoding='utf-8')) if e['type'] == 'loss']
KINDS = collections.Counter(e['kind'] for e in EVENTS)
FIRST = min(e['ts_ns'] for e in EVENTS)
# Bytes that are no text show as \xNN in the files and as U+FFFD in the JSON.
PLAIN = re.compile(r'[ -~]*')


def same(a, b, what):
    assert a == b, f'{what}: {a!r} instead of {b!r}'


def plain(text):
    return PLAIN.fullmatch(text) and '\\x' not in text


def without_symbols(text):
    return re.sub(r'(0x[0-9a-f]+) \(\S+\)', r'\1', text)


def is_mark(event):
    return event['kind'] in ('event', 'point')


def chrome():
    text = open(FILE, encoding='utf-8').read()
    events = json.loads(text)
    by = collections.defaultdict(list)
    for event in events:
        assert event.get('name') and 'ph' in event and 'pid' in event, event
        by[event['ph']].append(event)
    same(set(by) - set('XiCMsf'), set(), 'phases')
    same(len(by['i']), sum(map(is_mark, EVENTS)), 'marks')
    same(len(by['C']), KINDS['counter'], 'counters')
    spans = [x for x in by['X'] if x['cat'] != 'lost']
    # Each state and each start is a slice, whether it ended or not.
    same(len(spans), KINDS['state'] + KINDS['start'], 'slices')
    same(sum(x['args']['events'] for x in by['X'] if x['cat'] == 'lost'), sum(x['events'] for x in LOSSES), 'lost events')
    names = {(m['pid'], m['tid']) for m in by['M'] if m['name'] == 'thread_name'}
    for slice_ in spans:
        assert slice_['dur'] >= 0 and (slice_['pid'], slice_['tid']) in names, slice_
    marks = [e for e in EVENTS if is_mark(e)]
    for mark, event in zip(by['i'], marks):
        same(round(mark['ts'] * 1000), event['ts_ns'] - HEAD['first_ns'], 'time')
        if plain(event['msg']):
            same(mark['args']['detail'], without_symbols(event['msg']), 'text')
    # What was cut off still loads in viewers: an array without its end.
    assert text.startswith('[\n'), text[:10]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """A message as a list of (field, value)."""
    at, out = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from('<Q', data, at)[0], at + 8
        else:
            assert key & 7 == 2, key
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
            assert len(value) == n
        out.append((key >> 3, value))
    return out


def perfetto():
    data = open(FILE, 'rb').read()
    kinds, tracks, open_, names, flows = collections.Counter(), {}, collections.Counter(), {}, set()
    times = []
    for field, packet in fields(data):
        same(field, 1, 'field of Trace')
        packet = fields(packet)
        members = dict(packet)
        if 60 in members:
            track = dict(fields(members[60]))
            tracks[track[1]] = track
            assert 5 not in track or track[5] in tracks, 'a track before its process'
        if 12 in members:
            for kind, one in fields(members[12]):
                one = dict(fields(one))
                names[kind, one[1]] = one[2].decode('utf-8')
        if 11 not in members:
            continue
        event = collections.defaultdict(list)
        for key, value in fields(members[11]):
            event[key].append(value)
        kind, track = event[9][0], event[11][0]
        assert track in tracks, track
        lost = track >= 2 << 40
        assert not event[10] or (2, event[10][0]) in names, 'a name that is not interned'
        for annotation in event[4]:
            annotation = dict(fields(annotation))
            assert 10 in annotation or (3, annotation[1]) in names, annotation
        flows.update(event[47])
        assert set(event[48]) <= flows, 'a flow that ends before it begins'
        if lost:
            continue
        kinds[kind] += not event[48]
        times.append(members[8])
        open_[track] += {1: 1, 2: -1}.get(kind, 0)
        assert open_[track] >= 0, 'an end without a beginning'
    same(sum(open_.values()), 0, 'open slices')
    same(kinds[1], KINDS['state'] + KINDS['start'], 'slices')
    same(kinds[3], sum(map(is_mark, EVENTS)), 'marks')
    same(kinds[4], KINDS['counter'], 'counters')
    assert all(2 in t or 3 in t for t in tracks.values()), 'names of tracks'
    same(min(times), FIRST, 'first time')


def csv_():
    rows = list(csv.DictReader(open(FILE, encoding='utf-8', newline='')))
    losses = [r for r in rows if r['kind'] == 'loss']
    rows = [r for r in rows if r['kind'] != 'loss']
    same(len(rows), len(EVENTS), 'lines')
    same(sum(int(r['arg0']) for r in losses), sum(x['events'] for x in LOSSES), 'lost events')
    for row, event in zip(rows, EVENTS):
        same(int(row['ts_ns']), event['ts_ns'], 'time')
        same((row['kind'], int(row['line'])), (event['kind'], event['line']), 'kind and line')
        if plain(event['msg']):
            same(row['message'], without_symbols(event['msg']), 'text')
        for i, value in enumerate(event['args'].values()):
            if isinstance(value, str) and plain(value) or isinstance(value, int):
                same(row[f'arg{i}'], str(value), 'argument')


def folded():
    total = 0
    for line in open(FILE, encoding='utf-8'):
        match = re.fullmatch(r'([^;\n]+(?:;[^;\n]+)*) ([0-9]+)\n', line)
        assert match and match[1].count(';') >= 2, line
        total += int(match[2])
    assert 0 < total <= (max(e['ts_ns'] for e in EVENTS) - FIRST) * len({e['tid'] for e in EVENTS}), total


# A line as schedgraph.py takes it; nothing but this may be in the file.
TOKEN = r'(?:"[^"]*"|[^",:\s][^",:]*)'
SCHEDGRAPH = re.compile(
    r'\s*(\d+)\s+(\d+)\s+(\d+)\s+KTRGRAPH group:"([^"]*)", id:"([^"]*)", (state|counter|point):("[^"]*"|[^",]+), '
    rf'attributes: (none|{TOKEN}\s*:\s*{TOKEN}(?:,\s+{TOKEN}\s*:\s*{TOKEN})*)?\n')


def schedgraph():
    last, types, n, counters = None, {}, 0, collections.defaultdict(int)
    for line in open(FILE, encoding='utf-8'):
        match = SCHEDGRAPH.fullmatch(line)
        assert match, line
        time = int(match[3])
        assert last is None or time <= last, 'newest first: ' + line
        last = time
        kind = 'counter' if match[6] == 'counter' else 'row'
        same(types.setdefault((match[4], match[5]), kind), kind, 'kind of row ' + line)
        if kind == 'counter':
            counters[match[4]] |= int(match[7]) != 0
        n += 1
    threads = len({e['tid'] for e in EVENTS if e['kind'] == 'event'})
    same(n, len(EVENTS) + threads, 'lines')
    assert all(counters.values()), 'a group of zeros'


{'chrome': chrome, 'perfetto': perfetto, 'csv': csv_, 'folded': folded, 'schedgraph': schedgraph}[FORMAT]()
