# SPDX-License-Identifier: BSD-2-Clause
"""
The table of system calls against the headers of this system, and against what the kernel says of their arguments below
events/syscalls of tracefs, where that may be read.

    calls.py TABLE CC [TRACEFS]         TABLE: lines of "name x86-64 arm64 letters|names", as call_names.h has them
"""
import os
import re
import subprocess
import sys

KERNEL_NAMES = {'stat': 'newstat', 'fstat': 'newfstat', 'lstat': 'newlstat', 'uname': 'newuname', 'sendfile': 'sendfile64',
                'umount2': 'umount'}
WANTED = ''.join('#define %s\n' % name for name in (
    '__ARCH_WANT_RENAMEAT', '__ARCH_WANT_NEW_STAT', '__ARCH_WANT_SET_GET_RLIMIT', '__ARCH_WANT_TIME32_SYSCALLS',
    '__ARCH_WANT_SYS_CLONE3', '__ARCH_WANT_MEMFD_SECRET'))
bad = []


def header(cc, text):
    out = subprocess.run(cc.split() + ['-E', '-dM', '-x', 'c', '-'], input=text, capture_output=True, text=True, check=True)
    defined = dict(re.findall(r'#define (__NR\w+) (\w+)', out.stdout))
    numbers = {}
    for name, value in defined.items():
        while value in defined:
            value = defined[value]
        if value.isdigit() and name.startswith('__NR_'):
            numbers[name[5:]] = int(value)
    return numbers


def compare_numbers(rows, numbers, column, what, but=()):
    """All that the header has are in the table, and those that both have are the same."""
    for name, number in numbers.items():
        if name in but:
            continue
        if name not in rows:
            bad.append('%s: the table has no %s' % (what, name))
        elif rows[name][column] != number:
            bad.append('%s: %s is %d, the table has %d' % (what, name, number, rows[name][column]))


def compare_tracefs(rows, folder):
    n = 0
    for name, (_, _, letters, names) in rows.items():
        path = '%s/sys_enter_%s/format' % (folder, KERNEL_NAMES.get(name, name))
        if not os.path.exists(path):
            continue
        fields = re.findall(r'field:(.*?) ?(\w+);\toffset:\d+;\tsize:8', open(path).read())
        n += 1
        if len(fields) != len(letters):
            bad.append('%s has %d arguments, the table %d' % (name, len(fields), len(letters)))
            continue
        if [argument for _, argument in fields] != [n.rstrip('*+-^') for n in names]:
            bad.append('%s: its arguments are %s, the table has %s' % (name, [a for _, a in fields], names))
        for (kind, argument), shown in zip(fields, names):
            if '*' in kind and not shown.endswith('*') or 'char' in kind and '*' not in shown:
                bad.append('%s: %s is %s, the table has %s' % (name, argument, kind, shown))
        for (kind, argument), letter in zip(fields, letters):
            text = 'char' in kind and '*' in kind
            wrong = letter == 'n' and not text or letter == 's' and argument != 'sig' or \
                letter == 'd' and not argument.endswith(('dfd', 'fd')) or letter != 'm' and kind == 'umode_t' or \
                letter == '.' and text and argument in ('filename', 'pathname')
            if wrong:
                bad.append('%s: %s %s is "%s"' % (name, kind, argument, letter))
    return n


def main():
    rows = {}
    for line in open(sys.argv[1]):
        line, names = line.rstrip('\n').split('|')
        name, x86_64, arm64, letters = (line + ' ').split(' ')[:4]
        rows[name] = (int(x86_64), int(arm64), letters, names.split())
        if len(letters) != len(rows[name][3]):
            bad.append('%s: %d letters, names %s' % (name, len(letters), names))
    if os.path.exists('/usr/include/x86_64-linux-gnu/asm/unistd_64.h'):
        compare_numbers(rows, header(sys.argv[2], '#include <asm/unistd_64.h>\n'), 0, 'asm/unistd_64.h')
    compare_numbers(rows, header(sys.argv[2], WANTED + '#include <asm-generic/unistd.h>\n'), 1, 'asm-generic/unistd.h',
                    ('arch_specific_syscall', 'syscalls'))
    n = compare_tracefs(rows, sys.argv[3]) if len(sys.argv) > 3 else 0
    print(n)
    for line in bad:
        print('FAILED:', line, file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
