#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What ktr profile says of threads, beside their own clocks.

truth.py TRUTH-OUTPUT HZ SPEEDSCOPE-FILE, as `ktr export speedscope` writes it of the trace
truth.py HZ: what the errors are of those that are expected, if all draws of a second of such a thread are equally far apart

Time: each thread's sum is its CPU time, to two periods and what its beginning and end take. Never a sample of a thread
that did not run. Places: each stack is a draw of where the thread is, with the time that it stands for as its weight; the
share of place_a among them is compared with what the thread's clock says. Draws of unlike weights are worth fewer than
they are: the variance of their mean is that of one, times the sum of the squares of the weights by the square of their sum
(Kish, Survey Sampling, 1965, 11.7), which the errors here have. Draws at equal distances within bursts that are longer
are worth more: of the program's bursts, 4 ms on average, those of perf events have 0.96 of these errors at 99 Hz, 0.46 at
997 and 0.20 at 4,999, if none is missing; so there chi-square says less, and the differences in percent, of up to eight
groups, more. What was due after the last stack has none: it counts for that one. What was due before the first one has
none either, for a thread has its event only then: that much is missing of the place where it begins. The squares of all
errors, in standard errors, add up to chi-square: its tail is to be above 0.001. Of threads that live for a moment the sums
over all are compared, so that too few stacks of one do not make it a normal distribution's."""
import collections, json, math, random, sys

def spaced(hz, cycles=500):
    square, period, share = 0, 1e9 / hz, 0.75
    random.seed(1)
    for _ in range(cycles):
        time, places, at = 0, [], random.random() * period
        while time < 1e9:
            ns = 200000 + random.random() * 8000000
            places.append((time + share * ns, time + ns))
            time += ns
        bursts, n, in_a = iter(places), 0, 0
        a_until, until = next(bursts)
        while at < time:
            while at >= until:
                a_until, until = next(bursts)
            n, in_a, at = n + 1, in_a + (at < a_until), at + period
        square += (in_a / n - share) ** 2 * n / (share * (1 - share)) / cycles
    return math.sqrt(square)

if len(sys.argv) == 2:
    print(f"{spaced(float(sys.argv[1])):.2f}")
    sys.exit()
said, main = {}, None
for line in open(sys.argv[1]):
    tid, *of = map(int, line.split())
    if of:  # a number may be a later thread's, too, where many others come and go
        said[tid] = tuple(sum(both) for both in zip(said.get(tid, (0, 0, 0, 0)), of))
    else:
        main = tid
period = 1e9 / float(sys.argv[2])
total = collections.Counter()
weights = collections.defaultdict(lambda: {"a": [], "b": [], "else": []})
trace = json.load(open(sys.argv[3]))
names = [frame["name"] for frame in trace["shared"]["frames"]]
n_stacks = collections.Counter()
unseen = collections.Counter() # [ns] of its beginning
NONE = ("[not seen]", "[lost]", "[signals blocked]")
for thread in trace["profiles"]:
    tid = int(thread["name"].rsplit(" ", 1)[1])
    total[tid] += sum(thread["weights"])
    draws, early = [], 0
    for stack, ns in zip(thread["samples"], thread["weights"]):
        stack = {names[i] for i in stack}
        if stack & set(NONE):
            if draws:
                draws[-1][1] += ns
            else:
                early += ns
            continue
        draws.append(["a" if "place_a" in stack else "b" if "place_b" in stack else "else", ns])
    unseen[tid] += early
    for where, ns in draws:
        weights[tid][where].append(ns)
    n_stacks[tid] += len(draws)

wrong = []
def say(text):
    wrong.append(text)

for tid in total:
    if tid not in said and tid != main:
        say(f"samples of thread {tid}, which did not run")
for tid, (cpu, *_) in said.items():
    off = total[tid] - cpu
    # Of 200 short threads one may have begun while the machine was busy: a thread's first page faults.
    if abs(off) > 2 * period + 0.01 * cpu + 3e6:
        say(f"thread {tid}: {total[tid]} ns instead of {cpu}")

def z(tids):
    a = [w for tid in tids for w in weights[tid]["a"]]
    b = [w for tid in tids for w in weights[tid]["b"]]
    n = len(a) + len(b)
    if n < 30:
        return None
    early = sum(min(unseen[tid], said[tid][3]) for tid in tids)
    share = (sum(said[tid][1] for tid in tids) - early) / (sum(said[tid][1] + said[tid][2] for tid in tids) - early)
    got = sum(a) / (sum(a) + sum(b))
    # A ratio of sums of independent draws: its variance by the delta method.
    error = math.sqrt(sum((w * (1 - share)) ** 2 for w in a) + sum((w * share) ** 2 for w in b)) / (sum(a) + sum(b))
    return (got - share) / error, got, share, n

long = [tid for tid, (cpu, *_ ) in said.items() if cpu > 25e6]
short = [tid for tid in said if tid not in long]
groups = [[tid] for tid in long] + ([short] if short else [])
square = n = 0
scores = []
for group in groups:
    result = z(group)
    if result is None:
        continue
    score, got, share, stacks = result
    square += score * score
    n += 1
    scores.append(f"{score:+.1f} ({100 * (got - share):+.2f} %)")
    if abs(score) > 5:
        say(f"threads {group[:3]}: {100 * got:.2f} % in place_a instead of {100 * share:.2f}, {score:.1f} standard errors")

def chi_tail(x, k):  # Wilson and Hilferty's approximation
    t = ((x / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))
    return 0.5 * math.erfc(t / math.sqrt(2))

tail = chi_tail(square, n) if n else 1
if tail < 0.001:
    say(f"chi-square {square:.1f} of {n}: {tail:.5f}")
cpu = sum(c for c, *_ in said.values())
print(f"{len(said)} threads, {cpu / 1e9:.2f} s by their clocks, {sum(total[t] for t in said) / 1e9:.2f} s by samples, "
      f"{sum(n_stacks[t] for t in said)} stacks, chi-square {square:.1f} of {n} ({tail:.3f})"
      + ("" if len(scores) > 8 else ": " + " ".join(scores)))
for text in wrong[:5]:
    print("FAILED:", text)
sys.exit(bool(wrong))
