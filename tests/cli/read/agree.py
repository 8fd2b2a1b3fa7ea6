#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""agree.py KTR TRACE: babeltrace2 and our reader show the same of a trace.

Events in order: time, CPU, thread id, call site, and the arguments' values (numbers and strings; of
addresses the number). Discarded events: the sums. One line says how many; what differs is shown, and
the exit status is 1 then.
"""
import json
import re
import subprocess
import sys

LINE = re.compile(
    r'\[(\d+)\] .*? ?(\S+:\d+|ktr:unknown): \{ cpu_id = (\d+) \}, \{ tid = (\d+), approx = (\d), life = \d+ \}'
    r'(?:, \{ (.*)\})?$')
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|\[(?: \[\d+\] = \w+,?)* *\]|[^,]+)(?:, |$)')


def value(text):
    """A field's value: an int, a string, a list of ints."""
    if text.startswith('"'):
        return text[1:-1].encode('latin-1', 'replace').decode('unicode_escape')
    if text.startswith('['):
        return [int(x, 0) for x in re.findall(r'\] = (\S+?)[, \]]', text + ' ')]
    if re.fullmatch(r'-?\d+|0x[0-9a-fA-F]+', text):
        return int(text, 0)
    return float(text)


def theirs(path):
    run = subprocess.run(['babeltrace2', '--clock-cycles', '--no-delta', path], capture_output=True,
                         check=False)
    events = []
    for line in run.stdout.decode('latin-1').splitlines():
        m = LINE.match(line)
        if not m:
            sys.exit(f'{path}: babeltrace2 prints what is not understood: {line}')
        fields = [(k, v) for k, v in FIELD.findall((m.group(6) or '').strip())
                  if not re.fullmatch(r'ktr_(n\d|cut|null)', k)]
        events.append((int(m.group(1)), int(m.group(3)), int(m.group(4)), m.group(2).split(':', 1)[-1],
                       [value(v) for k, v in fields]))
    err = run.stderr.decode()
    lost = sum(int(n) for n in re.findall(r'discarded (\d+) event', err))
    if run.returncode:
        sys.exit(f'{path}: babeltrace2 refuses it: {err}')
    return events, lost


def ours(ktr, path):
    run = subprocess.run([ktr, 'json', '--no-join', path], capture_output=True, check=False)
    events, lost = [], 0
    for line in run.stdout.decode().splitlines():
        row = json.loads(line)
        if row['type'] == 'loss':
            lost += row['events']
        if row['type'] == 'event':
            args = [next(iter(a.values())) if isinstance(a, dict) else a for a in row['args'].values()]
            args = ['(null)' if a is None else a for a in args]
            events.append((row['ts_ns'], row['cpu'], row['tid'],
                           f"{row['file'].split('/')[-1]}:{row['line']}", args))
    return events, lost


def same(a, b):
    """Numbers that JSON spells as strings, floats that lose digits, addresses with names."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= 1e-5 * abs(a)
    if isinstance(a, int) and isinstance(b, str):
        return int(b.split()[0], 0) == a if re.match(r'-?[0-9]', b) else False
    if isinstance(a, list):
        return a == [int(pc['pc'] if isinstance(pc, dict) else pc, 0) for pc in b]
    # What was cut ends in dots with us; babeltrace2 does not say how bytes that are no UTF-8 print.
    return a == b or a + '...' == b or not b.isascii()


def main():
    ktr, path = sys.argv[1:]
    bt, bt_lost = theirs(path)
    us, us_lost = ours(ktr, path)
    wrong = 0
    if len(bt) != len(us) or bt_lost != us_lost:
        print(f'{path}: babeltrace2 has {len(bt)} events and {bt_lost} lost, '
              f'we have {len(us)} and {us_lost}')
        wrong = 1
    # Readers may order events of one moment differently.
    for a, b in zip(sorted(bt, key=lambda e: e[:4]), sorted(us, key=lambda e: e[:4])):
        if a[:4] != b[:4] or len(a[4]) != len(b[4]) or not all(map(same, a[4], b[4])):
            print(f'{path}: {a} against {b}'[:400])
            wrong = 1
            break
    print(f'{path}: {len(bt)} events, {bt_lost} lost')
    sys.exit(wrong)


main()
