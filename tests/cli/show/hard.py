# SPDX-License-Identifier: BSD-2-Clause
"""What must be seen of each of the traces of hard.sh. hard.py TRACE..."""
import os
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET

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
sys.exit(failed)
