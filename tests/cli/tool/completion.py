# SPDX-License-Identifier: BSD-2-Clause
"""Tab in bash, zsh and fish. completion.py FOLDER: bin/ktr in it prints what it is given, but for `ktr complete`."""
import os
import shutil
import sys

import terminal
from terminal import Terminal

folder, pid = sys.argv[1:]
failed = 0
# What is typed before tab and return, and the last argument that comes of it.
LINES = [
    ('ktr plot lat', 'latency'),
    ('ktr plot latency --group lo', 'lock wait'),
    ('ktr plot latency --span req', 'request'),
    ('ktr timeline -g wor', 'worker'),
    ('ktr export chro', 'chrome'),
    ('ktr report --histo', '--histogram'),
    ('ktr dump --color nev', 'never'),
    ('ktr run -m sched,mall', 'sched,malloc'),
    ('ktr plot scatter --site spans_flood.c:23', 'spans_flood.c:23'),
    ('ktr dump -s liv', 'live'),
    ('ktr dump -p ' + pid[:-1], pid),
    ('ktr probe enab', 'enable'),
    ('ktr fsck oth', 'other.txt'),
    ('ktrdump --outp', '--output'),
]
SHELLS = {
    'bash': (['bash', '--norc', '--noprofile', '-i'], 'source ./bash; PS1="RE""ADY "'),
    'zsh': (['zsh', '-f', '-i'],
            'fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; PS1="RE""ADY "'),
    'fish': (['fish', '--no-config', '-i'], 'source ./fish; function fish_prompt; echo "RE""ADY "; end'),
}

for shell, (argv, setup) in SHELLS.items():
    if not shutil.which(shell):
        print('skipped: no', shell)
        continue
    t = Terminal(*argv, cwd=folder, HOME=folder, PATH=folder + '/bin:' + os.environ['PATH'])
    t.send(setup.encode() + b'\r')
    if not t.shows(b'READY'):
        failed = 1
        print('FAILED: %s shows no prompt: %r' % (shell, t.seen[-300:]))
        continue
    for typed, wanted in LINES:
        at = len(t.seen)
        t.send(typed.encode() + b'\t')
        # The shell asks ktr, whose answer has come when the last line of the log is of this one.
        t.until(lambda: os.path.exists(folder + '/asked'))
        t.send(b'\r')
        if not t.shows(b'GOT[' + wanted.encode() + b']', at):
            failed = 1
            print('FAILED: %s: %r gives no %r: %r' % (shell, typed, wanted, t.seen[at:]))
            t.send(b'\x03')
        os.path.exists(folder + '/asked') and os.unlink(folder + '/asked')
    t.send(b'exit\r')
    t.status()
sys.exit(failed)
