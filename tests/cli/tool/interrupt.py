# SPDX-License-Identifier: BSD-2-Clause
"""^C in each command that reads or draws: status 130 as a shell has it, nothing left behind, the line of progress gone.
interrupt.py KTR TRACE FOLDER"""
import os
import signal
import sys
import time

import terminal
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


def interrupted(what, argv, ready, status=130, come=lambda t: t.send(b'\x03'), released=None, **environment):
    """
    Runs it and has ^C, or what else is to come, come where ready(terminal) holds: it stands still there. released()
    then lets go on what the command waits for. One that was quicker all the same runs again.
    """
    before = files()
    for _ in range(30):
        t = Terminal(ktr, *argv, cwd=folder, **environment)
        stands = t.stop_when(lambda: ready(t))
        if stands:
            come(t)
            t.go_on()
            if released:
                released(t)
        got = t.status()
        if stands:
            break
        for name in set(files()) - set(before):
            os.system("rm -rf '%s/%s'" % (folder, name))
    if got != status:
        fail('%s: status %d instead of %d: %r' % (what, got, status, t.seen[-300:]))
    if files() != before:
        fail('%s left %s' % (what, sorted(set(files()) - set(before))))
    return t.seen


def ended(pid):
    """A process that is no more, or that nobody has asked after."""
    end = time.monotonic() + terminal.BOUND
    while time.monotonic() < end:
        try:
            if open('/proc/%d/stat' % pid).read().split()[2] == 'Z':
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def begun(name):
    """It writes, and has not come to the end: what is there has a name of another kind."""
    before = files()
    return lambda t: files() != before and (name in before or name not in files())


def progress(t):
    return b' %, ' in t.seen and b' left' in t.seen


# Who has waited for a second sees how far it is: one that stands still from its first bytes on waits for long enough.
waits = set()


def waited(t):
    if not begun_json(t) or progress(t):
        return progress(t)
    if t not in waits:
        waits.add(t)
        time.sleep(1.1)
    return False


begun_json = begun('x.json')
seen = interrupted('json', ['json', trace, '-o', 'x.json'], waited)
if GONE not in seen:
    fail('the line of progress stays: %r' % seen[-200:])
interrupted('dump', ['dump', trace, '-o', 'x.txt'], begun('x.txt'))
interrupted('export', ['export', 'chrome', trace, '-o', 'x.json'], begun('x.json'))
interrupted('cut', ['cut', trace, '-o', 'x.ktr'], begun('x.ktr'))
interrupted('merge', ['merge', trace, trace, '-o', 'x.ktr'], begun('x.ktr'))

# Where stderr is no terminal there is no progress; SIGTERM cleans up, too.
said = folder + '/../said'
interrupted('json, by SIGTERM', ['json', trace, '-o', 'x.json'], begun('x.json'), status=143,
            come=lambda t: os.kill(t.pid, signal.SIGTERM), stderr=said)
if os.path.getsize(said):
    fail('what is no terminal is told %r' % open(said).read())

# gnuplot that does not end; it has drawn half of a picture. It may not outlive ktr.
os.mkdir(folder + '/bin')
with open(folder + '/bin/gnuplot', 'w') as script:
    script.write('#!/bin/sh\ntrap "" INT\nhead -c 1000000 /dev/zero\necho $$ >"%s/bin/pid"\nexec sleep 1000\n' % folder)
os.chmod(folder + '/bin/gnuplot', 0o755)
path = folder + '/bin:' + os.environ['PATH']


def drawing(t):
    return b'drawing' in t.seen and os.path.exists(folder + '/bin/pid') and os.path.getsize(folder + '/bin/pid')


for argv in (['plot', 'rate', trace, '-o', 'x.png'], ['timeline', trace, '-o', 'x.png']):
    seen = interrupted('gnuplot of ' + argv[0], argv, drawing, PATH=path)
    if GONE not in seen:
        fail('the line of progress stays: %r' % seen[-200:])
    pid = int(open(folder + '/bin/pid').read())
    os.unlink(folder + '/bin/pid')
    if not ended(pid):
        fail('gnuplot lives on')
        os.kill(pid, 9)

# A pager shows what it has got, and its user ends it: it reads on when it is told to. The pipe holds less than the
# dump has, so that the dump waits for it.
with open(folder + '/bin/page', 'w') as script:
    script.write('#!/bin/sh\ntrap "" INT\necho >"%s/bin/begun"\nhead -n 3\necho PAGING\n'
                 'read go <"%s/bin/go"\ncat >/dev/null\necho PAGED\n' % (folder, folder))
os.chmod(folder + '/bin/page', 0o755)
os.mkfifo(folder + '/bin/go')


def tell(fifo):
    """A line for who reads it; False while nobody does."""
    try:
        fd = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    os.write(fd, b'\n')
    os.close(fd)
    return True


def page_on(t):
    """It waits for the pager, which still waits for its user."""
    t.read(0.1)
    if b'PAGED' in t.seen:
        fail('the pager goes on by itself')
    if not t.until(lambda: tell(folder + '/bin/go')):
        fail('the pager does not read')


seen = interrupted('dump in a pager', ['dump', trace], lambda t: b'PAGING' in t.seen, released=page_on,
                   PAGER=folder + '/bin/page')
if b'PAGED' not in seen:
    fail('the pager was not waited for: %r' % seen[-200:])

def has_child(t):
    for name in os.listdir('/proc'):
        try:
            if name.isdigit() and open('/proc/%s/stat' % name).read().rsplit(')')[-1].split()[1] == str(t.pid):
                return True
        except OSError:
            pass
    return False


def come_to_pager(t):
    """A pager that begins too early has the time to do so."""
    for _ in range(50):
        if os.path.exists(folder + '/bin/begun'):
            break
        time.sleep(0.01)
    t.send(b'\x03')


def page_on_if_any(t):
    """A report that had come to its end when it was stopped."""
    t.read(0.1)
    if b'PAGING' in t.seen:
        t.until(lambda: tell(folder + '/bin/go'))


# One that has got nothing is not waited for: it has nothing to show, and less(1) would want a key on an empty screen.
for _ in range(30):
    if os.path.exists(folder + '/bin/begun'):
        os.unlink(folder + '/bin/begun')
    seen = interrupted('report before its pager', ['report', trace], has_child, come=come_to_pager,
                       released=page_on_if_any, PAGER=folder + '/bin/page')
    if b'PAGING' not in seen:
        break
else:
    fail('the pager has begun: %r' % seen[-200:])

# What was there keeps its content, and what ends well leaves no line behind.
with open(folder + '/kept', 'w') as kept:
    kept.write('as it was\n')
interrupted('dump over a file', ['dump', trace, '-o', 'kept'], begun('kept'))
if open(folder + '/kept').read() != 'as it was\n':
    fail('the file that was there has been changed')
t = Terminal(ktr, 'dump', '--head', '10', trace, '-o', 'kept', cwd=folder)
if t.status() != 0 or t.seen:
    fail('a short one says %r' % t.seen)
sys.exit(failed)
