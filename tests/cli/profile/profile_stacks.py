#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""profile_stacks.py WAY... < `ktr dump`: each stack of stack_ways.cc is whole, or marked as cut.

Prints "WAY WHOLE CUT" for each; with status 1 what is neither, or is missing."""
import collections, re, sys

inner = [f"n{i:02}" for i in range(20, 10, -1)]
outer = [f"n{i:02}" for i in range(10, 0, -1)]
whole, cut, wrong = collections.Counter(), collections.Counter(), []
for line in sys.stdin:
    if " < " not in line:
        continue
    frames = [re.sub(r"(\+0x[0-9a-f]+|@@?[A-Z0-9_.]+|\.cold)+$", "", f.strip()).split(" ")[-1]
              for f in line.rstrip("\n").split(" < ")]
    way = next((f[5:] for f in frames if f.startswith("burn_")), None)
    if way is None:
        continue
    if frames[-1] == "...":
        cut[way] += 1
        continue
    want = [f"burn_{way}"] + inner + [f"way_{way}"] + outer + ["main", "_start"]
    if way == "deep":
        want = want[:11] + ["deep"] * 301 + want[11:]
    rest = iter(frames)
    missing = [w for w in want if not any(w == f for f in rest)]
    if missing or len(frames) > len(want) + 12:
        wrong.append(f"{way}: without {missing[:3]}: {' < '.join(frames)}")
    else:
        whole[way] += 1
for way in sys.argv[1:]:
    print(way, whole[way], cut[way])
    if whole[way] + cut[way] < 10:
        wrong.append(f"{way}: {whole[way] + cut[way]} stacks")
for text in wrong[:3]:
    print("WRONG", len(wrong), text)
sys.exit(bool(wrong))
