# SPDX-License-Identifier: BSD-2-Clause
"""The gdb command "ktr": what a stopped program, or one that left a core, recorded last.

gdb loads this by itself for programs that use the installed libktr.so; for others:

    (gdb) source /usr/local/share/ktr/ktr-gdb.py

It asks the ktr command, which reads the session of the process or what its core says of it. So it works
for what runs on this machine, and also where the program's memory is damaged.
"""
import json
import os
import re
import shutil
import subprocess

import gdb

_AT = os.path.dirname(os.path.abspath(__file__))  # known while this is loaded only
_CHARSET = getattr(gdb, 'host_charset', lambda: 'ascii')()


def _ktr_program():
    """The command: the one in PATH, or the one installed with this file."""
    found = shutil.which('ktr')
    at = _AT
    while not found and at != os.path.dirname(at):
        at = os.path.dirname(at)
        beside = os.path.join(at, 'bin', 'ktr')
        found = beside if os.access(beside, os.X_OK) else None
    if not found:
        raise gdb.GdbError('ktr: the ktr command is not in PATH')
    return found


def _ktr_write(text):
    gdb.write(text.encode(_CHARSET, 'backslashreplace').decode(_CHARSET))


def _ktr_source():
    """Options or operand of the ktr command that name what gdb looks at."""
    core = re.search(r"core dump file:\s+[`']([^\n]*)', file type", gdb.execute('info files', False, True))
    if core:
        return [core.group(1)]
    inferior = gdb.selected_inferior()
    if getattr(getattr(inferior, 'connection', None), 'type', 'native') not in ('native', 'core'):
        raise gdb.GdbError('ktr: the program runs on another machine: ask ktr there')
    if not inferior.pid:
        raise gdb.GdbError('ktr: there is no program; start one, or load a core')
    return ['-p', str(inferior.pid)]


class KtrCommand(gdb.Command):
    """Print what the program recorded through ktr, newest first.

Usage: ktr [-n N] [-c CLASS] [-f EXPRESSION] [-t] [-v]

  -n N           only the last N events
  -c CLASS       only those of a class
  -f EXPRESSION  only those for which it holds: ktr-filter(7)
  -t             with the time, in nanoseconds
  -v             with the time, and file and line

Each line is: how many events ago, the thread and CPU, and the text."""

    def __init__(self):
        super().__init__('ktr', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        options, shown, filters = [], set(), []
        words = iter(gdb.string_to_argv(argument))
        for word in words:
            # Letters may stand together, the last one with its value: -tv, -tn 2, -n2.
            while re.match('-[tv]', word):
                shown |= {'t', 'v'} if word[1] == 'v' else {'t'}
                word = '-' + word[2:]
            if word == '-':
                continue
            value = None
            if word[:2] in ('-n', '-c', '-f'):
                value = word[2:] or next(words, None)
                word = word[:2]
            if value is None:
                raise gdb.GdbError('ktr: what is "%s"? See: help ktr' % word)
            if word == '-n':
                options += ['-n', value]
            else:
                filters.append('(class == %s)' % value if word == '-c' else '(%s)' % value)
        if filters:
            options += ['--filter', ' and '.join(filters)]
        self.show([_ktr_program(), 'json', '--events', '--reverse'] + options + _ktr_source(), shown)

    def show(self, command, shown):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding='utf-8', errors='replace') as ktr:
            try:
                for ago, line in enumerate(ktr.stdout):
                    _ktr_write(self.line(ago, json.loads(line), shown))
            finally:
                # The user may have left the pager.
                ktr.stdout.close()
                said = ktr.stderr.read()
        if ktr.returncode == 0:
            gdb.write('--- End of trace buffer ---\n')
        if said and ktr.returncode:
            raise gdb.GdbError(said.rstrip('\n'))
        _ktr_write(said)

    @staticmethod
    def line(ago, event, shown):
        where = ' %s.%d' % (event['file'], event['line']) if 'v' in shown else ''
        when = ' %s' % event['ts_ns'] if 't' in shown else ''
        return '%6d (%s/%d:cpu%d)%s%s: %s\n' % (ago, event['thread'], event['tid'], event['cpu'], when, where,
                                               event['msg'])


KtrCommand()
