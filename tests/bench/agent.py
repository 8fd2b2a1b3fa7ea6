#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the agent costs a program that knows nothing of it: locks and memory, where it stands before the C library, and
functions, beside one that was built to be probed.

agent.py HOST AGENT KTR [PROCESSES [PYTHONS]]

Processes of each way take turns, for where code lies differs from one to the next. Prints the least ns of each way and the
median of what was least in each process, and for rows that have a limit what it is held against: the least beside the
least. An event goes to rings that nobody empties.

Samples of memory are held to what python3 takes for an object, in the same process, where all lies as it lay: `ktr attach`
comes to it, and while nothing is asked for its calls are the C library's own. PYTHONS=20 processes, each with its stack and
its blocks shifted by chance, in which samples are switched on and off by turns; held is the median of the processes'
medians. How far that is from those of as many processes drawn from these is said with it: the middle 90 of 100. Before
`ktr attach` python3 has one thread, and an allocator that takes no locks: what ktr's own thread costs is a line of its own.
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = os.path.join(os.path.dirname(__file__), "agent_python.py")
host, agent, ktr = sys.argv[1:4]
processes = int(sys.argv[4]) if len(sys.argv) > 4 else 15
pythons = int(sys.argv[5]) if len(sys.argv) > 5 else 20
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
PYTHON_TURNS = 12
PYTHON_WAIT = 0.05  # s: what was switched from outside has come to all threads
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


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("KTR_") or k == "KTR_CLOCK_SOURCE"}


def measure(command, probes, directory):
    env = clean_environment()
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


def measure_one_python(directory):
    """ns of an object: alone, and in turns without samples and with them."""
    env = dict(clean_environment(), KTR_DIR=directory, KTR_CONF="", KTR_BUDGET="0", SHIFT="x" * random.randrange(4096))
    child = subprocess.Popen(["/usr/bin/python3", PYTHON, str(random.randrange(300))], env=env, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def objects():
        child.stdin.write("\n")
        child.stdin.flush()
        return float(child.stdout.readline())

    def run(*command):
        subprocess.run([ktr, *command], env=env, check=True, stdout=subprocess.DEVNULL)

    def switch(what):
        run("probe", what, "-p", str(child.pid), *SAMPLES.split(","))
        time.sleep(PYTHON_WAIT)
        return objects()

    child.stdout.readline()
    alone = min(objects() for _ in range(PYTHON_TURNS))
    run("attach", "-p", str(child.pid), "--heap", "512k")
    turns = [[switch("disable"), switch("enable")] for _ in range(PYTHON_TURNS)]
    child.stdin.close()
    child.wait()
    return [alone, *map(statistics.median, zip(*turns))]


def measure_python(directory):
    rows = []
    for number in range(pythons):
        progress(f"python3: {number} of {pythons}")
        rows.append(measure_one_python(directory))
    return rows


def between(ratios):
    """The middle 90 of 100 medians, of processes drawn from these (Efron, Bootstrap methods, 1979)."""
    drawn = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    return drawn[DRAWS // 20], drawn[-DRAWS // 20]


def print_python(rows):
    print(f"ns of python3's objects: the medians of {len(rows)} processes; beside those without samples\n")
    for way, ns in zip(["one thread", "no samples", "heap: 512k"], zip(*rows)):
        ratios = [one / row[1] for one, row in zip(ns, rows)]
        low, high = between(ratios)
        print(f"{way:15}{statistics.median(ns):8.2f}{statistics.median(ratios):10.3f} ({low:.3f} to {high:.3f})")
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
hold("heap: 512k", "python", statistics.median(on / off for _, off, on in python), "of no samples", PYTHON_LIMIT)
print("all limits hold" if not missed else f"{missed} of {len(LIMITS) + 1} limits are missed")
sys.exit(missed > 0)
