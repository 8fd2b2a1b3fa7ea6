# SPDX-License-Identifier: BSD-2-Clause
"""What must be seen of the traces of nest.sh: each call where tests/programs/show/nest.c makes it."""
import os
import re
import sys
import xml.etree.ElementTree as ET

failed = 0
# (thread, level, name, from, to), in milliseconds. What longjmp left ends when its frame is used again.
KNOWN = [
    ('nest', 0, 'main', 0, 1000),
    ('nest', 1, 'read_all', 100, 300),
    ('nest', 1, 'read_all', 300, 500),
    ('nest', 2, 'parse', 350, 450),
    ('nest', 1, 'attempt', 500, 600),
    ('nest', 2, 'throws', 550, 600),
    ('nest', 1, 'attempt', 600, 700),
    ('worker', 0, 'work', 700, 900),
    ('worker', 1, 'write', 800, 900),
]


def check(holds, text):
    global failed
    if not holds:
        failed = 1
        print(text[:2500])


def read(name):
    return open(name, encoding='utf-8').read()


def deep(levels, shown):
    """Recursion: each level begins 10 ms later, and all end together."""
    return [('nest', i, 'level', 10 * i, 10 * levels) for i in range(min(levels, shown))]


# ---- the terminal ----

def lines_of(text, heading='scope'):
    """{thread: [what its levels show]} of the lines under the heading."""
    threads, levels = {}, None
    lines = text.splitlines()
    for line in lines[lines.index(heading) + 1:]:
        if not line.startswith(' '):
            break
        name = re.match(r'  (\w+)(?: \(|…)', line)
        if name:
            levels = threads.setdefault(name[1], [])
        elif line.strip().startswith('events lost') or levels is None:
            break
        levels.append(line)
    return threads


def bars(line, at):
    """(name, first column, end) of the bars with names, from the column at which time begins."""
    return [(m[1].rstrip('-'), m.start() - at, m.end() - at) for m in re.finditer(r'\[([^\[\]]*)\]', line)]


def terminal(name, calls, begin, end):
    text = read(name)
    width = int(re.search(r'\d+$', name)[0])
    at = text.splitlines()[[i for i, l in enumerate(text.splitlines()) if '┬' in l][0]].index('┬')
    columns = text.splitlines()[[i for i, l in enumerate(text.splitlines()) if '┬' in l][0]].rstrip()
    per_ms = (len(columns) - at) / (end - begin)
    threads = lines_of(text)
    for line in text.splitlines():
        check(len(line) <= width, '%s: %d columns: %r' % (name, len(line), line))
    for thread, level, call, first, last in calls:
        first, last = max(first, begin), min(last, end)
        if first >= last:
            continue
        x0, x1 = (first - begin) * per_ms, (last - begin) * per_ms
        check(level < len(threads.get(thread, [])), '%s: %s has no level %d:\n%s' % (name, thread, level, text))
        if level >= len(threads.get(thread, [])) or x1 - x0 < 8:
            continue
        seen = bars(threads[thread][level], at)
        # Names are cut to fit.
        check([b for b in seen if abs(b[1] - x0) <= 1 and abs(b[2] - x1) <= 1 and
               (b[0] == call or ('…' in b[0] and b[0][0] == call[0]))],
              '%s: no %s on level %d from %d to %d: %s\n%s' % (name, call, level, x0, x1, seen, text))
    for thread, levels in threads.items():
        want = 1 + max(c[1] for c in calls if c[0] == thread and c[3] < end and c[4] > begin)
        check(len(levels) == want, '%s: %s has %d levels, not %d:\n%s' % (name, thread, len(levels), want, text))


# ---- pictures ----

SVG = '{http://www.w3.org/2000/svg}'


def shapes(name):
    """Boxes (colour, x0, x1, y0, y1) and texts (text, x, y)."""
    boxes, texts = [], []
    for box in re.finditer(r"fill = '(rgb\([\d, ]+\))' points = '([\d., ]+)'", read(name)):
        points = [tuple(map(float, p.split(','))) for p in box[2].split()]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        boxes.append((box[1], min(xs), max(xs), min(ys), max(ys)))
    for group in ET.parse(name).iter(SVG + 'g'):
        move = re.match(r'translate\(([\d.]+),([\d.]+)\)', group.get('transform') or '')
        text = ''.join(''.join(t.itertext()) for t in group.findall(SVG + 'text')).strip().replace('\u200e', '')
        if move and text:
            texts.append((text, float(move[1]), float(move[2])))
    return boxes, texts


def picture(name, calls, begin, end, n_lines=None):
    """Each call's box is in its place, in its name's colour, in its parent's box, and apart from its neighbour."""
    boxes, texts = shapes(name)
    root = ET.parse(name).getroot()
    width = float(root.get('viewBox').split()[2]) if root.get('viewBox') else 1200
    unit = width / 1200
    left, right = 200 * unit, 980 * unit
    x_of = lambda ms: left + (ms - begin) / (end - begin) * (right - left)
    threads = [(t[0].split(' ')[0], t[2]) for t in texts if re.fullmatch(r'\S+ \(\d+\)', t[0]) and t[1] < left]
    ys = sorted({round((b[3] + b[4]) / 2) for b in boxes if left - 2 <= b[1] <= right + 2 and b[2] - b[1] > 3})
    place = {}
    for thread, level, call, first, last in calls:
        first, last = max(first, begin), min(last, end)
        if first >= last:
            continue
        top = dict(threads).get(thread)
        check(top is not None, '%s: no track of %s: %s' % (name, thread, threads))
        if top is None:
            return
        at = [b for b in boxes if abs(b[1] - x_of(first)) <= 2.5 * unit and abs(b[2] - x_of(last)) <= 2.5 * unit and
              b[4] > top - 12]
        # The level'th of those that begin where it does, or by its parent's place.
        parent = [place[c] for c in place if c[0] == thread and c[1] == level - 1 and c[3] <= first and last <= c[4]]
        floor = parent[-1][4] if parent else top - 18
        at = sorted((b for b in at if b[3] >= floor - 2), key=lambda b: b[3])
        check(at, '%s: no box of %s, level %d, at %.0f to %.0f below %.0f' %
              (name, call, level, x_of(first), x_of(last), floor))
        if not at:
            return
        place[thread, level, call, first, last] = at[0]
        if parent:
            check(at[0][3] - floor < at[0][4] - at[0][3], '%s: %s is not right below its caller' % (name, call))
        inside = [t for t in texts if at[0][1] <= t[1] <= at[0][2] and at[0][3] <= t[2] - 3 <= at[0][4]]
        if at[0][2] - at[0][1] > 12 * len(call):
            check([t for t in inside if t[0] == call], '%s: no name in the box of %s: %s' % (name, call, inside))
    colours = {}
    for key, box in place.items():
        colours.setdefault(key[2], set()).add(box[0])
    check(all(len(c) == 1 for c in colours.values()), '%s: one name, several colours: %s' % (name, colours))
    check(len({min(c) for c in colours.values()}) == len(colours), '%s: one colour, several names: %s' % (name, colours))
    for a in place.values():
        for b in place.values():
            if a is not b and abs(a[3] - b[3]) < 1 and a[1] < b[1]:
                check(a[2] < b[1], '%s: no border between %s and %s' % (name, a, b))
    if n_lines:
        check(len(ys) >= n_lines, '%s: %d rows of boxes' % (name, len(ys)))


for width in 80, 120:
    terminal('known.%d' % width, KNOWN, 0, 1000)
    terminal('deep31.%d' % width, deep(31, 64), 0, 310)
    terminal('deep70.%d' % width, deep(70, 64), 0, 700)
    rgb = read('known.%d.rgb' % width)
    for call in 'main', 'work':
        check(re.search(r'48;2;[\d;]+m %s ' % call, rgb), 'known.%d.rgb: no %s on its colour:\n%s' % (width, call, rgb))
terminal('part.120', KNOWN, 400, 800)
said = '6 scopes lie deeper than 64 levels and are left out'
check(said in ' '.join(read('deep70.120').split()), 'deep70: nothing is said of what is cut:\n' + read('deep70.120'))
check('deeper than' not in read('deep31.120'), 'deep31: something is said to be cut')
# By threads: the levels are below the thread's events; by names there is a row for each, as for other ids.
by_threads = [line.split()[0] for line in read('known.threads').splitlines() if re.match(r' {2,4}\w', line)]
check(by_threads == ['nest', 'scope', 'worker', 'scope'], 'rows threads: %s\n%s' % (by_threads, read('known.threads')))
by_names = [line.split()[0] for line in read('known.names').splitlines() if re.match(r'  \w', line)]
check(by_names == ['attempt', 'main', 'parse', 'read_all', 'throws', 'work', 'write'],
      'rows names: %s\n%s' % (by_names, read('known.names')))
if os.path.exists('known.svg'):
    picture('known.svg', KNOWN, 0, 1000)
    picture('part.svg', KNOWN, 400, 800)
    picture('deep31.svg', deep(31, 64), 0, 310, 31)
    picture('deep70.svg', deep(70, 64), 0, 700, 64)
    check(said in read('deep70.svg'), 'deep70.svg: nothing is said of what is cut')
    # Where lines are few the outer levels have them.
    lines = re.search(r'(\d+) of 31 rows have a line', read('low.svg'))
    check(lines and int(lines[1]) < 31, 'low.svg: nothing is said of lines')
    if lines:
        picture('low.svg', deep(31, int(lines[1])), 0, 310)
        check('of them, %d deeper levels of scopes have none' % (31 - int(lines[1])) in read('low.svg'),
              'low.svg: nothing is said of levels')
sys.exit(failed)
