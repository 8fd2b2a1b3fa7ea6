#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads the legends of whole, late, early, group (.svg, .rgb, .txt), states.svg, rate.svg, latency.svg and page.html and
the frames of flame.svg and late-flame.html, and says where a name has two colours, or two letters."""
import base64
import json
import re
import sys
import zlib

from pixels import legend as legend_of_svg


def rgb(c):
    return c >> 16, c >> 8 & 255, c & 255


def legend_of_terminal(path):
    """Swatches of 24-bit colours, and letters where there are none; idle is a low block."""
    text = open(path, encoding='utf-8').read()
    found = {}
    for ground, rgb, word in re.findall(
            r'\x1b\[0;(?:38;2;[\d;]+;)?(38|48);2;([\d;]+)m[ ▂]\x1b\[0m ((?:[^\s\x1b]| (?! ))+)', text):
        # The last cell of a row stands before what is said of the row, and is not in the legend.
        if word.strip() and not word.endswith('%'):
            found[word] = tuple(map(int, rgb.split(';')))
    return found


def letters_of(path):
    found = {}
    for line in open(path, encoding='utf-8'):
        for letter, word in re.findall(r'(?:  |^\w+ +)([A-Za-z0-9.:-]) ((?:[a-z]+ ?)+)(?=$|  )', line):
            if line.startswith(('first', 'second', '  ')) and '%' not in line:
                found.setdefault((line.split()[0] if not line.startswith(' ') else group, word.strip()), letter)
        group = line.split()[0] if line[:1].strip() else 'first'
    return found


def legends_of_page(path):
    blob = re.search(r'<script[^>]* id="index"[^>]*>([^<]*)<', open(path, encoding='utf-8').read()).group(1)
    index = json.loads(zlib.decompress(base64.b64decode(blob)))
    shown = {label for legend in index['views']['ids']['legends'] for label in legend[2]}
    return {index['labels'][i]: rgb(c) for i, c in enumerate(index['colours']) if i in shown}


def frames_of_svg(path):
    """Those within the outermost one, which stands for all; the ink of what is written on them."""
    found = {}
    for name, colour in re.findall(r'<title>(.*?): [^<]*</title><rect [^>]*fill="#(\w+)"', open(path, encoding='utf-8').read())[1:]:
        assert found.setdefault(name, rgb(int(colour, 16))) == rgb(int(colour, 16)), f'{path}: two colours of {name}'
    return found


def frames_of_page(path):
    data = json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', open(path, encoding='utf-8').read(), re.S)[1])
    return {data['names'][name]: rgb(data['colours'][name]) for _, name, *_ in data['nodes'][1:]}


def agree(what, told):
    """told: name of the output to {word: colour}."""
    first = {}
    for output, found in told.items():
        for word, value in found.items():
            assert first.setdefault(word, (output, value))[1] == value, \
                f'{what} of "{word}": {first[word]}, but {value} in {output}'
    return first


n = int(sys.argv[1])
parts = ['whole', 'late', 'early', 'group']
colours = {part + '.svg': legend_of_svg(part + '.svg') for part in parts + ['states', 'rate', 'latency']}
colours['flame.svg'], colours['late-flame.html'] = frames_of_svg('flame.svg'), frames_of_page('late-flame.html')
colours['page.html'] = legends_of_page('page.html')
names = {word for word, _ in agree('colour', colours).items()}
for output, least in ('whole.svg', n), ('states.svg', n), ('page.html', n), ('group.svg', n), ('late.svg', 2), ('early.svg', 2), \
        ('rate.svg', 4), ('latency.svg', 5), ('flame.svg', 5), ('late-flame.html', 5):
    assert len(colours[output]) >= least, f'{output} lists {sorted(colours[output])} only'
# A name has its colour from the spans and the classes of the trace, if there are such, whatever state has come before.
spans = set(colours['latency.svg'])
assert {'write', 'read', 'idle', 'alone'} < spans and {'gen', 'net', 'lock', 'vm'} <= set(colours['rate.svg']), colours
for kind in 'latency.svg', 'rate.svg':
    assert len(set(colours[kind].values())) == len(colours[kind]), f'{kind}: two names of one colour: {colours[kind]}'
states = {word: value[1] for word, value in agree('colour', {'states.svg': colours['states.svg']}).items() if word not in spans}
if n <= 12:
    assert len(set(states.values())) == len(states), f'two names of one colour: {states}'

# On a terminal idle is the grey that is seen on a dark and on a light ground.
for part in parts:
    colours[part + '.rgb'] = legend_of_terminal(part + '.rgb')
    idle = colours[part + '.rgb'].pop('idle', None)
    assert idle in (None, (0x99, 0x99, 0x99)), f'{part}.rgb: idle is {idle}'
    assert len(colours[part + '.rgb']) >= 2, f'{part}.rgb: {colours[part + ".rgb"]}'
agree('colour', colours)
letters = {part + '.txt': letters_of(part + '.txt') for part in parts}
assert all(len(found) >= 2 for found in letters.values()), letters
agree('letter', letters)
