#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the agent costs a program that knows nothing of it: locks and memory, where it stands before the C library, and
functions, beside one that was built to be probed.

agent.py HOST AGENT [PROCESSES]

Processes of each way take turns, for where code lies differs from one to the next. Prints the least ns of each way and the
median of what was least in each process, and for rows that have a limit what it is held against: the least beside the
least. An event goes to rings that nobody empties. Samples of memory are held to what python3 takes for an object.
"""
import os
import statistics
import subprocess
import sys
import tempfile

PYTHON = os.path.join(os.path.dirname(__file__), "agent_python.py")
host, agent = sys.argv[1:3]
processes = int(sys.argv[3]) if len(sys.argv) > 3 else 15
BLOCKS = "lock:::*-block,lock:::*-blocked,lock:::spin-spin,lock:::spin-spun"
WAYS = {
    "plain": None,
    "agent": "",
    "lock: waits": BLOCKS,
    "lock: all": "lock:::*-*",
    "heap: 512k": "heap:::sampled-free,heap:::sample-512k",
    "heap: callers": "heap:::alloc,heap:::free,heap:::realloc,heap:::fail",
    "heap: stacks": "heap:::alloc-stack,heap:::free,heap:::realloc,heap:::fail",
    "fbt: entries": "fbt::called_*:entry",
    "fbt: both": "fbt::called_*:",
}
# Row, way, what it is, limit: a share of plain, or of a function that was built for it; or how many of peer's events it
# may cost more.
LIMITS = [
    ("lock", "lock: waits", "of plain", 1.15),
    ("lock", "lock: all", "of peer more", 2.6),
    ("python", "heap: 512k", "of plain", 1.02),
    ("heap", "heap: callers", "of peer more", 2.6),
    ("long", "fbt: entries", "of built", 1.10),
    ("short", "fbt: entries", "of built", 1.10),
    ("long", "fbt: both", "of built", 1.10),
    ("short", "fbt: both", "of built", 1.10),
]


def measure(probes, directory):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KTR_") or k == "KTR_CLOCK_SOURCE"}
    if probes is not None:
        env.update(LD_PRELOAD=agent, KTR_DIR=directory, KTR_CONF="", KTR_PROBES=probes, KTR_BUDGET="0", KTR_MASK="all")
    rows = {}
    for command in ([host], ["/usr/bin/python3", PYTHON]):
        out = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout
        rows |= {line.split()[0]: float(line.split()[1]) for line in out.splitlines()}
    return rows


least = {way: {} for way in WAYS}
with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
    for number in range(processes):
        if sys.stderr.isatty():
            print(f"\r{number} of {processes}", end="", file=sys.stderr)
        for way, probes in WAYS.items():
            for row, ns in measure(probes, directory).items():
                least[way].setdefault(row, []).append(ns)
if sys.stderr.isatty():
    print("\r", end="", file=sys.stderr)

print(f"ns of each, the least and the median of {processes} processes\n")
print(f"{'':15}" + "".join(f"{row:>20}" for row in least["plain"]))
for way, rows in least.items():
    print(f"{way:15}" + "".join(f"{min(ns):12.2f}{statistics.median(ns):8.2f}" for ns in rows.values()))
print()
peer = min(least["plain"]["peer"])
missed = 0
for row, way, what, limit in LIMITS:
    plain, ns = min(least["plain"][row]), min(least[way][row])
    ratio = {"of plain": ns / plain, "of built": ns / min(least[way]["built"]), "of peer more": (ns - plain) / peer}[what]
    missed += ratio > limit
    print(f"{way:15}{row:7}{ratio:8.3f} {what}, {limit} at most" + (": MISSED" if ratio > limit else ""))
print("all limits hold" if not missed else f"{missed} of {len(LIMITS)} limits are missed")
