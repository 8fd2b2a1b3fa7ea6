# SPDX-License-Identifier: BSD-2-Clause
"""Objects of python3's that are too large for its own allocator: of 256 in use one is given back, and one of 553 to
1,049 bytes is got by malloc(3). Prints the least ns of each of its rounds, as agent_host.c does."""
import time

ROUNDS = 60
CALLS = 20000
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


print("python", min(measure() for _ in range(ROUNDS)))
