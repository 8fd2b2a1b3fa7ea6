#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What ktr has of a run beside what oracle.h counted: judge.py [--without-run] KTR ORACLE TRACE...

Every place that a patch counts is one line: how often it was begun and done, and the events that `ktr report` counts
there, over all traces. Events are never fewer than done nor more than begun; where some were lost, only their sum with
the losses is held against the counts. Exit status 1 if that does not hold, or nothing was counted.

--without-run: nobody is there when a program has ended. What its threads record between the last look of the process
that exits and its end is in no trace then (ktr-run(1)): so many may be missing, if a trace tells of such a process.
"""
import collections
import json
import os
import struct
import subprocess
import sys

ROW = struct.Struct("<QQ112s")

# [events] In all traces of a run together. That time is some ten microseconds, in which a thread records a few hundred.
LATE_MOST = 1000


def counted(path):
    places = {}
    with open(path, "rb") as file:
        for begun, done, place in ROW.iter_unpack(file.read()):
            if place[0]:
                places[place.rstrip(b"\0").decode()] = (begun, done)
    return places


def reported(ktr, traces):
    events, lost = collections.Counter(), 0
    for trace in traces:
        answer = subprocess.run([ktr, "report", "--top", "0", "--json", trace], check=True, stdout=subprocess.PIPE)
        report = json.loads(answer.stdout)
        lost += report["losses"]["events"]
        for site in report["sites"]:
            if site["file"] != "[kernel]":  # what it tells of threads: nobody counts that
                events[f"{site['file']}:{site['line']}"] += site["events"]
    return events, lost


def rows(trace, name, key):
    """The last line of each row of a sidecar."""
    with open(os.path.join(trace, "ktr", name), "rb") as file:
        lines = [json.loads(line) for line in file]
    return {line[key]: line for line in lines if key in line}


def outlived(trace):
    """Processes of a trace that have exited while a thread of theirs had not."""
    procs, threads = rows(trace, "procs.jsonl", "proc"), rows(trace, "threads.jsonl", "thread")
    alive = {t["proc"] for t in threads.values() if t["tid"] != t["pid"] and not t["exit_ns"] and not t.get("gone_ns")}
    return sum(bool(proc["exit_ns"]) and number in alive for number, proc in procs.items())


def main():
    arguments = sys.argv[1:]
    without_run = arguments[0] == "--without-run"
    ktr, oracle, *traces = arguments[without_run:]
    places = counted(oracle)
    events, lost = reported(ktr, traces)
    n_outlived = sum(map(outlived, traces)) if without_run else 0
    late = LATE_MOST if n_outlived else 0
    wrong = not places or not traces
    for place in sorted(set(places) | set(events)):
        begun, done = places.get(place, (0, 0))
        low, high = (0, begun) if lost else (done - late, begun)
        bad = not low <= events[place] <= high
        wrong |= bad
        print(f"  {'WRONG' if bad else '     '} {place:40} counted {begun:8}", end="")
        print(f" (done: {done})" if done != begun else "", f"events {events[place]:8}")
    begun, done = (sum(row[i] for row in places.values()) for i in (0, 1))
    have = sum(events.values())
    missing = max(done - have - lost, 0)
    wrong |= missing > late or have + lost > begun
    print(f"  {len(traces)} traces: {have} events and {lost} lost, {begun} begun and {done} done", end="")
    if missing > late:
        print(f": {missing} NEITHER IN A TRACE NOR LOST")
    elif missing:
        print(f": {missing} of threads that ran past their process's last look, as {n_outlived} of the processes had")
    else:
        print()
    return int(wrong)


sys.exit(main())
