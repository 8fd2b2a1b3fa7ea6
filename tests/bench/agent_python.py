# SPDX-License-Identifier: BSD-2-Clause
"""Objects of python3's that are too large for its own allocator: of 256 in use one is given back, and one of 553 to
1,049 bytes is got by malloc(3). Prints ns of the lower quartile of its rounds, once for each line that it
reads.

	agent_python.py SHIFT

SHIFT is how many objects it gets before, of sizes that are drawn by that number: blocks lie elsewhere then."""
import random
import statistics
import sys
import time

ROUNDS = 80
CALLS = 8000
SIZES = [520 + 16 * n for n in range(32)]


def objects():
    kept = [b""] * 256
    sizes = SIZES * (CALLS // len(SIZES))
    for i, size in enumerate(sizes):
        kept[i & 255] = bytes(size)
    return len(sizes)


def measure():
    begin = time.perf_counter_ns()
    calls = objects()
    return (time.perf_counter_ns() - begin) / calls


shift = int(sys.argv[1])
draw = random.Random(shift)
before = [bytes(draw.randrange(1, 3000)) for _ in range(shift)]
print("ready", flush=True)
for _ in sys.stdin:
    print(statistics.quantiles((measure() for _ in range(ROUNDS)), n=4)[0], flush=True)
