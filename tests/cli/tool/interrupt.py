# SPDX-License-Identifier: BSD-2-Clause
"""^C in each command that reads or draws: status 130 as a shell has it, nothing left behind, the line of progress gone.
interrupt.py KTR TRACE FOLDER"""
import os
import sys
import time

from terminal import Terminal

ktr, trace, folder = sys.argv[1:]
failed = 0
GONE = b'\r\x1b[K'


def fail(text):
    global failed
    failed = 1
    print('FAILED:', text)


def files():
    return sorted(os.listdir(folder))


def interrupted(what, argv, ready, status=130, key=b'\x03', tries=5, **environment):
    """Runs it, sends the key when ready(terminal) holds. One that was quicker runs again."""
    before = files()
    for _ in range(tries):
        t = Terminal(ktr, *argv, cwd=folder, **environment)
        if t.until(lambda: ready(t)):
            t.send(key)
        got = t.status()
        if got == status:
            break
        if got == 0:
            for name in files():
                if name not in before:
                    os.system("rm -rf '%s/%s'" % (folder, name))
    if got != status:
        fail('%s: status %d instead of %d: %r' % (what, got, status, t.seen[-300:]))
    if files() != before:
        fail('%s left %s' % (what, sorted(set(files()) - set(before))))
    return t.seen


def ended(pid):
    """A process that is no more, or that nobody has asked after."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            if open('/proc/%d/stat' % pid).read().split()[2] == 'Z':
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def more_than(before):
    return lambda t: len(files()) > before


def progress(t):
    return b' %, ' in t.seen and b' left' in t.seen


n = len(files())
# Long enough for a line of progress, which goes.
seen = interrupted('json', ['json', trace, '-o', 'x.json'], progress)
if GONE not in seen:
    fail('the line of progress stays: %r' % seen[-200:])
interrupted('dump', ['dump', trace, '-o', 'x.txt'], more_than(n))
interrupted('export', ['export', 'chrome', trace, '-o', 'x.json'], more_than(n))
interrupted('cut', ['cut', trace, '-o', 'x.ktr'], more_than(n))
interrupted('merge', ['merge', trace, trace, '-o', 'x.ktr'], more_than(n))

# gnuplot that does not end; it has drawn half of a picture. It may not outlive ktr.
os.mkdir(folder + '/bin')
with open(folder + '/bin/gnuplot', 'w') as script:
    script.write('#!/bin/sh\ntrap "" INT\nhead -c 1000000 /dev/zero\necho $$ >"%s/bin/pid"\nexec sleep 1000\n' % folder)
os.chmod(folder + '/bin/gnuplot', 0o755)
path = folder + '/bin:' + os.environ['PATH']
drawing = lambda t: os.path.exists(folder + '/bin/pid') and b'drawing' in t.seen
for argv in (['plot', 'rate', trace, '-o', 'x.png'], ['timeline', trace, '-o', 'x.png']):
    seen = interrupted('gnuplot of ' + argv[0], argv, drawing, PATH=path)
    if GONE not in seen:
        fail('the line of progress stays: %r' % seen[-200:])
    pid = int(open(folder + '/bin/pid').read())
    os.unlink(folder + '/bin/pid')
    if not ended(pid):
        fail('gnuplot lives on')
        os.kill(pid, 9)

# A pager shows what it has got, and its user ends it.
with open(folder + '/bin/page', 'w') as script:
    script.write('#!/bin/sh\ntrap "" INT\nhead -n 3\necho PAGING\ncat >/dev/null\necho PAGED\n')
os.chmod(folder + '/bin/page', 0o755)
seen = interrupted('dump in a pager', ['dump', trace], lambda t: b'PAGING' in t.seen, PAGER=folder + '/bin/page')
if b'PAGED' not in seen:
    fail('the pager was not waited for: %r' % seen[-200:])

# What was there keeps its content, and what ends well leaves no line behind.
with open(folder + '/kept', 'w') as kept:
    kept.write('as it was\n')
n = len(files())
interrupted('dump over a file', ['dump', trace, '-o', 'kept'], more_than(n))
if open(folder + '/kept').read() != 'as it was\n':
    fail('the file that was there has been changed')
t = Terminal(ktr, 'dump', '--head', '10', trace, '-o', 'kept', cwd=folder)
if t.status() != 0 or t.seen:
    fail('a short one says %r' % t.seen)
sys.exit(failed)
