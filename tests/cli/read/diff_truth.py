# SPDX-License-Identifier: BSD-2-Clause
"""Holds what ktr diff says against what is true of traces made by diff.c.

    judge TRUTH JSON STATUS PLAN	prints one line for the pair: plan, status, and what is wrong of which number
    sum VERDICTS			a table of all pairs; fails where more is wrong than the stated risk explains
"""
import json
import math
import sys

SMALL = 1e-9


def wrong(row, truth, least):
    """What is wrong with a row, in a word, or None."""
    far = abs(math.log(truth))
    if row["verdict"] == "same" and far > math.log1p(least) + SMALL:
        return "same"
    if row["verdict"] in ("more", "less") and (math.log(truth) <= SMALL) == (row["verdict"] == "more"):
        if not (row["verdict"] == "less" and math.log(truth) < -SMALL):
            return "alarm"
    if row["low"] is not None and not row["low"] * (1 - SMALL) <= truth <= row["high"] * (1 + SMALL):
        return "interval"
    return None


def judge(truth_path, json_path, status, plan):
    with open(json_path) as file:
        said = json.load(file)
    with open(truth_path) as file:
        truth = {tuple(line.split()[:2]): float(line.split()[2]) for line in file}
    faults, main, missing = [], "-", set(truth)
    factor, kind = float(plan.split()[0]), plan.split()[1]
    for row in said["rows"]:
        key = (row["what"], row["name"] or "-")
        if key not in truth:
            sys.exit("no truth is known of %s" % (key,))
        missing.discard(key)
        fault = wrong(row, truth[key], said["least"])
        if fault:
            faults.append("%s:%s/%s" % (fault, row["what"], row["name"]))
        if key == (("span", "file") if kind == "time" else ("site", "t.c:4")) and row.get("of", "p50") == "p50":
            main = row["verdict"]
    # A class of one call site is no row of its own.
    missing -= {("class", "net")}
    if missing:
        sys.exit("not compared: %s" % missing)
    changes = sum(row["verdict"] in ("more", "less") for row in said["rows"])
    unknown = sum(row["verdict"] == "unknown" for row in said["rows"])
    want = 1 if changes else 3 if unknown else 0
    if status != want:
        sys.exit("exit status %d instead of %d" % (status, want))
    if status == 0 and factor > 1 + said["least"]:
        faults.append("same:status")
    print(plan, status, main, ",".join(faults) or "-")
    return 0


def total(path):
    table, n, n_wrong, n_same, lines = {}, 0, 0, 0, []
    with open(path) as file:
        for line in file:
            factor, _, _, runs, _, least, status, main, faults = line.split()
            n += 1
            n_wrong += faults != "-"
            n_same += "same:" in faults
            if faults != "-":
                lines.append(line.strip())
            row = table.setdefault((float(factor), int(least), "one" if runs == "1" else "several"), {})
            row[main] = row.get(main, 0) + 1
            row["status %s" % status] = row.get("status %s" % status, 0) + 1
    head = ["more", "less", "same", "unknown", "status 0", "status 1", "status 3"]
    print("%-8s %-8s %-8s %s" % ("factor", "least %", "runs", " ".join("%8s" % h for h in head)))
    for key in sorted(table):
        print("%-8g %-8d %-8s %s" % (*key, " ".join("%8d" % table[key].get(h, 0) for h in head)))
    print("%d pairs, %d with anything wrong in any of their numbers" % (n, n_wrong))
    print("\n".join(lines))
    # Of so many pairs 5 % may be wrong, and by chance three deviations more.
    most = 0.05 * n + 3 * math.sqrt(0.05 * 0.95 * n)
    if n_wrong > most or n_same:
        print("too much: %d wrong (at most %.0f), %d called the same that are not" % (n_wrong, most, n_same))
        return 1
    # Who never tells is never wrong: nearly all of what is 13-fold is found, and some is shown to be the same.
    big = [row for key, row in table.items() if key[0] == 13]
    told = sum(row.get("more", 0) for row in big)
    if told < 0.9 * sum(row.get("status 1", 0) + row.get("status 3", 0) for row in big):
        print("too little: not even 13-fold changes are found")
        return 1
    if n >= 100 and not sum(row.get("same", 0) for row in table.values()):
        print("too little: nothing is ever the same")
        return 1
    return 0


if sys.argv[1] == "judge":
    sys.exit(judge(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]))
sys.exit(total(sys.argv[2]))
