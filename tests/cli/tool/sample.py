# SPDX-License-Identifier: BSD-2-Clause
"""A reader of sample(1)'s reports, written from what these are like on macOS, and what has to hold of one of
tests/programs/tool/stacks.c.

	sample.py REPORT [KNOWN]		KNOWN: it is of that program, and each chain of calls is known"""
import collections
import re
import sys

text = open(sys.argv[1]).read()
bad = []


def section(title, end):
    at = text.index('\n' + title + '\n') + len(title) + 2
    return text[at:text.index(end, at - 1)].splitlines()


head = re.match(r'Analysis of sampling (.+) \(pid (\d+)\) every ([\d.]+) milliseconds?\n', text)
fields = dict(re.findall(r'^([A-Z][A-Za-z/ ]+): +(\S.*)$', text[:text.index('\n----\n')], re.M))
for name in ('Process', 'Path', 'Load Address', 'Identifier', 'Version', 'Code Type', 'Parent Process', 'Date/Time',
             'Launch Time', 'OS Version', 'Report Version', 'Analysis Tool'):
    if name not in fields:
        bad.append('the head has no ' + name)
if not head or fields.get('Process') != '%s [%s]' % head.groups()[:2] or fields.get('Report Version') != '7':
    bad.append('the head: %s %s' % (head, fields))

Node = collections.namedtuple('Node', 'count name object offsets addresses place children')
LINE = re.compile(r'^    ((?:[ +!:|] )*)(\d+) (.*)$')
CALL = re.compile(r'^(.+?)  \(in (.+?)\)(?: \+ ([\d,.]+)| load address 0x[0-9a-f]+ \+ 0x[0-9a-f]+)  \[([0-9a-fx,.]+)\](?:  (.+:\d+))?$')
roots, path = [], []
for line in section('Call graph:', '\n\nTotal number in stack (recursive counted multiple, when >=5):\n'):
    m = LINE.match(line)
    if not m:
        bad.append('no line of a call graph: ' + line)
        continue
    depth = len(m[1]) // 2
    call = CALL.match(m[3]) if depth else None
    if depth and not call and not m[3].startswith('???'):
        bad.append('no call: ' + line)
    node = Node(int(m[2]), *(call.groups() if call else (m[3], None, None, None, None)), [])
    if depth > len(path):
        bad.append('a callee without a caller: ' + line)
    del path[depth:]
    (path[-1].children if path else roots).append(node)
    path.append(node)

tops, places = collections.Counter(), collections.Counter()


def walk(node, depth):
    below = sum(child.count for child in node.children)
    counts = [child.count for child in node.children]
    if below > node.count or (not depth and below != node.count):
        bad.append('%s: %d of %d' % (node.name, below, node.count))
    if counts != sorted(counts, reverse=True):
        bad.append('%s: the heaviest does not come first: %s' % (node.name, counts))
    if depth:
        key = '%s  (in %s)' % (node.name, node.object) if node.object else node.name
        tops[key] += node.count - below
        places[key] += 1
    for child in node.children:
        walk(child, depth + 1)


for root in roots:
    if not re.match(r'Thread_\d+: ', root.name):
        bad.append('no thread: ' + root.name)
    walk(root, 0)


def table(lines, pattern, of):
    told = []
    for line in lines:
        m = re.match(pattern, line)
        if not m:
            bad.append('no row: ' + line)
        else:
            told.append((m['name'], int(m['n'])))
    # Functions of one name may be several.
    sums = collections.Counter()
    for name, n in told:
        sums[name] += n
    for name, n in of.items():
        if n >= 5 and sums.get(name, 0) > n or n >= 5 and '???' not in name and sums.get(name) != n:
            bad.append('%s: %s, and the graph has %d' % (name, sums.get(name), n))
    if [n for _, n in told] != sorted((n for _, n in told), reverse=True):
        bad.append('rows out of order')


table(section('Total number in stack (recursive counted multiple, when >=5):', '\n\nSort by top of stack'),
      r'^        (?P<n>\d+) +(?P<name>.+)$', places)
table(section('Sort by top of stack, same collapsed (when >= 5):', '\n\nBinary Images:\n'),
      r'^        (?P<name>.+?)        (?P<n>\d+)$', tops)
images = [re.match(r' +0x([0-9a-f]+) - +0x([0-9a-f]+) (.+?) \(.*?\) (.+)$', line) for line in
          text[text.index('\nBinary Images:\n') + 16:].splitlines()]
if not images or None in images:
    bad.append('images')

if len(sys.argv) > 2:
    chains = {}
    for root in roots:
        name, chain, node = root.name.split(': ')[1], [], root
        while node.children:
            node = node.children[0]
            chain.append(node.name)
        chains[name] = [c for c in chain if c in ('outer', 'middle') or c.startswith('wait_')]
    for kind in ('futex', 'read', 'sleep', 'poll', 'signal', 'run', 'handler'):
        want = ['outer', 'middle'] + (['wait_raise', 'wait_handler'] if kind == 'handler' else ['wait_' + kind])
        if chains.get(kind) != want:
            bad.append('%s: %s' % (kind, chains.get(kind)))
    counts = {root.count for root in roots}
    if len(roots) != 8 or len(counts) != 1:
        bad.append('%d threads, samples %s' % (len(roots), counts))

for line in bad:
    print('FAILED: ' + line)
sys.exit(1 if bad else 0)
