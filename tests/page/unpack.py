# SPDX-License-Identifier: BSD-2-Clause
"""Reads a page of ktr timeline without a browser and compares it with what ktr json says.

    unpack.py PAGE JSON-LINES

The page must be well-formed HTML with no element, attribute or script that is not ours, and every
event must be in it: time, place, thread, CPU, arguments. Its program takes less than 150,000 bytes.
visualize/page/packer.h has the layout.
"""
import base64
import html.parser
import json
import struct
import sys
import zlib

MEMBERS = {'html', 'head', 'meta', 'title', 'style', 'body', 'header', 'h1', 'p', 'nav', 'span',
           'input', 'button', 'output', 'main', 'canvas', 'aside', 'div', 'footer', 'dialog',
           'noscript', 'script', 'section', 'template', 'table', 'tr', 'td', 'select', 'option'}
UNCLOSED = {'meta', 'input', 'tr', 'td', 'option'}


class Page(html.parser.HTMLParser):
    """Collects blobs, checks that elements are ours and are closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blobs, self.open, self.scripts, self.blob, self.text = {}, [], 0, None, {}

    def handle_starttag(self, tag, attrs):
        assert tag in MEMBERS, f'element {tag}'
        assert not any(name.startswith('on') or name in ('src', 'href') for name, _ in attrs), attrs
        if tag in UNCLOSED:
            return
        self.open.append(tag)
        if tag == 'script':
            kind = dict(attrs)
            self.scripts += 'type' not in kind
            self.blob = kind.get('id') if 'type' in kind else None

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f'</{tag}> in {self.open}'
        self.open.pop()
        self.blob = None

    def handle_data(self, data):
        if self.blob:
            self.blobs[self.blob] = self.blobs.get(self.blob, '') + data
        elif self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], '') + data


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        n = self.next()
        return n >> 1 ^ -(n & 1)

    def part(self):
        n = self.next()
        self.at += n
        return self.data[self.at - n:self.at]


def differences(data, n):
    r, last, out = Numbers(data), 0, []
    for _ in range(n):
        last = (last + r.signed()) % 2 ** 64
        out.append(last)
    assert r.at == len(data)
    return out


def events_of(index, data):
    """The events of a chunk, as tuples."""
    r = Numbers(data)
    n = r.next()
    columns = [Numbers(r.part()) for _ in range(6)]
    strings = []
    for _ in range(r.next()):
        flag = r.next()
        strings.append((flag, r.part().decode('utf-8')))
    site = [0] * n
    now, heads, following = 0, [], {}
    for i in range(n):
        now += columns[0].next()
        site[i] = columns[1].next()
        track = index['tracks'][columns[2].next()]
        ring = track[6], track[7]
        number = following.get(ring, 0) + columns[5].signed()
        following[ring] = number + 1
        heads.append((now, track, number))
    args = {}
    for _ in range(r.next()):
        s = r.next()
        count = site.count(s)
        args[s] = [differences(r.part(), count) for _ in index['sites'][s][9]]
    assert r.at == len(data), 'bytes behind a chunk'
    used = {}
    for i, s in enumerate(site):
        k = used[s] = used.get(s, -1) + 1
        values = []
        for (name, kind), column in zip(index['sites'][s][9], args[s]):
            word = column[k]
            values.append((name, kind, strings[word] if kind in 'sk' else word))
        yield *heads[i], index['sites'][s], values


def same_value(kind, value, said):
    """A packed argument against what the JSON has."""
    if kind == 'k':
        return True
    if kind == 's':
        flag, text = value
        if flag == 2:
            return said is None
        # Bytes that are no text are told in different ways: \xNN here, U+FFFD there.
        return '\\x' in text or said == text + ('...' if flag == 1 else '')
    if kind == 'p':
        return int(said, 0) == value
    if kind == 'f':
        real = struct.unpack('<d', struct.pack('<Q', value))[0]
        return real == float(said) or real != real
    signed = value - 2 ** 64 if kind == 'i' and value >= 2 ** 63 else value
    return int(said) == signed


def main():
    page = Page()
    text = open(sys.argv[1], encoding='utf-8').read()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    assert page.scripts == 2, 'scripts' # what the worker has too, and the rest
    assert len(page.text['script'].encode()) < 150000, len(page.text['script'].encode())
    raw = {name: zlib.decompress(base64.b64decode(blob, validate=True)) for name, blob in page.blobs.items()}
    index = json.loads(raw['index'])
    begin = int(index['begin']) + int(index['from'])
    told = [json.loads(line) for line in open(sys.argv[2], encoding='utf-8')]
    n = 0
    for k in range(len(index['chunks'])):
        for time, track, number, site, values in events_of(index, raw[f'c{k}']):
            event = told[n]
            assert time + begin == event['ts_ns'], (n, time + begin, event)
            want = [event[key] for key in ('tid', 'pid', 'cpu', 'index')]
            assert [track[0], track[1], track[6], number] == want, (n, track, number, event)
            assert site[13] == event.get('module', site[13]), (n, site, event)
            assert site[0].split(':')[-1] == str(event['line']) and site[4] == event['line'], (n, site, event)
            for name, kind, value in values:
                assert same_value(kind, value, event['args'][name]), (n, name, value, event)
            n += 1
    assert n == len(told) == index['events'], (n, len(told), index['events'])
    print(n, 'events', round(len(text.encode()) / max(1, n), 2), 'bytes each, title', page.text['title'].strip())


main()
