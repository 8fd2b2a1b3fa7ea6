#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a sample of ktr profile costs, beside the same source with a handler that does nothing.

profile.py HOST KTR [ROUNDS]

Timers: the handler is what ktr's takes longer than one that does nothing, with a stack of more than 20 frames that it finds
and records; in one process, they take turns. It is held against two things: a signal alone, as a thread sends it to itself,
which is less than any timer's; and the whole interruption of which a timer's sample is a part, by the kernel's tick, with a
handler that does nothing. At each rate a sample costs the same: below the tick's it is not every tick that has one, above it
a sample stands for several.

Perf events: the time that the thread misses for one, and the CPU time of all of ktr's threads in the process, that of the
trace's writer, too. Here the source is all that brings a sample to whom it is for, the handler is what that one does with
it. The baseline that the limit is of is the same source with a handler that does nothing: the same profiler in the same
program, with its events, rings, rounds and writer, but the class `profile` is off, so that each sample is read, counted and
thrown away. So finding a stack, recording it and writing it is all that ktr's has more: it is a limit on the handler, not on
the source. For the source there is another baseline beside it, with no limit: a thread that only empties such a ring, as
often, looks at nothing in it, and has no trace to write. What ktr has more than that, in a second, is printed below: it is
mostly the round itself, which looks at every thread, and the trace's writer, and does not grow as samples do; at a low rate
there are few samples to bear it.

The first second of each does not count: what a trace takes to begin is not a sample's, and is printed by itself.

Processes take turns; medians over the rounds.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

host, ktr = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
RATES = (99, 997, 4999)
LIMIT = 1.25


def environment():
    env = {k: v for k, v in os.environ.items() if not k.startswith("KTR_")}
    env.update(KTR_DIR=directory, KTR_CONF="")
    return env


def measure(*command):
    out = subprocess.run(command, env=environment(), input="go\n", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                         text=True).stdout
    return [float(word) for word in out.split()]


def measure_off(rate):
    """The profiler with its class off. There is another one that may be on, for no event of it is asked for."""
    with subprocess.Popen([ktr, "profile", "--source", "perf", "-s", "bench", "-e", "65536", "-F", str(rate), "-o",
                           directory + "/t", host, "perf", str(rate)], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        for _ in range(500):
            off = subprocess.run([ktr, "sysctl", "-s", "bench", "debug.ktr.mask=kswitch"], env=environment(), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            if "kswitch" in off:
                break
            time.sleep(0.02)
        out = process.communicate("go\n")[0]
    if process.returncode or "kswitch" not in off:
        raise subprocess.CalledProcessError(process.returncode, "ktr profile")
    return [float(word) for word in out.split()]


def medians(of):
    """Of each number of the runs. By perf events: ns of a sample, of the thread; of others in a second; what those took to begin."""
    return [statistics.median(words) for words in zip(*of)]


source, own = [], {rate: [] for rate in RATES}
perf_bare, perf_empty, perf_own = ({rate: [] for rate in RATES} for _ in range(3))
with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
    for _ in range(rounds):
        source.append(measure(host, "source"))
        for rate, of in own.items():
            of.append(measure(ktr, "profile", "--source", "timers", "-e", "65536", "-F", str(rate), "-o", directory + "/t", host,
                              "handler"))
        for rate in RATES:
            try:
                perf_bare[rate].append(measure(host, "perf", str(rate), "bare"))
                perf_empty[rate].append(measure_off(rate))
                perf_own[rate].append(measure(ktr, "profile", "--source", "perf", "-e", "65536", "-F", str(rate), "-o",
                                              directory + "/t", host, "perf", str(rate)))
            except subprocess.CalledProcessError:
                print("perf events: not measured: they are refused here")
                perf_empty = {}
                break
tick, source = medians(source)
print(f"the kernel's tick {tick:.0f} ns, one with a timer's signal whose handler does nothing {source:.0f} ns\n")
print(f"{'rate':>6}{'signal alone, ns':>18}{'handler, ns':>13}{'of the signal':>15}{'of the interruption':>21}")
missed = 0
for rate, of in own.items():
    empty, all = medians(of)
    ratio = all / empty
    missed += ratio > LIMIT
    print(f"{rate:6}{empty:18.0f}{all - empty:13.0f}{ratio:13.2f} x{(source + all - empty) / source:19.2f} x"
          + (": MISSED" if ratio > LIMIT else ""))

if perf_empty:
    more = {}
    print("\nby perf events, ns of each sample: of the thread, of ktr's threads, together\n")
    print(f"{'rate':>6}{'a ring emptied':>26}{'handler does nothing':>27}{'ktr':>26}{'':>8}")
    for rate in RATES:
        all = [medians(of[rate]) for of in (perf_bare, perf_empty, perf_own)]
        all = [(of[0], of[1] / rate) for of in all]
        ratio = sum(all[2]) / sum(all[1])
        more[rate] = sum(all[0]), sum(all[2])
        missed += ratio > LIMIT
        print(f"{rate:6}" + " ".join(f"{of[0]:8.0f} +{of[1]:6.0f} ={sum(of):7.0f}" for of in all) + f"{ratio:6.2f} x"
              + (": MISSED" if ratio > LIMIT else ""))
    print("\nktr more than a ring emptied, in a second: "
          + ", ".join(f"{(own - bare) * rate / 1e3:.0f} us at {rate} Hz ({own / bare:.2f} x)" for rate, (bare, own) in more.items()))
    begin = statistics.median(medians(of)[2] for of in perf_own.values())
    print(f"\nktr's threads, until the second after the program began, once: {begin / 1e6:.1f} ms\n")
print(f"of the signal alone, and of such samples, {LIMIT} x at most: " + ("all limits hold" if not missed else f"{missed} are missed"))
sys.exit(missed > 0)
