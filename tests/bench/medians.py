# SPDX-License-Identifier: BSD-2-Clause
"""What several runs of `bench` printed, as one: a row holds when the median of the runs is within its limit.

	medians.py RUN.txt...

Single events' percentiles are taken from the list of limits: there the median is of the rows that fared worst.
Exit status 1: some missed."""
import re
import statistics
import sys

LIMIT = re.compile(r"(-?[0-9.]+) +<= ([0-9.]+) +(.*)")


def values(text):
    """Of one run: (row, unit) -> value, limit."""
    rows, _, limits = text.partition("\nlimits, each")
    found = {}
    for line in rows.splitlines():
        match = LIMIT.search(line)
        if match:
            name = []
            for word in line[:match.start()].split():
                if "." in word:
                    break
                name.append(word)
            unit = re.sub(r" +(holds|MISSED)$", "", match[3])
            found[" ".join(name), unit] = float(match[1]), float(match[2])
    for line in limits.splitlines():
        match = LIMIT.search(line)
        if match and " single " in line[:match.start()]:
            unit = re.split(r"  +", match[3])[0]
            found[line[7:match.start()].strip(), unit] = float(match[1]), float(match[2])
    return found


def main():
    runs = [values(open(path).read()) for path in sys.argv[1:]]
    rows = sorted(set.intersection(*(set(run) for run in runs)))
    missed = 0
    for row in rows:
        limit = runs[0][row][1]
        all_values = sorted(run[row][0] for run in runs)
        median = statistics.median(all_values)
        if median > limit:
            missed += 1
            print("MISSED  %-34s %7.3f <= %-6g %-24s of %s" %
                  (row[0], median, limit, row[1], " ".join("%.3f" % value for value in all_values)))
    print("%d of %d rows hold by the median of %d runs" % (len(rows) - missed, len(rows), len(runs)))
    return missed > 0


sys.exit(main())
