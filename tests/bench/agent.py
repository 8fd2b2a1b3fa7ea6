#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the agent costs a program that knows nothing of it: locks and memory, where it stands before the C library, and
functions, beside one that was built to be probed.

agent.py HOST AGENT [PROCESSES [PYTHONS]]

Processes of each way take turns, for where code lies differs from one to the next. Prints the least ns of each way and the
median of what was least in each process, and for rows that have a limit what it is held against: the least beside the
least. An event goes to rings that nobody empties.

Samples of memory are held to what python3 takes for an object. Where things lie is worth more there than what is
measured, so that has PYTHONS=100 short processes of each way, in an order that is drawn, each with its stack and its blocks
shifted by chance; the median of the least of each is held beside the median, and how far it is from those of a hundred
times as many processes drawn from these is said with it: the middle 90 of 100. python3 has a second thread as any traced
program has, ktr's own: what that costs one that had none is a line of its own.
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile

PYTHON = os.path.join(os.path.dirname(__file__), "agent_python.py")
host, agent = sys.argv[1:3]
processes = int(sys.argv[3]) if len(sys.argv) > 3 else 15
pythons = int(sys.argv[4]) if len(sys.argv) > 4 else 100
BLOCKS = "lock:::*-block,lock:::*-blocked,lock:::spin-spin,lock:::spin-spun"
SAMPLES = "heap:::sampled-free,heap:::sample-512k"
WAYS = {
    "plain": None,
    "agent": "",
    "lock: waits": BLOCKS,
    "lock: all": "lock:::*-*",
    "heap: 512k": SAMPLES,
    "heap: callers": "heap:::alloc,heap:::free,heap:::realloc,heap:::fail",
    "heap: stacks": "heap:::alloc-stack,heap:::free,heap:::realloc,heap:::fail",
    "fbt: entries": "fbt::called_*:entry",
    "fbt: both": "fbt::called_*:",
}
PYTHON_WAYS = {"plain": None, "agent": "", "heap: 512k": SAMPLES, "one thread": None}
# Row, way, what it is, limit: a share of plain, or of a function that was built for it; or how many of peer's events it
# may cost more.
LIMITS = [
    ("lock", "lock: waits", "of plain", 1.15),
    ("lock", "lock: all", "of peer more", 2.6),
    ("heap", "heap: callers", "of peer more", 2.6),
    ("long", "fbt: entries", "of built", 1.10),
    ("short", "fbt: entries", "of built", 1.10),
    ("long", "fbt: both", "of built", 1.10),
    ("short", "fbt: both", "of built", 1.10),
]
PYTHON_LIMIT = 1.02
DRAWS = 400


def measure(command, probes, directory, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KTR_") or k == "KTR_CLOCK_SOURCE"}
    env.update(more)
    if probes is not None:
        env.update(LD_PRELOAD=agent, KTR_DIR=directory, KTR_CONF="", KTR_PROBES=probes, KTR_BUDGET="0", KTR_MASK="all")
    out = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}


def progress(what):
    if sys.stderr.isatty():
        print(f"\r{what:20}", end="", file=sys.stderr)


def measure_host(directory):
    least = {way: {} for way in WAYS}
    for number in range(processes):
        progress(f"{number} of {processes}")
        for way, probes in WAYS.items():
            for row, ns in measure([host], probes, directory).items():
                least[way].setdefault(row, []).append(ns)
    return least


def measure_python(directory):
    least = {way: [] for way in PYTHON_WAYS}
    for number in range(pythons):
        progress(f"python3: {number} of {pythons}")
        for way in random.sample(list(PYTHON_WAYS), len(PYTHON_WAYS)):
            command = ["/usr/bin/python3", PYTHON, str(random.randrange(300))] + ["one"] * (way == "one thread")
            least[way].append(measure(command, PYTHON_WAYS[way], directory, SHIFT="x" * random.randrange(4096))["python"])
    return least


def between(ns, plain):
    """The middle 90 of 100 ratios of medians, of processes drawn from these (Efron, Bootstrap methods, 1979)."""
    ratios = sorted(statistics.median(random.choices(ns, k=len(ns))) / statistics.median(random.choices(plain, k=len(plain)))
                    for _ in range(DRAWS))
    return ratios[DRAWS // 20], ratios[-DRAWS // 20]


def print_python(least):
    print(f"ns of python3's objects: the least, and the quartiles, of {pythons} processes; the medians beside plain's\n")
    for way, ns in least.items():
        low, high = between(ns, least["plain"])
        print(f"{way:15}{min(ns):8.2f}   " + "".join(f"{quartile:8.2f}" for quartile in statistics.quantiles(ns, n=4)) +
              f"{statistics.median(ns) / statistics.median(least['plain']):10.3f} ({low:.3f} to {high:.3f})")
    print()


with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
    rows_of = measure_host(folder)
    python = measure_python(folder)
progress("")
progress("\r")

print(f"ns of each, the least and the median of {processes} processes\n")
print(f"{'':15}" + "".join(f"{row:>20}" for row in rows_of["plain"]))
for name, rows in rows_of.items():
    print(f"{name:15}" + "".join(f"{min(ns):12.2f}{statistics.median(ns):8.2f}" for ns in rows.values()))
print()
print_python(python)
peer = min(rows_of["plain"]["peer"])
missed = 0


def hold(way, row, ratio, what, limit):
    global missed
    missed += ratio > limit
    print(f"{way:15}{row:7}{ratio:8.3f} {what}, {limit} at most" + (": MISSED" if ratio > limit else ""))


for row, way, what, limit in LIMITS:
    plain, ns = min(rows_of["plain"][row]), min(rows_of[way][row])
    hold(way, row, {"of plain": ns / plain, "of built": ns / min(rows_of[way]["built"]), "of peer more": (ns - plain) / peer}[what],
         what, limit)
hold("heap: 512k", "python", statistics.median(python["heap: 512k"]) / statistics.median(python["plain"]), "of plain", PYTHON_LIMIT)
print("all limits hold" if not missed else f"{missed} of {len(LIMITS) + 1} limits are missed")
