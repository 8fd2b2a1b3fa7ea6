# SPDX-License-Identifier: BSD-2-Clause
"""Objects of python3's that are too large for its own allocator: of 256 in use one is given back, and one of 553 to
1,049 bytes is got by malloc(3). Prints the least ns of each of its rounds, as agent_host.c does.

	agent_python.py SHIFT [ONE]

SHIFT is how many objects it gets before, of sizes that are drawn by that number: blocks lie elsewhere then. Like
agent_host.c it has a thread that sleeps: with ONE it has none, and the C library's allocator takes no locks."""
import _thread
import random
import sys
import time

ROUNDS = 25
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
if len(sys.argv) < 3:
    asleep = _thread.allocate_lock()
    asleep.acquire()
    _thread.start_new_thread(asleep.acquire, ())
    time.sleep(0.01)
print("python", min(measure() for _ in range(ROUNDS)))
