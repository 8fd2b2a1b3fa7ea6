# SPDX-License-Identifier: BSD-2-Clause
"""What `ktr json` says of mutexes: each is taken and given back in turn, by one thread each time."""
import json
import sys

held = {}
for line in sys.stdin:
    event = json.loads(line)
    if event.get("func") == "thread_end_row":  # it may have ended with a robust one
        held = {key: value for key, value in held.items() if value[1] != event["tid"]}
    if event.get("func") not in ("mutex-acquire", "mutex-release"):
        continue
    args = event["args"]
    key = (event["pid"], args["lock"])
    if event["func"] == "mutex-acquire":
        depth, owner = held.get(key, (0, event["tid"]))
        if depth and owner != event["tid"]:
            print(f"{key} taken by {event['tid']} while {owner} has it")
        held[key] = (depth + 1, event["tid"])
    else:
        depth, owner = held.get(key, (0, event["tid"]))
        if owner != event["tid"]:
            print(f"{key} of {owner} given back by {event['tid']}")
        held[key] = (depth - 1, owner)
