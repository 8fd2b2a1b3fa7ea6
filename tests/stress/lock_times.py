# SPDX-License-Identifier: BSD-2-Clause
"""Times of locks by `ktr json` beside those that lock_times.c has taken itself: lock_times.py JSON OWN.

Each holding and each wait by both clocks: the median of their differences, after what being told of costs (of locks that are
given back at once) is taken off, is 30 ns at most for times below 10 us, and 2 % of them above. Prints what is not so.
"""
import collections
import json
import statistics
import sys

told = collections.defaultdict(list)
taken, blocked = {}, {}
with open(sys.argv[1], encoding="utf-8") as f:
    for event in map(json.loads, f):
        what = event.get("func")
        if event.get("class") != "lock" or "lock" not in event["args"]:
            continue
        lock = event["args"]["lock"]
        if what == "mutex-acquire":
            taken[event["tid"], lock] = event["ts_ns"]
            # Whom the main thread waits for may have given it back already.
            if lock in blocked or ("wait", lock) in told:
                if event["tid"] == event["pid"]:
                    told["wait", lock].append(blocked.pop(lock, None))
        elif what == "mutex-release":
            told["hold", lock].append(event["ts_ns"] - taken.pop((event["tid"], lock)))
        elif what == "mutex-blocked":
            blocked[lock] = int(event["args"]["ns"])
own = collections.defaultdict(list)
with open(sys.argv[2], encoding="utf-8") as f:
    for line in f:
        what, kind, ns = line.split()
        own[what, int(kind)].append(int(ns))
rounds = len(own["hold", 0])
# Locks of an array lie in the order of their numbers. The holder of wait_lock is in `hold`, too, twice as often.
holds = sorted((lock for what, lock in told if what == "hold" and len(told[what, lock]) == rounds), key=lambda at: int(at, 16))
waits = sorted((lock for what, lock in told if what == "wait"), key=lambda at: int(at, 16))
cost = 0
for what, locks in ("hold", holds), ("wait", waits):
    if len(locks) != 8:
        print(f"{what}: {len(locks)} locks")
    for kind, lock in enumerate(locks):
        # The first ones may have been got without waiting.
        pairs = list(zip(own[what, kind][::-1], told[what, lock][::-1]))
        mine = [a for a, b in pairs if b is not None]
        off = statistics.median(b - a for a, b in pairs if b is not None)
        if (what, kind) == ("hold", 0):
            cost = off
            print(f"told of: {cost:.0f} ns", file=sys.stderr)
            continue
        off -= cost if what == "hold" else 0
        ns = statistics.median(mine)
        most = 30 if ns < 10000 else 0.02 * ns
        print(f"{what} of {ns:.0f} ns: {off:+.0f} ns, {most:.0f} at most", file=sys.stderr)
        if abs(off) > most:
            print(f"{what} of {ns:.0f} ns: {off:+.0f} ns off")
