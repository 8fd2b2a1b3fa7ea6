# SPDX-License-Identifier: BSD-2-Clause
"""Reads samples as each format has them, and compares their sums with those of ktr report --profile --json.

    profiles.py FILES    FILES.report, FILES.pprof, FILES.raw (go's, where there is one), FILES.speedscope, ...
"""
import collections
import gzip
import json
import os
import re
import sys

FILES = sys.argv[1]
WHOLE = json.load(open(FILES + '.report', encoding='utf-8'))
REPORT = WHOLE['profile']
WITHOUT = {'blocked_ns': '[signals blocked]', 'missed_ns': '[not seen]', 'lost_ns': '[lost]'}


def told():
    """Of each thread: ns, samples; of each thread and function where it was: ns."""
    threads, leaves = {}, collections.Counter()
    for t in REPORT['threads']:
        threads[t['tid']] = (t['ns'], t['due'])
        for key, word in WITHOUT.items():
            leaves[t['tid'], word] += t[key]
    for f in REPORT['functions']:
        if f['tid'] is not None:
            leaves[f['tid'], f['name']] += f['self_ns']
    return threads, +leaves


THREADS, LEAVES = told()
NAMES = {t['tid']: t['name'] for t in REPORT['threads']}


def same(got, want, what):
    assert got == want, f'{what}: {got!r} instead of {want!r}'


def compare(what, leaves, due=None, threads=None):
    """leaves: of (tid, function); threads: how a tid is called there, where not by its number."""
    want = LEAVES if threads is None else collections.Counter()
    if threads is not None:
        for (tid, name), ns in LEAVES.items():
            want[threads[tid], name] += ns
    same(dict(+leaves), dict(want), what)
    if due is not None:
        same(dict(due), {tid: n for tid, (_, n) in THREADS.items()}, what + ': samples')


# ---- pprof, by https://github.com/google/pprof/blob/main/proto/profile.proto ----

def fields(data):
    """(field, value) of a message: numbers, and bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            assert key & 7 == 2, key
            n = number()
            assert at + n <= len(data)
            yield key >> 3, data[at:at + n]
            at += n


def packed(data):
    return [value for _, value in fields(b''.join(bytes([8]) + part for part in split(data)))]


def split(data):
    start = 0
    for i, byte in enumerate(data):
        if byte < 128:
            yield data[start:i + 1]
            start = i + 1


def pprof():
    messages = collections.defaultdict(list)
    for field, value in fields(gzip.open(FILES + '.pprof').read()):
        messages[field].append(value)
    assert set(messages) <= set(range(1, 16)), messages.keys()
    strings = [s.decode() for s in messages[6]]
    same(strings[0], '', 'first string')
    same([[strings[v] for _, v in fields(t)] for t in messages[1]], [['samples', 'count'], ['cpu', 'nanoseconds']], 'types')
    functions = {dict(fields(f))[1]: strings[dict(fields(f))[2]] for f in messages[5]}
    mappings = {dict(fields(m))[1]: dict(fields(m)) for m in messages[3]}
    assert strings[mappings[dict(fields(messages[3][0]))[1]][5]].endswith('/a prog'), 'the first mapping is not the program'
    for m in mappings.values():
        assert re.fullmatch('([0-9a-f]{2})*', strings[m[6]]), strings[m[6]]
    leaf = {}
    for location in messages[4]:
        f = dict(reversed(list(fields(location)))) # the first line is the innermost
        assert 2 not in f or mappings[f[2]][2] <= f[3] < mappings[f[2]][3], 'an address that is not in its mapping'
        leaf[f[1]] = functions[dict(fields(f[4]))[1]]
    leaves, due = collections.Counter(), collections.Counter()
    for sample in messages[2]:
        f = list(fields(sample))
        n, ns = packed(dict(f)[2])
        labels = [dict(fields(value)) for field, value in f if field == 3]
        label = {strings[value[1]]: strings[value[2]] if 2 in value else value[3] for value in labels}
        same(set(label), {'thread', 'tid', 'pid', 'process'}, 'labels')
        same(label['thread'], NAMES[label['tid']], 'name of a thread')
        leaves[label['tid'], leaf[packed(dict(f)[1])[0]]] += ns
        due[label['tid']] += n
    compare('pprof', leaves, due)
    # Of what was exported: a window's.
    same(messages[10][0], WHOLE['span']['duration_ns'], 'duration')
    for time, key in ((9, 'time'), (12, 'period')):
        assert messages[time][0] > 0, key


def raw():
    """What `go tool pprof -raw` has read."""
    part, leaf, leaves, due, samples, at = '', {}, collections.Counter(), collections.Counter(), [], None
    for line in open(FILES + '.raw', encoding='utf-8'):
        line = line.rstrip('\n')
        if line in ('Locations', 'Mappings', 'Samples:'):
            part = line
        elif part == 'Samples:' and re.match(r' *\d+ +\d+: ', line):
            numbers, stack = line.split(':')
            at = (*map(int, numbers.split()), int(stack.split()[0]))
        elif part == 'Samples:' and 'tid:[' in line:
            samples.append((int(re.search(r'\btid:\[(\d+)\]', line)[1]), at))
        elif part == 'Locations' and re.match(r' *\d+: 0x', line):
            match = re.match(r' *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*?) [^ ]*:\d+(?::\d+)? s=\d+(?:\(.*\))?$', line)
            leaf[int(match[1])] = match[2]
    for tid, (n, ns, location) in samples:
        leaves[tid, leaf[location]] += ns
        due[tid] += n
    compare('go tool pprof -raw', leaves, due)


def text_format(lines):
    """(field, value) of a message as protoc --decode prints it, to its closing brace: numbers, strings, lists of pairs."""
    message = []
    for line in lines:
        line = line.strip()
        if line == '}':
            break
        if line.endswith('{'):
            message.append((line[:-2], text_format(lines)))
        else:
            name, value = line.split(': ', 1)
            message.append((name, value if value[0] == '"' or value in ('true', 'false') else int(value)))
    return message


def decoded():
    """What protoc has read by the published schema: a field that is not in it would have a number for its name."""
    whole = collections.defaultdict(list)
    for name, value in text_format(iter(open(FILES + '.decoded', encoding='utf-8'))):
        whole[name].append(value)
    numbers = re.findall(r'^ *(\d+)[:{ ]', open(FILES + '.decoded', encoding='utf-8').read(), re.M)
    assert not numbers, f'fields that the schema has not: {numbers[:5]}'
    strings = [json.loads(s) if '\\' not in s else s[1:-1] for s in whole['string_table']]
    names = {dict(f)['id']: strings[dict(f)['name']] for f in whole['function']}
    leaf = {}
    for location in whole['location']:
        fields_of = dict(reversed(location)) # the first line is the innermost
        leaf[fields_of['id']] = names[dict(fields_of['line'])['function_id']]
    leaves, due = collections.Counter(), collections.Counter()
    for sample in whole['sample']:
        n, ns = (value for name, value in sample if name == 'value')
        labels = {strings[dict(label)['key']]: dict(label) for name, label in sample if name == 'label'}
        location = next(value for name, value in sample if name == 'location_id')
        leaves[labels['tid']['num'], leaf[location]] += ns
        due[labels['tid']['num']] += n
    compare('protoc', leaves, due)


# ---- others ----

def speedscope():
    told_ = json.load(open(FILES + '.speedscope', encoding='utf-8'))
    same(told_['$schema'], 'https://www.speedscope.app/file-format-schema.json', 'schema')
    frames, leaves = told_['shared']['frames'], collections.Counter()
    for frame in frames:
        assert set(frame) <= {'name', 'file', 'line', 'col'} and 'name' in frame, frame
    for p in told_['profiles']:
        same(set(p), {'type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'}, 'profile')
        same((p['type'], p['unit'], len(p['samples'])), ('sampled', 'nanoseconds', len(p['weights'])), 'profile')
        same(p['endValue'] - p['startValue'], sum(p['weights']), 'end')
        for stack, ns in zip(p['samples'], p['weights']):
            leaves[int(p['name'].rsplit(' ', 1)[1]), frames[stack[-1]]['name']] += ns
    compare('speedscope', leaves)


def table(of, what):
    for name, column in of.items():
        if name != 'length' and name != 'weightType':
            same(len(column), of['length'], f'{what}.{name}')
    return of


def firefox():
    """Column by column, by docs-developer/CHANGELOG-formats.md of the Firefox Profiler."""
    told_ = json.load(open(FILES + '.firefox', encoding='utf-8'))
    shared, leaves = told_['shared'], collections.Counter()
    stacks, frames, functions, resources = (table(shared[t], t) for t in ('stackTable', 'frameTable', 'funcTable', 'resourceTable'))
    for t in ('nativeSymbols', 'sources'):
        table(shared[t], t)
    same(set(stacks), {'frame', 'prefix', 'length'}, 'stackTable')
    same(set(frames), {'address', 'inlineDepth', 'category', 'subcategory', 'func', 'nativeSymbol', 'innerWindowID', 'line', 'column',
                       'length'}, 'frameTable')
    for i, (prefix, frame) in enumerate(zip(stacks['prefix'], stacks['frame'])):
        assert (prefix is None or prefix < i) and frame < frames['length'], (i, prefix, frame)
    for i in range(frames['length']):
        assert 0 <= frames['category'][i] < len(told_['meta']['categories']) and frames['address'][i] >= -1
    for i in range(functions['length']):
        assert -1 <= functions['resource'][i] < resources['length'] and functions['name'][i] < len(shared['stringArray'])
    for lib in told_['libs']:
        assert re.fullmatch('[0-9A-F]{32}[0-9a-f]+', lib['breakpadId']) and lib['path'].endswith(lib['name']), lib
    for t in told_['threads']:
        samples, last = table(t['samples'], 'samples'), 0
        table(t['markers'], 'markers')
        same(t['isMainThread'], str(t['tid']) == t['pid'], 'main thread')
        for stack, ms, weight, cpu in zip(*(samples[c] for c in ('stack', 'time', 'weight', 'threadCPUDelta'))):
            assert ms >= last, (ms, last)
            last = ms
            name = shared['stringArray'][functions['name'][frames['func'][stacks['frame'][stack]]]]
            leaves[t['tid'], name] += round(weight * 1e6)
            same(cpu, round(weight * 1e6), 'CPU time')
    compare('firefox', leaves)


# As Firefox's import of perf script and FlameGraph's stackcollapse-perf.pl take the lines.
SAMPLE = re.compile(r'^(\S.*?)\s+(\d+)/(\d+)\s+\[(\d+)\]\s+(\d+\.\d+):\s+(\d+)\s+(\S+):\s*$')
FRAME = re.compile(r'^\s*(\w+)\s*(.+) \(([^)]*)\)$')


def perf_script():
    leaves, at, n, last = collections.Counter(), None, 0, 0.0
    for line in open(FILES + '.perf-script', encoding='utf-8'):
        if line == '\n':
            assert n > 0, 'no stack'
            at = None
        elif at is None:
            match, n = SAMPLE.match(line), 0
            at = int(match[3]), int(match[6])
            same(match[1], NAMES[at[0]], 'name')
            assert float(match[5]) >= last, line
            last = float(match[5])
        else:
            match = FRAME.match(line.rstrip('\n'))
            if n == 0:
                leaves[at[0], match[2]] += at[1]
            n += 1
    compare('perf-script', leaves)


def folded():
    leaves = collections.Counter()
    for line in open(FILES + '.folded', encoding='utf-8'):
        stack, ns = line.rsplit(' ', 1)
        frames = stack.split(';')
        leaves[frames[1], frames[-1]] += int(ns)
    compare('folded', leaves, threads=NAMES)


assert sum(ns for ns, _ in THREADS.values()) == REPORT['ns'] == sum(LEAVES.values()) > 0, (THREADS, LEAVES)
for check in (pprof, speedscope, firefox, perf_script, folded):
    check()
for check, suffix in ((raw, '.raw'), (decoded, '.decoded')):
    if os.path.exists(FILES + suffix):
        check()
