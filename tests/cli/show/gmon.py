# SPDX-License-Identifier: BSD-2-Clause
"""Reads a gmon.out by itself, byte by byte, and compares it with what the program counted, and with gprof.

    gmon.py FORM FILE ELF TOLD [exact|sampled|-] [times] [US]

FORM: gnu or bsd. TOLD: lines of tests/programs/show/gmon.c. exact: its calls are these, of callers and callees.
times: and its times, within 2 % or five standard errors. US: what is in no file; with it, and the files beside FILE, the
time is all that the threads have used. Prints a line: rate, histograms, ticks of the fullest.
"""
import bisect
import collections
import glob
import re
import struct
import subprocess
import sys
import time

FORM, FILE, ELF, TOLD = sys.argv[1:5]
HOW = sys.argv[5] if len(sys.argv) > 5 else 'exact'
TIMES = 'times' in sys.argv[6:]
# The kernel's tick, by which its coarse clock goes; ours is none that is longer.
TICK_NS = max(1e9 / 997, 1e9 * time.clock_getres(6))  # CLOCK_MONOTONIC_COARSE
NOWHERE_US = int(sys.argv[7]) if len(sys.argv) > 7 else None


def same(a, b, what):
    assert a == b, f'{what}: {a!r} instead of {b!r}'


def symbols():
    out = {}
    for line in subprocess.run(['nm', '-C', ELF], capture_output=True, text=True, check=True).stdout.splitlines():
        m = re.match(r'([0-9a-f]+) ([tT]) (.*)', line)
        if m:
            out.setdefault(int(m[1], 16), m[3])
    return out


def gnu(data):
    magic, version, spare = struct.unpack_from('<4si12s', data)
    same((magic, version, spare), (b'gmon', 1, bytes(12)), 'header')
    at, histograms, arcs = 20, [], []
    while at < len(data):
        tag = data[at]
        at += 1
        if tag == 0:
            low, high, n, rate, dimension, letter = struct.unpack_from('<QQii15sc', data, at)
            at += 40
            same((dimension, letter), (b'seconds' + bytes(8), b's'), 'dimension')
            histograms.append((low, high, rate, struct.unpack_from(f'<{n}H', data, at)))
            at += 2 * n
        elif tag == 1:
            arcs.append(struct.unpack_from('<QQI', data, at))
            at += 20
        else:
            raise AssertionError(f'tag {tag} at {at}')
    same(at, len(data), 'end')
    return histograms, arcs


def bsd(data):
    low, high, ncnt, version, rate, kind, spare = struct.unpack_from('<QQiiii8s', data)
    same((version, kind, spare), (0x51879, 16, bytes(8)), 'header')
    n = (ncnt - 40) // 2
    histograms = [(low, high, rate, struct.unpack_from(f'<{n}H', data, 40))] if n else []
    same((len(data) - ncnt) % 24, 0, 'arcs')
    return histograms, list(struct.iter_unpack('<QQq', data[ncnt:]))


def main():
    names = symbols()
    starts = sorted(names)
    histograms, arcs = (gnu if FORM == 'gnu' else bsd)(open(FILE, 'rb').read())
    told = [line.split() for line in open(TOLD, encoding='utf-8')]
    passes = {words[1]: int(words[2]) for words in told if words[0] == 'calls'}

    def name(address):
        return names[starts[bisect.bisect_right(starts, address) - 1]]

    ns, n, most = collections.Counter(), collections.Counter(), 0
    for low, high, rate, bins in histograms:
        same((low, high, rate), histograms[0][:3], 'histograms differ')
        same(len(bins) * 2, high - low, 'counters')
        assert low <= starts[0] and starts[-1] < high, 'the range is not that of the text'
        most = max(most, *bins)
        for i, ticks in enumerate(bins):
            if ticks:
                ns[name(low + 2 * i)] += ticks * 1e9 / rate
                n[name(low + 2 * i)] += ticks
    counts = collections.Counter()
    for caller, callee, count in arcs:
        assert HOW != 'exact' or callee in names, f'{callee:#x} is no function'
        counts[name(caller), name(callee)] += count
    calls = collections.Counter()
    for (_, callee), count in counts.items():
        calls[callee] += count
    text = subprocess.run(['gprof', '-b', '-p', ELF, FILE], capture_output=True, text=True, check=True)
    same(text.stderr, '', 'gprof')
    flat = {m[4]: (float(m[1]), int(m[3] or 0)) for m in
            re.finditer(r'^ *[\d.]+ +[\d.]+ +([\d.]+) +((\d+) +[\d.]+ +[\d.]+ +)?(\S+)$', text.stdout, re.M)}
    for words in told:
        if HOW == 'exact' and words[0] == 'calls':
            same(calls[words[1]], int(words[2]), f'calls of {words[1]}')
            itself = counts[words[1], words[1]]
            same(flat[words[1]][1], int(words[2]) - itself, f'gprof: calls of {words[1]}')
        elif HOW == 'exact' and words[0] == 'arc':
            same(counts[words[1], words[2]], int(words[3]), f'{words[1]} calls {words[2]}')
        elif NOWHERE_US is not None and words[0] == 'threads':
            # Nothing is lost: time of system calls is the vdso's or the C library's, that of a thread which ended before the
            # kernel looked is nobody's. Each thread's is what it has used, in periods rounded up or down by chance: a variance of
            # a quarter of a period's square at most. It is what it has seen at least; all together have what the process has.
            wanted, got = int(words[2]), NOWHERE_US * 1000
            for path in glob.glob(FILE + '*'):
                for _, _, rate, bins in (gnu if FORM == 'gnu' else bsd)(open(path, 'rb').read())[0]:
                    got += sum(bins) * 1e9 / rate
            error = 5 * int(words[1]) ** 0.5 * 1e9 / 997 / 2
            assert wanted - error < got < int(words[3]) + error, \
                f'all: {got / 1e9} s instead of {wanted / 1e9} to {int(words[3]) / 1e9}, {NOWHERE_US} us in no file'
            print(f'{got / 1e9:.3f} s in all of {wanted / 1e9:.3f} to {int(words[3]) / 1e9:.3f}, {NOWHERE_US} us in no file',
                  file=sys.stderr)
        elif TIMES and words[0] == 'cpu':
            wanted, got = int(words[2]), ns[words[1]]
            # What was due since the last look of the kernel's is told of where the thread is by then. So each time that a thread
            # comes into the function or leaves it, a time that is one's is told with the other's: a tick of the kernel's at
            # most where it has a CPU to itself, and where it shares one, so that looks come as if by chance, of an exponential
            # distribution with that mean: its variance is a tick's square.
            error = 5 * (2 * passes[words[1]]) ** 0.5 * TICK_NS
            assert abs(got - wanted) < max(0.02 * wanted, error), \
                f'{words[1]}: {got / 1e9} s instead of {wanted / 1e9}, 5 standard errors are {error / 1e9}'
            print(f'{words[1]}: {got / 1e9:.3f} s of {wanted / 1e9:.3f}, 5 standard errors are {error / 1e9:.3f}', file=sys.stderr)
            assert abs(flat[words[1]][0] - got / 1e9) < 0.02, f'gprof: {words[1]} {flat[words[1]][0]} instead of {got / 1e9}'
    if HOW == 'sampled':
        assert counts['work', 'tedious'] > 0 and not counts['tedious', 'tedious'], counts
    print(histograms[0][2] if histograms else 0, len(histograms), most, round(sum(ns.values()) / 1e6), calls.total())


main()
