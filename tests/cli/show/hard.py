# SPDX-License-Identifier: BSD-2-Clause
"""What must be seen of each of the traces of hard.sh. hard.py TRACE..."""
import os
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET

import pixels

failed = 0


def check(holds, text):
    global failed
    if not holds:
        failed = 1
        print(text[:1500])


def read(name):
    return open(name, encoding='utf-8').read()


def columns(line):
    return sum(0 if unicodedata.combining(c) or c == '\u200e' else 2 if unicodedata.east_asian_width(c) in 'WF' else 1
               for c in line)


# What a picture says, by trace; "*" of all but none. Regular expressions.
SAID = {
    'threads': ['thread 000'],
    'rows': ['row 217', 'stuck'],
    'names': ['exchange', 'number one', 'number two'],
    'odd': ['עובד', 'عامل', 'marks', 'tablet', 'private', r'<b>'],
    'deep': ['scopes', 'level'],
    'numbers': ['small', 'large', 'double', '-7'],
    'day': ['24 h 00 min', r'\[h\]', 'running', r'running 0\.000\d+ %'],
    'flood': ['events were lost', r'lost \(\d'],
    'one': ['4 events'],
    'none': ['3 events'],
}
MORE = {'threads': [r'1\d\d more rows'], 'rows': [r'2\d\d more rows']}
for trace in sys.argv[1:]:
    for width in 80, 120, 200:
        for form in '', '.plain':
            for line in read('%s.%d%s' % (trace, width, form)).splitlines():
                check(columns(line) <= width, '%s: %d columns of %d: %r' % (trace, columns(line), width, line))
        check('\x1b' not in read('%s.%d' % (trace, width)), trace + ': colours where none are wanted')
        colours = set(re.findall(r'[34]8;2;(\d+;\d+;\d+)', read('%s.%d.rgb' % (trace, width))))
        # White and black are not seen on a ground of the same: nothing but what is written on a colour has them.
        check(colours - {'0;0;0', '255;255;255'}, trace + ': no colours where they are wanted')
    whole = read(trace + '.200')
    wanted = SAID[trace]
    for text in wanted:
        check(re.search(text, whole), '%s: no %r on 200 columns:\n%s' % (trace, text, whole))
    if not os.path.exists(trace + '.svg'):
        continue
    svg = '\n'.join(''.join(t.itertext()).strip() for t in ET.parse(trace + '.svg').iter('{http://www.w3.org/2000/svg}text'))
    svg = svg.replace('\u200e', '')
    check('\\xe2' not in whole + svg, trace + ': what joins emoji is escaped:\n' + whole)
    # A terminal is scrolled, a picture is not.
    for text in wanted + MORE.get(trace, []):
        check(re.search(text, svg), '%s: no %r in the SVG:\n%s' % (trace, text, svg))
    check(open(trace + '.png', 'rb').read(8) == b'\x89PNG\r\n\x1a\n' and os.path.getsize(trace + '.png') > 4000, trace + ': PNG')
    check(open(trace + '.pdf', 'rb').read(5) == b'%PDF-' and os.path.getsize(trace + '.pdf') > 2000, trace + ': PDF')
    # Bars of a state's colour where the state is: the colours of the legend are in the picture, too.
    if trace in ('threads', 'rows', 'names', 'odd', 'day', 'flood'):
        fills = re.findall(r"fill = '(rgb\([\d, ]+\))' points", read(trace + '.svg'))
        check(len(set(fills)) >= 2, trace + ': colours of the SVG: %s' % set(fills))

# A day: 24 marks of 10 ms, each in a column of its own, and 217 is marked on the terminal.
if os.path.exists('day.svg'):
    picture = read('day.svg')
    running = max(set(re.findall(r"fill = '(rgb\([\d, ]+\))' points", picture)), key=lambda c: (c != 'rgb(223, 223, 223)', c))
    check(picture.count("fill = '%s' points" % running) >= 24, 'day: fewer than 24 marks of ' + running)
check(read('day.200').count(':') >= 22, 'day: fewer than 22 cells with more than sleeping')
check(re.search(r'^> row 217 ', read('rows.120'), re.M), 'rows: 217 is not marked:\n' + read('rows.120'))
# What was lost before the first event was not lost since the boot.
check(re.search(r'flood: [0-9.]+ m?s, |hard: [0-9.]+ m?s, ', read('flood.200')), 'flood:\n' + read('flood.200'))
# Most of it is lost, how much is a matter of who has the CPU, and said to be.
share = re.search(r'lost \(([\d.]+) %\)', read('flood.200'))
check(share and float(share.group(1)) > 80, 'flood: ' + read('flood.200')[:400])
# Names: no two rows of one heading look alike.
for name in 'names.80', 'names.120', 'names.200':
    rows = [line.split()[0] for line in read(name).splitlines() if line.startswith('  ') and re.match(r'  \d\d\.', line)]
    check(len(rows) == 24 and len(set(rows)) == 12, '%s: %s' % (name, rows))
# What a row was in for 65 % of the time is one in half of the rows, another in the others, and does not look the same.
for name in 'names.120', 'names.200', 'names.svg':
    said = re.findall(r'wait[^<\n]* 6\d %', read(name)) if os.path.exists(name) else 6 * ['one', 'two']
    check(sorted(said.count(text) for text in set(said)) == [6, 6], '%s: %s' % (name, said))
if os.path.exists('names.svg'):
    rows = [''.join(t.itertext()).strip() for t in ET.parse('names.svg').iter('{http://www.w3.org/2000/svg}text')]
    rows = [text for text in rows if re.match(r'\d\d\.', text)]
    check(len(rows) == 24 and len(set(rows)) == 12, 'names.svg: %s' % rows)


# Pixels: rows lie from LEFT to RIGHT.
LEFT, RIGHT = 200, 980
WHITE, HATCHED = (255, 255, 255), (91, 91, 91)


def x_of(share):
    return LEFT + int(share * (RIGHT - LEFT))


def near(picture, x, top, bottom, colour):
    """Some pixels of a colour, in a column or beside it."""
    return sum(picture.column(at, top, bottom).count(colour) for at in range(x - 2, x + 3)) >= 3


def runs(pixels, colour):
    return sum(a == colour and b != colour for a, b in zip(pixels, pixels[1:] + [None]))


def check_pixels(trace):
    p, legend = pixels.Png(trace + '.png'), pixels.legend(trace + '.svg')
    check(p.empty() < 30, '%s: %d empty lines' % (trace, p.empty()))
    check({c for x in range(1196, 1200) for c in p.column(x, 0, 790 if p.height > 790 else p.height)} == {WHITE},
          trace + ': what is beside a row ends beyond the edge')
    if trace in ('threads', 'rows'):
        # How long the other threads take together is a matter of the machine: half of the picture is the first one's.
        colour, last = (legend['working'], x_of(0.5)) if trace == 'threads' else (legend['stuck'], 960)
        lines = [y for y in range(60, 660) if set(p.row(y, LEFT + 2, last)) == {colour}]
        check(5 <= len(lines) <= 25 and lines == list(range(lines[0], lines[-1] + 1)), '%s: %s' % (trace, lines))
        check(lines and p.at(22, lines[len(lines) // 2]) == (213, 94, 0), trace + ': the row that stands out is not marked')
        others = [y for y in range(60, 640) if y not in lines]
        check(trace == 'rows' or all(p.at(x, y) != colour for y in others for x in (300, 400, 500)), trace + ': the others')
        # All others are stuck in the fourth of twenty parts.
        check(trace == 'threads' or runs(p.column(x_of(3.5 / 20), 60, 660), colour) == 32, trace + ': stuck')
    elif trace == 'names':
        for part in range(20):
            one, two = (runs(p.column(x_of((part + 0.5) / 20), 60, 360), colour)
                        for text, colour in sorted(legend.items()) if text.startswith('waiting'))
            check((one, two) == (6, 6), 'names: %d and %d rows at part %d' % (one, two, part))
    elif trace == 'odd':
        # Eight rows, eight names, of which each row has another one.
        colours = {colour for text, colour in legend.items() if text != '1 open'}
        for part in range(20):
            seen = p.column(x_of((part + 0.5) / 20), 60, 350)
            check(len(colours) == 8 and [runs(seen, c) for c in colours] == 8 * [1], 'odd: part %d' % part)
        # No fragments of glyphs: between the rows nothing is but lines of the grid.
        check({c for x in (x_of(0.1), x_of(0.4), x_of(0.9)) for c in p.column(x, 345, 380)} == {WHITE}, 'odd: fragments')
    elif trace == 'deep':
        check(runs(p.column(600, 60, 680), legend['level']) == 31, 'deep: %d levels' % runs(p.column(600, 60, 680), legend['level']))
    elif trace == 'numbers':
        blue = (0, 114, 178)
        # double, large, small, each in its band: when they begin and how fast they go is a matter of the machine.
        bands = (110, 178), (178, 238), (238, 297)
        left, right = ([{y for x in columns for y, c in enumerate(p.column(x, *band)) if c == blue} for band in bands]
                       for columns in (range(LEFT, LEFT + 250, 3), range(RIGHT - 60, RIGHT - 2)))
        check(all(left) and all(right), 'numbers: not all have bars')
        # What is below zero is lower than all that is above.
        check(left[0] and right[0] and max(left[0]) > max(right[0]) + 8, 'numbers: nothing is below zero')
        check(right[1] and min(right[1]) + 20 < min(left[1]), 'numbers: large does not grow')
    elif trace == 'day':
        for hour in range(24):
            check(near(p, x_of(hour / 24), 60, 137, legend['running']), 'day: nothing at hour %d' % hour)
            check(not near(p, x_of((hour + 0.5) / 24), 60, 137, legend['running']), 'day: something at half past %d' % hour)
    elif trace == 'flood':
        # What was kept is seen, what was lost is hatched and has no state's colour.
        rows = [y for y in range(90, 155) if p.row(y, LEFT + 40, RIGHT).count(HATCHED) > 30]
        check(len(rows) > 25, 'flood: %d hatched lines' % len(rows))
        for state in 'reading', 'writing':
            n = [sum(c == legend[state] for c in p.column(x, 90, 155)) for x in range(LEFT, RIGHT)]
            check(0 < sum(k > 0 for k in n) < 400 and max(n) < 32, 'flood: %s in %d columns' % (state, sum(k > 0 for k in n)))
    elif trace in ('one', 'none'):
        marks = [x for x in range(LEFT - 1, RIGHT + 1) if p.column(x, 80, 150).count((96, 96, 96)) > 10]
        check(1 < len(marks) < 12 and marks[0] <= LEFT + 2 and marks[-1] >= RIGHT - 4, '%s: %s' % (trace, marks))


for trace in sys.argv[1:] if os.path.exists('day.png') else []:
    check_pixels(trace)
sys.exit(failed)
