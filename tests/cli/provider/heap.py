# SPDX-License-Identifier: BSD-2-Clause
"""What of `ktr heap --json` and `ktr json` has to be so: prints one line for each thing asked for.

heap.py sums FILE FUNCTION	blocks and bytes got, in use, and given back by others, of places with that function
heap.py mapped FILE		calls, bytes, bytes at the end, of what was mapped, and how many failed
heap.py arena FILE MARK		bytes that glibc has in use more, between two blocks of MARK bytes: events of ktr json
heap.py between FILE MARK	bytes of the blocks that are in use, of those got between the two: events of ktr json
heap.py near FILE GOT LIVE	whether bytes got and in use, estimates, are within five standard errors of these
"""
import json
import sys


def sums(heap, function):
    got = live = other = 0
    got_bytes = live_bytes = 0
    for place in heap["places"]:
        if function in place["frames"]:
            got += place["got"]["blocks"]
            got_bytes += place["got"]["bytes"]
            live += place["live"]["blocks"]
            live_bytes += place["live"]["bytes"]
            other += place["other_thread"]
    print(f"got={got} got_bytes={got_bytes} live={live} live_bytes={live_bytes} other={other}")


def chunk(size):
    """What glibc takes for a block: its size, 8 bytes, rounded up to 16, 32 at least (malloc/malloc.c, request2size)."""
    return max(32, (size + 8 + 15) & ~15)


def arena(lines, mark, takes=chunk):
    size, used, marks = {}, 0, 0
    for line in lines:
        event = json.loads(line)
        if event["type"] != "event" or "func" not in event:
            continue
        name, args = event["func"], event["args"]
        if name.startswith("alloc"):
            size[args["block"]] = int(args["size"])
            marks += int(args["size"]) == mark
            if marks == 1 and int(args["size"]) != mark:
                used += takes(int(args["size"]))
        elif name in ("free", "realloc") and args["block"] in size:
            was = size.pop(args["block"])
            if marks == 1 and was != mark:
                used -= takes(was)
    print(used)


def near(heap, **wanted):
    """A sample stands for a period of bytes or a little more: the deviation of their sum is that of a Poisson number."""
    for what, number in wanted.items():
        error = heap["period"] * max(1, number / heap["period"]) ** 0.5
        off = abs(heap[what]["bytes"] - number) / error
        print("near" if off < 5 else f"{what} {heap[what]['bytes']} of {number}: {off:.1f} standard errors")


what, path = sys.argv[1:3]
with open(path, encoding="utf-8") as f:
    if what == "sums":
        sums(json.load(f), sys.argv[3])
    elif what == "mapped":
        mapped = json.load(f)["mapped"]
        got, live = mapped["got"], mapped["live"]
        print(f"{got['blocks']} calls {got['bytes']} got {live['bytes']} live, {mapped['refused']} failed")
    elif what == "arena":
        arena(f, int(sys.argv[3]))
    elif what == "between":
        arena(f, int(sys.argv[3]), lambda size: size)
    else:
        near(json.load(f), got=int(sys.argv[3]), live=int(sys.argv[4]))
