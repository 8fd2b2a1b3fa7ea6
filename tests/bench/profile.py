#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a sample of ktr profile costs the thread that it interrupts, beside the same timer with a handler that does nothing.

profile.py HOST KTR [ROUNDS]

The handler is what ktr's takes longer than one that does nothing, with a stack of more than 20 frames that it finds and
records. It is held against two things: a signal alone, as a thread sends it to itself, which is less than any timer's; and
the whole interruption of which a timer's sample is a part, by the kernel's tick, with a handler that does nothing. At each
rate a sample costs the same: below the tick's it is not every tick that has one, above it a sample stands for several.
Processes take turns; medians over the rounds.
"""
import os
import statistics
import subprocess
import sys
import tempfile

host, ktr = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
RATES = (99, 997, 4999)
LIMIT = 1.25


def measure(*command):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KTR_")}
    env.update(KTR_DIR=directory, KTR_CONF="")
    out = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    return [float(word) for word in out.split()]


source, empty, own = [], [], {rate: [] for rate in RATES}
perf_none, perf_empty, perf_own = [], {rate: [] for rate in RATES}, {rate: [] for rate in RATES}
with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
    for _ in range(rounds):
        source.append(measure(host, "source")[1])
        empty += measure(host, "handler")
        for rate, of in own.items():
            of += measure(ktr, "profile", "--source", "timers", "-e", "65536", "-F", str(rate), "-o", directory + "/t", host, "handler")
        perf_none.append(measure(host, "perf"))
        for rate in RATES:
            try:
                perf_empty[rate].append(measure(host, "perf", str(rate)))
                perf_own[rate].append(measure(ktr, "profile", "--source", "perf", "-e", "65536", "-F", str(rate), "-o",
                                              directory + "/t", host, "perf"))
            except subprocess.CalledProcessError:
                print("perf events: not measured: they are refused here")
                perf_empty = {}
                break
source, empty = statistics.median(source), statistics.median(empty)
print(f"with a handler that does nothing: a signal alone {empty:.0f} ns, a tick with a timer's {source:.0f} ns\n")
print(f"{'rate':>6}{'handler, ns':>14}{'of the signal':>16}{'of the interruption':>22}")
missed = 0
for rate, of in own.items():
    more = statistics.median(of) - empty
    ratio = (empty + more) / empty
    missed += ratio > LIMIT
    print(f"{rate:6}{more:14.0f}{ratio:14.2f} x{(source + more) / source:20.2f} x" + (": MISSED" if ratio > LIMIT else ""))


def medians(of):
    """Of the thread, and of the others: ns in a second."""
    return statistics.median(x[0] for x in of), statistics.median(x[1] for x in of)


if perf_empty:
    none = medians(perf_none)
    print("\nby perf events, ns of each sample: of the thread, of who reads, together; ktr's with its writer\n")
    print(f"{'rate':>6}{'nothing done':>26}{'ktr':>26}{'':>8}")
    for rate in RATES:
        a, b = medians(perf_empty[rate]), medians(perf_own[rate])
        a, b = [tuple((x - n) / rate for x, n in zip(of, none)) for of in (a, b)]
        ratio = sum(b) / sum(a)
        missed += ratio > LIMIT
        print(f"{rate:6}" + "".join(f"{of[0]:8.0f} +{of[1]:7.0f} ={sum(of):7.0f}" for of in (a, b)) + f"{ratio:6.2f} x"
              + (": MISSED" if ratio > LIMIT else ""))
    print()
print(f"of the signal alone, and of such samples, {LIMIT} x at most: " + ("all limits hold" if not missed else f"{missed} are missed"))
