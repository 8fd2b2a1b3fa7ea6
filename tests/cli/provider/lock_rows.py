# SPDX-License-Identifier: BSD-2-Clause
"""What rows of a timeline in letters say at the same columns: lock_rows.py TEXT

A row has its name, its cells and a remark; below the rows stands what letters mean, by group. Told are, once each, what
threads, locks and waiters are, also at the same time; up to which number of millions counters went. Numbers of threads are
left out.
"""
import re
import sys

CELLS = 26  # where they begin
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
letters = {}
group = None
rows = []
for line in lines:
    if re.match(r"(locks|waits|spans)  +\S ", line) or (group and re.match(r" {26}\S", line)):
        group = line.split()[0] if not line.startswith(" ") else group
        for letter, word in re.findall(r"(?:^|  +)(\S) (.*?)(?=  +\S |$)", line[CELLS:]):
            letters.setdefault(group, {})[letter] = word
    elif re.match(r"[ >] \S", line):
        rows.append((line[2:CELLS].strip(), line))
    else:
        group = None


def plain(text):
    return re.sub(r" \(\d+\)", "", text)


def says(kind, cells, at):
    return letters.get(kind, {}).get(cells[at]) if at < len(cells) else None


def kind_of(name):
    return "spans" if name.endswith("waiters") else "waits" if re.search(r"\(\d+\)$", name) else "locks"


told = set()
kinds = [(name, line, kind_of(name)) for name, line in rows if not name.startswith("bytes ")]
held = [(name, line) for name, line, kind in kinds if kind == "locks" and not name.startswith("quiet")]
for name, line in rows:
    most = re.findall(r"to ([0-9.e+]+)", line) if name.startswith("bytes ") else None
    if most:
        told.add(f"{name} to {int(float(most[-1]) / 1e6)}")
for name, line, kind in kinds:
    for at in range(CELLS, len(line)):
        word = says(kind, line, at)
        if not word:
            continue
        told.add(plain(f"{name} is {word}"))
        for other, cells in held if kind == "waits" else []:
            if says("locks", cells, at):
                told.add(plain(f"{name} is {word}: {other} is {says('locks', cells, at)}"))
print("\n".join(sorted(told)))
