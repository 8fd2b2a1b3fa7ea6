# SPDX-License-Identifier: BSD-2-Clause
"""What rows of locks and memory are, one after the other: lock_known.py CHROME

Each row of the groups locks, waits and memory in a line: its name, then its states in their order, those of the same row in a
line; not those that wait; of a counter its first and its last number. Numbers of threads are left out.
"""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)
events = events["traceEvents"] if isinstance(events, dict) else events
names, rows, counters = {}, {}, {}
for event in events:
    where = (event.get("pid"), event.get("tid"))
    if event["ph"] == "M" and event["name"] == "thread_name":
        names[where] = event["args"]["name"]
for event in events:
    where = (event.get("pid"), event.get("tid"))
    name = names.get(where, "")
    if event["ph"] == "X" and name.split()[0] in ("locks", "waits"):
        rows.setdefault(name, []).append((event["ts"], event["name"], event.get("dur", 0)))
    elif event["ph"] == "C" and event["name"].startswith(("memory", "bytes")):
        counters.setdefault(event["name"], []).append((event["ts"], list(event["args"].values())[0]))
for name in sorted(row for row in rows if not row.endswith(": waiters")):
    told = [state for _, state, _ in sorted(rows[name], key=lambda row: row[0])]
    print(re.sub(r" \(\d+\)", "", f"{name}: {'; '.join(told)}"))
for name in sorted(counters):
    told = [number for _, number in sorted(counters[name], key=lambda row: row[0])]
    print(f"{name}: {told[0]} to {told[-1]}")
