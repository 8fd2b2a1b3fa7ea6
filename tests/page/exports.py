# SPDX-License-Identifier: BSD-2-Clause
"""Reads what ktr export wrote and compares it with what ktr json says.

    exports.py FORMAT FILE JSON-LINES
"""
import collections
import csv
import gzip
import json
import re
import shutil
import struct
import subprocess
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


# What would be a formula has a quote in front, and nothing else does that begins so.
def no_formula(text):
    return text[1:] if re.match("'[-=+@]", text) else text


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
            same(no_formula(row['message']), without_symbols(event['msg']), 'text')
        for i, value in enumerate(event['args'].values()):
            if isinstance(value, str) and plain(value) or isinstance(value, int):
                same(no_formula(row[f'arg{i}']), str(value), 'argument')


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
    last, types, n, counters, states = None, {}, 0, collections.defaultdict(int), collections.Counter()
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
        states[match[4], match[5]] += match[6] == 'state'
        n += 1
    threads = len({e['tid'] for e in EVENTS if e['kind'] == 'event'})
    same(n, len(EVENTS) + 2 * threads + 2 * (('trace', 'end') in states), 'lines')
    assert all(counters.values()), 'a group of zeros'
    # A state is drawn up to the next of its row, and without one that is drawn it crashes.
    assert not EVENTS or max(states.values()) >= 2, 'no state is drawn'


def tracedat():
    data = open(FILE, 'rb').read()
    assert data.startswith(b'\x17\x08\x44tracing6\0\0\x08'), data[:16]
    if not shutil.which('trace-cmd'):
        return
    report = subprocess.run(['trace-cmd', 'report', '-t', '-i', FILE], capture_output=True, check=True)
    lines = report.stdout.decode('utf-8').splitlines()
    got, missed = collections.Counter(), 0
    for line in lines:
        # "  </script>a-123   [001]  12.345678901: file_c_12:  text", or "CPU:0 [12 EVENTS DROPPED]"
        dropped = re.match(r'CPU:\d+ \[(\d+) EVENTS DROPPED\]', line)
        match = re.fullmatch(r'\s*(.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +(\w+): +(.*)', line)
        missed += int(dropped[1]) if dropped else 0
        if match and plain(match[7]):
            got[int(match[4] + match[5]), int(match[2]), int(match[3]), match[7].rstrip()] += 1
    want = collections.Counter((e['ts_ns'], e['tid'], e['cpu'], without_symbols(e['msg']).rstrip())
                               for e in EVENTS if plain(e['msg']) and '\ufffd' not in e['msg'])
    same(sum((want - got).values()), 0, f'events that trace-cmd does not tell, as {(want - got).most_common(1)}')
    # What is lost behind the last event of a CPU has no page to stand before.
    told = sum(x['events'] for x in LOSSES if x['to_ns'] is not None)
    same(missed, told, 'lost events')


class Thrift:
    """The compact protocol: structures as {field: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def number(self):
        value, self.at = varint(self.data, self.at)
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (5, 6):
            return self.number()
        if kind == 8:
            n, self.at = varint(self.data, self.at)
            self.at += n
            return self.data[self.at - n:self.at]
        if kind == 9:
            head = self.data[self.at]
            self.at += 1
            n = head >> 4
            if n == 15:
                n, self.at = varint(self.data, self.at)
            return [self.value(head & 15) for _ in range(n)]
        assert kind == 12, kind
        out, field = {}, 0
        while self.data[self.at]:
            head = self.data[self.at]
            self.at += 1
            field += head >> 4
            out[field] = self.value(head & 15)
        self.at += 1
        return out


def unsnappy(data):
    """Snappy's format: a length, then literals and copies of what is there already."""
    n, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            size = tag >> 2
            if size >= 60:
                more = size - 59
                size = int.from_bytes(data[at:at + more], 'little')
                at += more
            out += data[at:at + size + 1]
            at += size + 1
            continue
        if tag & 3 == 1:
            size, back, more = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at], 1
        else:
            more = 2 if tag & 3 == 2 else 4
            size, back = (tag >> 2) + 1, int.from_bytes(data[at:at + more], 'little')
        at += more
        for _ in range(size):
            out.append(out[-back])
    same(len(out), n, 'size of a snappy page')
    return bytes(out)


def parquet_column(data, chunk, schema):
    meta = chunk[3]
    thrift = Thrift(data, meta[9])
    head = thrift.value(12)
    page = data[thrift.at:thrift.at + head[3]]
    assert meta[4] in (0, 1), 'readers in browsers know plain pages and Snappy alone'
    if meta[4] == 1:
        page = unsnappy(page)
    same(len(page), head[2], 'size of a page')
    same(thrift.at + head[3] - meta[9], meta[7], 'size of a column')
    n, at, there = meta[5], 0, None
    if schema[3]:
        length, = struct.unpack_from('<I', page)
        run, first = varint(page, 4)
        same((run & 1, run >> 1), (1, (n + 7) // 8), 'levels')
        there = [page[first + i // 8] >> i % 8 & 1 for i in range(n)]
        at = 4 + length
    out = []
    for i in range(n):
        if there and not there[i]:
            out.append(None)
        elif schema[1] == 6:
            size, = struct.unpack_from('<I', page, at)
            out.append(page[at + 4:at + 4 + size].decode('utf-8'))
            at += 4 + size
        else:
            out.append(struct.unpack_from({1: '<i', 2: '<q', 5: '<d'}[schema[1]], page, at)[0])
            at += 4 if schema[1] == 1 else 8
    same(at, len(page), 'end of a page')
    return out


def parquet():
    data = open(FILE, 'rb').read()
    assert data[:4] == data[-4:] == b'PAR1'
    length, = struct.unpack('<I', data[-8:-4])
    footer = Thrift(data, len(data) - 8 - length).value(12)
    schema = footer[2][1:]
    columns = {c[4].decode(): [] for c in schema}
    for group in footer[4]:
        for chunk, one in zip(group[1], schema):
            columns[one[4].decode()] += parquet_column(data, chunk, one)
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    same(len(rows), footer[3], 'rows')
    losses = [r for r in rows if r['kind'] == 'loss']
    rows = [r for r in rows if r['kind'] != 'loss']
    same(sum(r['arg0'] for r in losses), sum(x['events'] for x in LOSSES), 'lost events')
    same(len(rows), len(EVENTS), 'events')
    for row, event in zip(rows, EVENTS):
        for name, member in (('ts_ns', 'ts_ns'), ('cpu', 'cpu'), ('tid', 'tid'), ('kind', 'kind'), ('line', 'line')):
            same(row[name], event[member], name)
        if plain(event['msg']):
            same(no_formula(row['message']), without_symbols(event['msg']), 'text')
        for i, value in enumerate(event['args'].values()):
            if isinstance(value, int) and row[f'real{i}'] is None:
                same(row[f'arg{i}'], value, 'argument')
            elif isinstance(value, float):
                same(row[f'real{i}'], value, 'argument')
            elif value is None:
                same(row[f'text{i}'], None, 'argument')


def otlp():
    spans = []
    lines = [json.loads(line) for line in open(FILE, encoding='utf-8')]
    for line in lines:
        resource, = line['resourceSpans']
        words = {a['key']: a['value']['stringValue'] for a in resource['resource']['attributes']}
        same(words['host.name'], HEAD['host'], 'host')
        spans += resource['scopeSpans'][0]['spans']
    same(len(spans), KINDS['start'], 'spans')
    by = {s['spanId']: s for s in spans}
    same(len(by), len(spans), 'ids')
    starts = collections.Counter(e['ts_ns'] for e in EVENTS if e['kind'] == 'start')
    same(collections.Counter(int(s['startTimeUnixNano']) - HEAD['utc_offset_ns'] for s in spans), starts, 'beginnings')
    for s in spans:
        assert re.fullmatch('[0-9a-f]{32}', s['traceId']) and re.fullmatch('[0-9a-f]{16}', s['spanId']) and s['name'], s
        assert int(s['startTimeUnixNano']) <= int(s['endTimeUnixNano']), s
        if 'parentSpanId' in s:
            parent = by[s['parentSpanId']]
            same(s['traceId'], parent['traceId'], 'the trace of a parent')
            assert int(parent['startTimeUnixNano']) <= int(s['startTimeUnixNano']), s
            assert int(parent['endTimeUnixNano']) >= int(s['endTimeUnixNano']), s


# Formats of samples, of a trace without: nothing in them, but well-formed. With samples: tests/cli/show/profiles.py.
def pprof():
    same(gzip.open(FILE).read().count(b'nanoseconds'), 1, 'names of units')


def speedscope():
    told = json.load(open(FILE, encoding='utf-8'))
    same((told['profiles'], told['shared']['frames']), ([], []), 'profiles')


def firefox():
    told = json.load(open(FILE, encoding='utf-8'))
    same((told['threads'], told['shared']['stackTable']['length']), ([], 0), 'threads')


def perf_script():
    same(open(FILE, encoding='utf-8').read(), '', 'lines')


# Neither samples nor functions: what is left is the beginning. tests/cli/show/gmon.py reads those of others.
def gmon():
    same(open(FILE, 'rb').read(), b'gmon' + struct.pack('<i', 1) + bytes(12), 'an empty gmon.out')


def gmon_bsd():
    same(open(FILE, 'rb').read()[16:], struct.pack('<ii', 40, 0x51879) + struct.pack('<ii', 10000, 16) + bytes(8), 'an empty one of BSD')


FORMATS = {'chrome': chrome, 'perfetto': perfetto, 'csv': csv_, 'folded': folded, 'schedgraph': schedgraph,
           'tracedat': tracedat, 'parquet': parquet, 'pprof': pprof, 'speedscope': speedscope, 'firefox': firefox,
           'perf-script': perf_script, 'gmon': gmon, 'gmon-bsd': gmon_bsd, 'otlp': otlp}
FORMATS[FORMAT]()
