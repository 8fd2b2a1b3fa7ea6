#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""functions.py KTR TRACE COUNTS [exceptions|longjmp]: the calls of a trace beside those that functions_count.c has counted.

For each function that was counted: as many calls begin in the trace, and as many of them have an end that the reader
pairs with it. Some end by exceptions, or are left without an end, if the last word says so. Compilers take functions
into others whatever they are told (always_inline); these have no entry of their own, so none that could be probed: they
are told of by how many they are, and have to be declared so.
"""
import collections
import csv
import io
import re
import struct
import subprocess
import sys

ktr, trace, counts, leaves = (sys.argv[1:] + [""])[:4]


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def modules():
    """(first address, last, what is to be taken from an address, file) of each mapping of a file"""
    first = {}
    for line in open(counts + ".maps"):
        words = line.split(None, 5)
        if len(words) < 6 or not words[5].startswith("/"):
            continue
        at, end = (int(word, 16) for word in words[0].split("-"))
        file = words[5].strip()
        first.setdefault(file, at)
        if "x" in words[1]:
            is_fixed = "EXEC" in next(l for l in lines("readelf", "-h", file) if "Type:" in l)
            yield at, end, 0 if is_fixed else first[file], file


def names(file):
    """address: demangled names of the functions there"""
    at = collections.defaultdict(set)
    for line in lines("nm", "-C", "--defined-only", file):
        words = line.split(None, 2)
        if len(words) == 3 and words[1] in "tTwWiu":
            at[int(words[0], 16)].add(words[2])
    return at


def bare(name):
    """a function of a template, whose result the linker's name tells of, without that"""
    depth = start = i = 0
    while i < len(name):
        if name.startswith("operator", i) and (not i or not (name[i - 1].isalnum() or name[i - 1] == "_")):
            return name[start:]
        if name.startswith("(anonymous namespace)", i):
            i += len("(anonymous namespace)")
            continue
        if name[i] == "(" and not depth:
            return name[start:]
        depth += (name[i] in "<([{") - (name[i] in ">)]}")
        i += 1
        if name[i - 1] == " " and not depth:
            start = i
    return name


def cut(there, known):
    """what is known of these, of names too long for an event"""
    return (k for k in known for n in there if len(k) > 200 and n.startswith(k))


def counted(known):
    """name: [begun, ended, ended amid an exception], by the names that ktr knows where a function has several"""
    got = collections.defaultdict(lambda: [0, 0, 0])
    data, where, symbols = open(counts, "rb").read(), list(modules()), {}
    for function, begun, ended, thrown in struct.iter_unpack("<4Q", data):
        if not function:
            continue
        start, _, less, file = next(m for m in where if m[0] <= function < m[1])
        if file not in symbols:
            symbols[file] = names(file)
        there = sorted(symbols[file][function - less])
        there = there + [bare(n) for n in there] or ["%s+%#x" % (file, function - less)]
        # Several functions of one name in a module are followed by their addresses, ktr_fbt(3).
        there = ["%s@%#x" % (n, function - less) for n in there] + there
        name = next((n for n in there if n in known), None) or next(cut(there, known), there[-1])
        for i, n in enumerate((begun, ended, thrown)):
            got[name][i] += n
    return got


query = "SELECT name, count(*), count(dur) FROM calls GROUP BY name"
rows = list(csv.reader(io.StringIO("\n".join(lines(ktr, "sql", "--csv", trace, query)))))[1:]
calls = {name: [int(n), int(ended)] for name, n, ended in rows}
wanted = counted(calls)
inlined = {name for name in wanted if name not in calls}
uncounted = {name for name in calls if name not in wanted}
wrong = {n: (calls[n], wanted[n][:2]) for n in wanted if n in calls and calls[n] != wanted[n][:2]}
for name, (got, want) in sorted(wrong.items())[:20]:
    print("%s: %d calls, %d ended; counted %d, %d" % (name, *got, *want))
for what, which in (("always inline", inlined), ("not counted", uncounted)):
    if which:
        print("%d %s: %s" % (len(which), what, ", ".join(sorted(which)[:6])))
begun, ended, thrown = (sum(wanted[n][i] for n in wanted if n in calls) for i in range(3))
if leaves == "exceptions" and not thrown or leaves == "longjmp" and begun == ended:
    wrong[leaves] = None
    print("no call is left by", leaves)
print("%d calls of %d functions, %d of them ended, %d of these amid an exception, equal the count of the compiler's" %
      (begun, len(calls) - len(uncounted), ended, thrown) if not wrong else "%d functions differ" % len(wrong))
sys.exit(bool(wrong) or not begun or len(inlined) > len(wanted) / 10)
