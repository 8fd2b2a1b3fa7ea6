# SPDX-License-Identifier: BSD-2-Clause
"""
A small file of all types of records, cut at each byte, and with each of its bits turned: kdump ends by itself, with 0 or
with 1 and one line that names the file and an offset, and prints what no damage has touched; with --strace and --json,
in turn, it ends so after each fifth damage, too.

    kdump_damage.py KTR DIR
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ktrace import (CSW, FAULT, GENIO, LINUX64, NAMEI, PROCCTOR, PSIG, STRUCT, STRUCT_ARRAY, SYSCALL,  # noqa: E402
                    SYSRET, USER, call, genio, psig, record, ret, stat)
import struct  # noqa: E402

RECORDS = [record(PROCCTOR, struct.pack('<I', LINUX64)), record(SYSCALL, call(257, 0xffffff9c, 16, 0, 0)),
           record(NAMEI, b'/etc/passwd'), record(STRUCT, b'stat\0' + stat()), record(SYSRET, ret(257, 3)),
           record(GENIO, genio(3, 0, bytes(range(40)))), record(GENIO, genio(1, 1, b'text\n')), record(PSIG, psig(15)),
           record(CSW, struct.pack('<ii8s', 1, 1, b'select')), record(FAULT, struct.pack('<Qii', 4096, 2, 0)),
           record(USER, b'user'), record(STRUCT, b'sockaddr\0' + bytes([16, 2, 0, 80, 1, 2, 3, 4]) + bytes(8)),
           record(STRUCT_ARRAY, struct.pack('<Q', 2) + b'pair\0' + b'1234'), record(NAMEI, b'old', version=0),
           record(SYSCALL, call(0, 3, 0x1000, 100)), record(GENIO, genio(3, 0, b'data')), record(SYSRET, ret(0, 4)),
           record(NAMEI, b'the last one')]
bad = []


def run(ktr, path, data, options=()):
    with open(path, 'wb') as file:
        file.write(data)
    return subprocess.run([ktr, 'kdump', '-f', path, *options], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def blocks(text):
    """A record's lines: a line with the process's number begins one."""
    return [b for b in re.split(rb'(?m)^(?=   100 prog     )', text) if b]


def check(what, done, path, may_pass):
    # A bit makes a 32-bit program of it.
    line = re.sub(r'ktr kdump: process -?\d+ is a 32-bit program: [^\n]+\n', '', done.stderr.decode())
    if done.returncode == 0 and may_pass and not line:
        return
    if done.returncode != 1 or not re.fullmatch(r'ktr kdump: %s: byte \d+: [^\n]+\n' % re.escape(path), line):
        bad.append('%s: status %d, %r' % (what, done.returncode, line))


def other_forms(ktr, path, data, n):
    """The forms that put records together: one of them for each fifth damage, which all kinds of it are."""
    if n % 5:
        return
    form = ['--strace', '--json'][n // 5 % 2]
    done = run(ktr, path, data, [form])
    check('%s, %d' % (form, n), done, path, True)
    if form == '--json':
        for line in done.stdout.splitlines():
            json.loads(line)


def cuts(ktr, path, data, ends, lines, step):
    for n in range(0, len(data), step):
        done = run(ktr, path, data[:n])
        whole = sum(1 for end in ends if end <= n)
        other_forms(ktr, path, data[:n], n)
        check('cut at %d' % n, done, path, n == 0 or n in ends)
        if n and n not in ends and done.returncode == 0:
            bad.append('cut at %d: nothing is said' % n)
        if blocks(done.stdout) != lines[:max(0, whole - 1)]:  # PROCCTOR has no line
            bad.append('cut at %d: %r' % (n, done.stdout))


def flips(ktr, path, data, ends, lines, bits):
    for bit in bits:
        turned = bytearray(data)
        turned[bit // 8] ^= 1 << bit % 8
        done = run(ktr, path, bytes(turned))
        other_forms(ktr, path, bytes(turned), bit)
        check('bit %d turned' % bit, done, path, True)
        # What lies in other records is printed, but for one that the damage may hide: that behind a wrong length.
        hit = sum(1 for end in ends if end <= bit // 8)
        # A record of another type may be one that ends the process, whose calls have no names then.
        known = done.stdout.replace(b'[257] 3', b'openat 3').replace(b'CALL  [0](', b'CALL  read(').replace(b'RET   [0]', b'RET   read')
        for i, line in enumerate(lines):
            if i + 1 not in (hit, hit + 1) and line not in known and hit != 0:
                bad.append('bit %d turned, in record %d: no more %r' % (bit, hit, line))


def main():
    ktr, folder = sys.argv[1:]
    path, data = folder + '/damaged', b''.join(RECORDS)
    ends = [sum(map(len, RECORDS[:i + 1])) for i in range(len(RECORDS))]
    whole = run(ktr, path, data)
    lines = blocks(whole.stdout)
    assert whole.returncode == 0 and len(lines) == len(RECORDS) - 1, whole
    full = os.environ.get('FULL') == '1'
    # As many at once as there are processors, each with files of its own.
    workers = os.cpu_count() or 1
    bits = range(0, 8 * len(data), 1 if full else 131)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        todo = [pool.submit(flips, ktr, '%s.%d' % (path, i), data, ends, lines, bits[i::workers]) for i in range(workers)]
        cuts(ktr, path, data, ends, lines, 1 if full else 31)
        for one in todo:
            one.result()
    for line in bad[:20]:
        print('FAILED:', line)
    sys.exit(bool(bad))


main()
