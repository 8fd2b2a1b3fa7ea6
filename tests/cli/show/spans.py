#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""spans.py KTR TRACE: report, sql, timeline, page, folded, Chrome and Perfetto show the same spans and states.

What they should show is worked out here from the events and losses alone, in the plainest way, by the rules of
analyze/spans/spans.h. TRACE.who tells of each thread its process, when it ended and when its process did (0: not).
"""
import base64
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

KTR, TRACE = sys.argv[1:3]
WHO = {}
for row in open(TRACE + '.who', encoding='ascii'):
    name, process, exit_ns, process_exit_ns = row.split()
    WHO[name] = (process, int(exit_ns), int(process_exit_ns))
WRONG = []


def ktr(*args):
    return subprocess.run([KTR, *args], check=True, capture_output=True).stdout


def ktr_file(*args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'out' + args[0])
        ktr(*args[1:], '-o', path, TRACE)
        return open(path, 'rb').read()


def compare(what, got, want):
    got, want = collections.Counter(got), collections.Counter(want)
    for more, side in ((got - want, 'has'), (want - got, 'lacks')):
        if more:
            rows = sorted(more.items(), key=str)
            WRONG.append('%s %s %d: %s' % (what, side, len(rows), ' '.join(map(str, rows[:3]))))


# ---- what is right ----

class Span:
    def __init__(self, event):
        self.thread = event['thread']
        self.process = WHO[self.thread][0]
        self.tid = event['tid']
        self.kind = 'state' if event['kind'] == 'state' else 'span'
        self.group = event['group']
        self.scope = self.group == 'scope'
        self.id = event['id'] if self.scope else event['args']['id']
        self.state = event['args'].get('state')
        self.key = event['args'].get('key')
        self.begin = event['ts_ns']
        self.end = None
        self.how = 'open'
        self.end_tid = None
        self.unsure = 0
        self.depth = 0
        self.shared = False

    def row(self):
        return (self.process, self.group, self.id)

    def same(self, other):
        if self.kind != other.kind or self.process != other.process or self.scope != other.scope:
            return False
        return self.key == other.key and (self.scope or (self.group, self.id) == (other.group, other.id))

    def left(self):
        """When it ended with the thread that it belongs to, or the process; 0: it did not."""
        _, thread, process = WHO[self.thread]
        if self.scope or (self.kind == 'state' and not self.shared):
            return thread or process
        return process


class Truth:
    """log: what began and ended, in order; the spans without a beginning are in `stray`."""

    def __init__(self, lines):
        self.events = []
        self.open, self.log, self.stray, self.losses = [], [], [], []
        self.rings = collections.defaultdict(set)
        self.told = collections.defaultdict(list)  # of each row: when, and in which ring
        for line in lines:
            if line['type'] == 'head':
                self.first, self.last = line['first_ns'], line['last_ns']
            elif line['type'] == 'loss':
                self.losses.append(line)
            elif line['type'] == 'event' and line['kind'] in ('start', 'stop', 'state'):
                self.events.append(line)
                self.told[Span(line).row()].append((line['ts_ns'], (line['cpu'], bool(line.get('keep')))))
                self.event(line)
        for span in self.open:
            end = max(span.left(), span.begin) if span.left() else self.last
            span.end, span.how = (end, 'left') if end < self.last else (self.last, 'open')
        for span in sorted(reversed(self.open), key=lambda s: s.end):
            self.log.append(('end', span))
        self.spans = [s for what, s in self.log if what == 'begin']

    def lost(self, span, rings, now):
        return any((x['from_ns'] or 0) < now and (x['to_ns'] is None or x['to_ns'] > span.begin) and
                   (rings is None or (x['cpu'], x['keep']) in rings) for x in self.losses)

    def lost_to(self, span, thread, now):
        return self.lost(span, self.rings[span.thread] | self.rings[thread], now)

    def close(self, span, end, how):
        span.end, span.how = end, how
        self.open.remove(span)
        self.log.append(('end', span))

    def begin(self, span):
        self.open.append(span)
        self.log.append(('begin', span))

    def above(self, scope):
        return [s for s in reversed(self.open[self.open.index(scope) + 1:]) if s.scope and s.thread == scope.thread]

    def gone(self, scope, now):
        """Its frame is, and those that lie further down the stack."""
        for span in [s for s in self.above(scope) if s.key < scope.key] + [scope]:
            self.close(span, now, 'missing')

    def event(self, event):
        now, new = event['ts_ns'], Span(event)
        self.rings[new.thread].add((event['cpu'], bool(event.get('keep'))))
        ended = [s for s in reversed(self.open) if s.scope and s.begin <= s.left() < now]
        for span in sorted(ended, key=Span.left):
            self.close(span, span.left(), 'left')
        old = next((s for s in reversed(self.open) if s.same(new)), None)
        if new.kind == 'state':
            self.state(old, new, now)
        elif event['kind'] == 'start':
            self.start(old, new, now)
        else:
            self.stop(old, new, now)

    def state(self, old, new, now):
        if old:
            new.shared = old.shared or old.thread != new.thread
            self.ended(old, new, now)
        self.begin(new)

    def start(self, old, new, now):
        if old and old.scope:
            self.gone(old, now)
        elif old and self.lost_to(old, new.thread, now):
            new.depth = old.depth
            self.close(old, now, 'missing')
        elif old:
            new.depth = old.depth + 1
        self.begin(new)

    def stop(self, old, new, now):
        if old and old.scope and old.id != new.id:
            self.gone(old, now)
            old = None
        if not old:
            new.how, new.end, new.end_tid = 'no start', now, new.tid
            self.stray.append(new)
            return
        if old.scope and old.thread == new.thread:
            for span in self.above(old):
                if self.lost(span, None, now) or 0 < old.key - span.key < 4096:
                    self.close(span, now, 'missing')
        self.ended(old, new, now)

    def ended(self, old, new, now):
        old.end_tid = new.tid
        old.unsure = int(self.lost_to(old, new.thread, now))
        self.close(old, now, 'ended')

    def nested(self):
        """(span, end, how) where slices of a thread nest: one that outlives what it began in is drawn up to there."""
        drawn, out = [], []
        for what, span in self.log:
            if what == 'begin':
                drawn.append(span)
            elif not span.scope:
                out.append((span, span.end, span.how))
            elif span in drawn:
                over = [s for s in drawn[drawn.index(span) + 1:] if s.scope and s.thread == span.thread]
                for one in over:
                    drawn.remove(one)
                    out.append((one, span.end, 'missing'))
                out.append((span, span.end, span.how))
            if what == 'end' and span in drawn:
                drawn.remove(span)
        return out


# ---- what each of them shows ----

def check_sql(truth):
    def know(s):
        no_end = s.how in ('missing', 'open')
        begin = None if s.how == 'no start' else s.begin - truth.first
        end = None if no_end else s.end - truth.first
        return (s.kind, s.group, s.id, s.state, s.key, s.thread, begin, end,
                None if begin is None or end is None else end - begin, s.end_tid, s.depth, s.unsure)

    got = [json.loads(line) for line in ktr('sql', '--json', TRACE, 'SELECT * FROM spans').splitlines()]
    compare('sql', [(s['kind'], s['grp'], s['id'], s['state'], s['key'], s['thread'], s['time'], s['until'], s['dur'],
                     s['end_tid'], s['depth'], s['unsure']) for s in got], map(know, truth.spans + truth.stray))


def check_report(truth):
    want = collections.defaultdict(lambda: [0] * 7)
    for s in truth.spans + truth.stray:
        row = want[s.row() + (s.state,)]
        whole, no_end = s.how == 'ended', s.how in ('missing', 'left', 'open')
        for i, n in enumerate((whole, (s.end - s.begin) * whole, s.unsure, s.depth > 0, s.how == 'no start', no_end,
                               (s.end - s.begin) * no_end)):
            row[i] += int(n)
    report = json.loads(ktr('report', '--json', '--top', '0', TRACE))
    compare('report', [(r['process'], r['group'], r['id'], r.get('state'), r['count'], r.get('total_ns', 0), r['unsure'],
                        r['nested'], r['no_start'], r['no_end'], r['open_ns']) for r in report['spans'] + report['states']],
            [row + tuple(n) for row, n in want.items()])


class Page:
    """Of rows by name, where scopes have no level, or by id, where they lie in each other."""

    def __init__(self, *args, rows='names'):
        self.html = ktr_file('.html', 'timeline', '--rows', rows, *args)
        text = self.html.decode()
        self.blob = {name: zlib.decompress(base64.b64decode(data)) for name, data in
                     re.findall(r'id="(index|states|overview|c\d+)">([^<]*)<', text)}
        self.index = json.loads(self.blob['index'])
        self.process = {track[1]: WHO[track[2]][0] for track in self.index['tracks']}
        self.rows = [(self.process.get(row[1]), row[2], row[3]) for row in self.index['rows']]


def doubt(truth, span, sure):
    """
    Moments in which nobody knows whether a row still has what is told of it: those in gaps of its rings, and, of a
    state, those behind one. Its rings are at least those that it had before the gap, and at most all it ever has.
    """
    found, end = set(), span.end + (span.how == 'open')
    for loss in truth.losses:
        begin = max(loss['from_ns'] or 0, span.begin)
        to = end if span.kind == 'state' else min(end, loss['to_ns'] or end)
        if (loss['to_ns'] is None or loss['to_ns'] > span.begin) and begin < end and \
                any(ring == (loss['cpu'], bool(loss['keep'])) and (not sure or at <= (loss['from_ns'] or 0))
                    for at, ring in truth.told[span.row()]):
            found.update(at - truth.first for at in range(begin, to))
    return found


def check_timeline(truth):
    # With fewer events than there are, a page has the timeline's columns, of a nanosecond each.
    names = Page()
    page = Page('--events', '1')
    page.rows = names.rows
    n = page.index['columns']
    assert n == truth.last + 1 - truth.first, (n, truth.last - truth.first)
    open_, states, never, perhaps = collections.Counter(), {}, set(), set()
    for s in truth.spans:
        never.update(s.row() + (at,) for at in doubt(truth, s, True))
        perhaps.update(s.row() + (at,) for at in doubt(truth, s, False))
        # What is open is drawn up to and with the last moment.
        for at in range(s.begin - truth.first, s.end - truth.first + (s.how == 'open')):
            if s.kind == 'state':
                states[s.row() + (at,)] = s.state
            else:
                open_[s.row() + (at,)] += 1
    at, wrong = 0, 0
    for row, whole in zip(page.rows, page.index['rows']):
        first = share = None
        if whole[9] & 1:
            first = struct.unpack_from('<%dH' % n, page.blob['overview'], at)
            share = page.blob['overview'][at + 4 * n:at + 5 * n]
            at += 8 * n
        at += 16 * n * (whole[9] >> 1 & 1) + 4 * n * (whole[9] >> 2 & 1)
        for x in range(n if whole[0] == 0 else 0):
            want = states.get(row + (x,)) or (open_[row + (x,)] and '%d open' % open_[row + (x,)]) or ''
            # What takes no time shows, too.
            got = page.index['labels'][first[x]] if first and share[x] > 1 else ''
            if got != ('' if row + (x,) in never else want) and (got or row + (x,) not in perhaps):
                wrong += 1
                if wrong == 1:
                    WRONG.append('timeline %s at %d: %r instead of %r' % (row, x, got, want))
    assert at + sum(8 * n * (w[9] & 1) + 16 * n * (w[9] >> 1 & 1) + 4 * n * (w[9] >> 2 & 1) for w in
                    page.index['cpus']) == len(page.blob['overview'])
    if wrong:
        WRONG.append('timeline: %d columns' % wrong)


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            value |= (byte & 127) << shift
            shift += 7
            self.at += 1
            if byte < 128:
                return value

    def part(self):
        n = self.next()
        self.at += n
        return self.data[self.at - n:self.at]

    def rest(self, size):
        out = []
        while self.at < len(self.data):
            out.append([self.next() for _ in range(size)])
        return out


def page_events(page):
    """(time, site, track) of each event, its lanes, and ends {event: [(row, lane, time)]}."""
    r = Numbers(page.blob['c0'])
    n = r.next()
    time, site, track, lane = (Numbers(r.part()) for _ in range(4))
    # (Pages of before had no such column.)
    ends, at, now, events = collections.defaultdict(list), 0, 0, []
    for event in range(n):
        now += time.next()
        events.append((now, page.index['sites'][site.next()], page.index['tracks'][track.next()]))
    if 'ends' in page.index:
        for step, row, number, before in Numbers(r.part()).rest(4):
            at += step
            ends[at].append((row, number, events[at][0] - before))
    return events, lane, ends


def check_page(truth):
    page = Page()
    events, lanes, ends = page_events(page)
    row_of = {row: i for i, row in enumerate(page.rows)}
    open_, states, got = {}, {}, []

    def end(place, now):
        if place in open_:
            begin, key = open_.pop(place)
            got.append(page.rows[place[0]] + (None, key, begin, now))

    # Their arguments are as in the JSON: the same events in the same order.
    arguments = iter(truth.events)
    for number, (now, site, track) in enumerate(events):
        for row, lane, at in ends[number]:
            end((row, lane), at)
        if site[7] not in (1, 4, 5):
            continue
        told = next(arguments)
        assert now == told['ts_ns'] - truth.first
        ident = site[8] if site[8] is not None else told['args']['id']
        row = row_of[(page.process[track[1]], site[6], ident)]
        if site[7] == 1:
            if row in states:
                got.append(page.rows[row] + (states[row][1], None, states[row][0], now))
            states[row] = (now, told['args']['state'])
            continue
        lane = lanes.next() - 1
        if lane < 0:
            continue
        end((row, lane), now)
        if site[7] == 4:
            open_[row, lane] = (now, told['args']['key'])
    last = page.index['last']
    lane_end = {(row, lane): at for row, lane, at in page.index.get('ends', [])}
    for place in list(open_):
        row_end = page.index['rows'][place[0]][8]
        end(place, min(lane_end.get(place, last if 'ends' in page.index or row_end is None else row_end), last))
    for row, (begin, state) in states.items():
        row_end = page.index['rows'][row][8]
        got.append(page.rows[row] + (state, None, begin, min(last if row_end is None else row_end, last)))
    compare('page', [g[:5] + (int(g[5]), int(g[6])) for g in got],
            [s.row() + (s.state, s.key, s.begin - truth.first, s.end - truth.first) for s in truth.spans])
    if shutil.which('node') and 'ends' in page.index:
        compare_page_program(truth, page)


def check_nested(truth):
    """Scopes on their threads' tracks: each in its place, and on the level above those that are open."""
    page = Page(rows='ids')
    events, lanes, ends = page_events(page)
    threads = {track[9]: track[2] for track in page.index['tracks']}
    open_, got = collections.defaultdict(dict), []

    def end(row, level, now):
        if level in open_[row]:
            name, begin = open_[row].pop(level)
            got.append((threads[row], name, begin, now))

    for number, (now, site, track) in enumerate(events):
        for row, level, at in ends[number]:
            end(row, level, at)
        if site[7] not in (4, 5):
            continue
        level, row = lanes.next() - 1, track[9]
        assert (site[12] >= 0) == (site[6] == 'scope')
        if site[12] < 0 or level < 0:
            continue
        if site[7] == 5:
            end(row, level, now)
            continue
        if level != max(open_[row], default=-1) + 1:
            WRONG.append('page: %s at %d on level %d above %s' % (site[8], now, level, sorted(open_[row])))
        assert page.index['labels'][site[12]] == site[8]
        open_[row][level] = (site[8], now)
    last = page.index['last']
    lane_end = {(row, lane): at for row, lane, at in page.index['ends']}
    for row in list(open_):
        for level in list(open_[row]):
            end(row, level, min(lane_end.get((row, level), last), last))
    compare('nested page', [(thread, name, int(begin), int(at)) for thread, name, begin, at in got],
            [(s.thread, s.id, s.begin - truth.first, s.end - truth.first) for s in truth.spans if s.scope])


def compare_page_program(truth, page):
    """The same by the program that is in the page."""
    script = b''.join(open(name, 'rb').read() for name in
                      ('visualize/page/program/text.js', 'visualize/page/program/blob.js', 'visualize/page/program/data.js',
                       'visualize/page/program/rows.js', 'tests/page/shown.js'))
    with tempfile.NamedTemporaryFile() as file:
        file.write(page.html)
        file.flush()
        run = subprocess.run(['node', '-', file.name], input=script, capture_output=True, check=True)
    got = [json.loads(line) for line in run.stdout.splitlines()]
    compare('program of the page', [page.rows[row] + (label, int(begin), int(end)) for row, label, begin, end in got],
            [s.row() + (s.state, s.begin - truth.first, s.end - truth.first) for s in truth.spans])


def check_folded(truth):
    open_, since, want = collections.defaultdict(list), {}, collections.Counter()

    def settle(thread, now):
        if open_[thread] and now > since[thread]:
            names = [s.id if s.scope else s.group for s in open_[thread]]
            want[';'.join([WHO[thread][0], thread] + names)] += now - since[thread]
        since[thread] = max(now, since.get(thread, 0))

    for what, span in truth.log:
        if span.kind == 'state':
            continue
        settle(span.thread, span.begin if what == 'begin' else span.end)
        if what == 'begin':
            open_[span.thread].append(span)
        else:
            open_[span.thread].remove(span)
    got = [line.rsplit(' ', 1) for line in ktr_file('', 'export', 'folded').decode().splitlines()]
    compare('folded', [(stack, int(n)) for stack, n in got], want.items())


HOW = {'ended': None, 'missing': 'missing', 'open': 'not reached', 'left': 'left'}


def slices(truth):
    """(where, name, begin, end, how) as viewers of slices get them."""
    for span, end, how in truth.nested():
        where = (span.process, span.tid) if span.scope else (span.process, span.group + ' ' + span.id)
        name = span.state or (span.id if span.scope else span.group)
        yield (where, name, span.begin - truth.first, end - truth.first, HOW[how])


def thread_of(name):
    """The thread that a track of this name is of: "thread1 (100)"."""
    match = re.fullmatch(r'(thread\d+) \((\d+)\)', name)
    return match and match[1]


def check_chrome(truth):
    events = json.loads(ktr_file('', 'export', 'chrome'))
    tracks, processes = {}, {}
    for e in events:
        if e['ph'] == 'M' and e['name'] == 'thread_name':
            tracks[e['pid'], e['tid']] = e['args']['name']
            if thread_of(e['args']['name']):
                processes[e['pid']] = WHO[thread_of(e['args']['name'])][0]
    got = []
    for e in events:
        if e['ph'] != 'X' or e['cat'] == 'lost':
            continue
        name = tracks[e['pid'], e['tid']]
        begin = round(e['ts'] * 1000)
        got.append(((processes[e['pid']], e['tid'] if thread_of(name) else name), e['name'], begin,
                    begin + round(e['dur'] * 1000), e['args'].get('end')))
    compare('chrome', got, slices(truth))


def fields(data):
    r, out = Numbers(data), collections.defaultdict(list)
    while r.at < len(data):
        key = r.next()
        if key & 7 == 0:
            value = r.next()
        elif key & 7 == 1:
            value, r.at = struct.unpack_from('<Q', data, r.at)[0], r.at + 8
        else:
            value = r.part()
        out[key >> 3].append(value)
    return out


def check_perfetto(truth):
    tracks, processes, names, open_, got = {}, {}, {}, collections.defaultdict(list), []
    for packet in map(fields, fields(ktr_file('', 'export', 'perfetto'))[1]):
        for track in map(fields, packet[60]):
            name = track[2][0].decode() if track[2] else ''
            thread = fields(track[4][0]) if track[4] else None
            tracks[track[1][0]] = (track[5][0] - (1 << 40) if track[5] else thread[1][0] if thread else 0,
                                   thread[2][0] if thread else name)
            if thread and thread_of(name):
                processes[thread[1][0]] = WHO[thread_of(name)][0]
        for interned in map(fields, packet[12]):
            for one in map(fields, interned[2]):
                names[one[1][0]] = one[2][0].decode()
        for event in map(fields, packet[11]):
            kind, track, time = event[9][0], event[11][0], packet[8][0] - truth.first
            if track >= 2 << 40 or kind > 2:
                continue
            if kind == 1:
                open_[track].append((event[23][0].decode() if event[23] else names[event[10][0]], time))
                continue
            name, begin = open_[track].pop()
            how = [note[6][0].decode() for note in map(fields, event[4]) if note[10] == [b'end']]
            pid, where = tracks[track]
            got.append(((processes[pid], where), name, begin, time, how[0] if how else None))
    assert not any(open_.values()), open_
    compare('perfetto', got, slices(truth))


def main():
    lines = ktr('json', TRACE).decode().splitlines()
    truth = Truth(json.loads(line) for line in lines if '"kind":"event"' not in line)
    for check in [f for name, f in globals().items() if name.startswith('check_')]:
        try:
            check(truth)
        except subprocess.CalledProcessError as error:
            WRONG.append('%s: %s' % (check.__name__, error.stderr.decode()))
    hows = collections.Counter(s.how for s in truth.spans + truth.stray)
    print(TRACE, dict(hows), *WRONG, sep='\n  ' if WRONG else ' ')
    sys.exit(1 if WRONG else 0)


main()
