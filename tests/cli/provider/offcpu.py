#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""offcpu.py SAID REPORT FOLDED SOURCE: what tests/programs/provider/offcpu.c said beside what ktr does.
With SHOW in the environment each time is printed beside the program's, those that agree too."""
import collections, json, os, sys

said = {}
for line in open(sys.argv[1]):
    tid, kind, ns = line.split()
    said.setdefault(int(tid), {})[kind] = int(ns)
report = json.load(open(sys.argv[2]))["profile"]
source = sys.argv[4]
off = collections.defaultdict(collections.Counter)
for line in open(sys.argv[3]):
    stack, ns = line.rsplit(" ", 1)
    frames = stack.split(";")
    tid = int(frames[1].rsplit(" ", 1)[1])
    off[tid][(frames[-1], next((f for f in frames if f in said.get(tid, ())), None))] += int(ns)

# What it waits in, and whether its function is known to have been the one.
names = {"naps": ("nanosleep", 1), "polls": ("poll", 1), "reads": ("read", 1), "locks": ("mutex", 1), "rwlocks": ("rwlock", 1),
         "conds": ("condition", 1), "sems": ("semaphore", 1), "pages": ("page fault", 0), "queues": ("ready to run", 0)}
wrong = 0
def near(what, got, want, share, slack):
    global wrong
    if "SHOW" in os.environ:
        print(f"{source}: {what}: {got / 1e6:.2f} ms, {want / 1e6:.2f} by the program: {100 * (got / want - 1):+.2f} %")
    if abs(got - want) > share * want + slack:
        print(f"{what}: {got / 1e6:.2f} ms instead of {want / 1e6:.2f}")
        wrong = 1

seen = set()
for tid, of in said.items():
    thread = next((t for t in report["threads"] if t["tid"] == tid), None)
    if thread is None:
        print(f"thread {tid} is missing")
        wrong = 1
        continue
    for kind, (word, has_stack) in names.items():
        if kind not in of or (source == "calls" and not has_stack):
            continue
        seen.add(kind)
        got = sum(ns for (leaf, function), ns in off[tid].items()
                  if leaf == f"{word} [off CPU]" and (function == kind or kind == "queues"))
        if has_stack or kind == "pages":
            # Of a time in which it could have run the kernel says so: that is told apart, and is in the program's reading.
            ready = collections.Counter()
            for (leaf, function), ns in off[tid].items():
                ready[function] += ns * (leaf == "ready to run [off CPU]")
            got += ready[kind]
            # Of such between two of its calls nobody knows where it was: any part may be of that function.
            got += min(max(of[kind] - got, 0), ready[None])
        near(kind, got, of[kind], 0.02, 1e6)
    if source == "switches":
        gone = sum(thread[f"off_{of}_ns"] for of in ("calls", "ready", "pages", "unknown"))
        # It was there before its first line: on a busy machine it waits for a CPU in between.
        lived = thread["on_ns"] + gone
        near(f"thread {tid} ({list(of)[0]}): on and off the CPU", lived, min(max(lived, of["wall"]), of["made"]), 0.01, 1e6)
        # Its CPU clock lacks what interrupts and a hypervisor took: on by switches is never less.
        near(f"thread {tid} ({list(of)[0]}): on the CPU, by samples", thread["ns"] - gone, of["cpu"], 0.01, 2.1e6)
if report["off_cpu"]["when"] != source:
    print("source:", report["off_cpu"])
    wrong = 1
if len(seen) < (8 if source == "switches" else 7):
    print("seen:", seen)
    wrong = 1
sys.exit(wrong)
