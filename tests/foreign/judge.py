#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What ktr has of a run beside what oracle.h counted: judge.py KTR ORACLE TRACE...

Every place that a patch counts is one line: how often it was begun and done, and the events that `ktr report` counts
there, over all traces. Events are never fewer than done nor more than begun; where some were lost, only their sum with
the losses is held against the counts. Exit status 1 if that does not hold, or nothing was counted.
"""
import collections
import json
import os
import struct
import subprocess
import sys

ROW = struct.Struct("<QQ112s")


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


def main():
    ktr, oracle, *traces = sys.argv[1:]
    places = counted(oracle)
    events, lost = reported(ktr, traces)
    wrong = not places or not traces
    for place in sorted(set(places) | set(events)):
        begun, done = places.get(place, (0, 0))
        low, high = (0, begun) if lost else (done, begun)
        bad = not low <= events[place] <= high
        wrong |= bad
        print(f"  {'WRONG' if bad else '     '} {place:40} counted {begun:8}", end="")
        print(f" (done: {done})" if done != begun else "", f"events {events[place]:8}")
    begun, done = (sum(row[i] for row in places.values()) for i in (0, 1))
    have = sum(events.values())
    wrong |= not done <= have + lost <= begun
    missing = max(done - have - lost, 0)
    print(f"  {len(traces)} traces: {have} events and {lost} lost, {begun} begun and {done} done"
          + (f": {missing} NEITHER IN A TRACE NOR LOST" if missing else ""))
    return int(wrong)


sys.exit(main())
