# SPDX-License-Identifier: BSD-2-Clause
"""
    ktrace_filter.py KTR FULL   in a folder with lives: records of `ktr ktrace -t LETTERS` are those of that kind of a trace of
                            everything, thread by thread
"""
import collections
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ktrace  # noqa: E402
from strace_names import SIGNALS  # noqa: E402

KINDS = {'n': ktrace.NAMEI, 'i': ktrace.GENIO, 's': ktrace.PSIG, 't': ktrace.STRUCT, 'u': ktrace.USER}
KTR, FULL = sys.argv[1], sys.argv[2] == '1'
LIVES = [['forks', '5'], ['exec-thread'], ['threads', '5'], ['signals', '20'], ['sockets'], ['utrace']]
MORE = [['forks', '100'], ['vfork'], ['killed'], ['vectors'], ['pipe']]
PROGRAMS = [['tar', 'cf', 'x.tar', '/etc/passwd'], ['git', 'init', '-q', '.'], ['sh', '-c', 'ls / | sort | wc -l'],
            ['python3', '-c', 'import json, subprocess; subprocess.run(["true"])'],
            ['sqlite3', 'x.db', 'create table t(a); insert into t values(1); select * from t']]


def run(letters, command, out):
    """How it ends, and what it says, in an empty folder."""
    shutil.rmtree('work', ignore_errors=True)
    os.mkdir('work')
    words = ['setarch', '-R', KTR, 'ktrace', '-i', '-f', '../' + out] + (['-t', letters] if letters else [])
    env = dict(os.environ, PYTHONHASHSEED='0', PYTHONDONTWRITEBYTECODE='1', GIT_CONFIG_NOSYSTEM='1', HOME='/nonexistent')
    done = subprocess.run(words + command, cwd='work', env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return done.returncode, done.stdout


def shown(r):
    """What is the same in each run: of structures and data, which may have times and random bytes, how much there was."""
    if r.kind == ktrace.NAMEI:
        return re.sub(rb'/(t|tmp_obj_)[A-Za-z0-9]{6}$', b'/', r.data)
    if r.kind == ktrace.STRUCT:
        return r.data.split(b'\0')[0], len(r.data)
    return ktrace.read_genio(r.data)[:2] + (len(r.data),) if r.kind == ktrace.GENIO else r.data


def threads(path, letters):
    """Of each thread its records of these kinds, whichever number it has; children end when they like."""
    wanted = {KINDS[letter] for letter in letters} | {ktrace.PROCCTOR, ktrace.PROCDTOR}
    out = collections.OrderedDict()
    for r in ktrace.read(path):
        if r.kind in wanted and not (r.kind == ktrace.PSIG and SIGNALS[ktrace.read_psig(r.data)[0]] == 'SIGCHLD'):
            out.setdefault(r.tid, []).append((r.kind, r.comm, shown(r)))
    return sorted(map(repr, out.values()))


def main():
    bad, n = [], 0
    every = ['n', 'i', 's', 't', 'u', 'ni', 'st']
    short = {'signals': ['s'], 'sockets': ['it'], 'utrace': ['u']}  # what each has most of
    for command in [['../lives'] + words for words in LIVES + (MORE if FULL else [])] + (PROGRAMS if FULL else PROGRAMS[:1]):
        end = run('', command, 'all')
        for letters in every if FULL else short.get(command[1], ['n']):
            if run(letters, command, 'some') != end:
                bad.append('%s with -t %s ends in another way' % (command, letters))
            mine, theirs = threads('some', letters), threads('all', letters)
            n += sum(line.count(', ') for line in mine)
            if mine != theirs:
                a, b = next(((a, b) for a, b in zip(mine + [''], theirs + ['']) if a != b), ('', ''))
                at = len(os.path.commonprefix([a, b]))
                bad.append('%s: -t %s has %d threads, all of it %d; ...%s, all of it ...%s' %
                           (' '.join(command), letters, len(mine), len(theirs), a[at:at + 200], b[at:at + 200]))
    for line in bad:
        print('FAILED:', line)
    sys.exit(1 if bad or not n else 0)


main()
