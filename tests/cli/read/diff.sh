#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr diff on pairs of traces made with known differences: of nothing, 5, 20 and 100 percent and 13-fold, in the time that
# spans take or in how often something comes; of one run each or several, short and long, with and without idle
# ends. What is called the same never differs by more than is said; what is told to have changed has; intervals hold the
# truth. What may be different and still the same is 5, 30 or 80 percent.
# PAIRS=200 makes so many pairs, with a table of the verdicts; by default a few.
. "$(dirname "$0")/../lib.inc"
pairs=${PAIRS:-12}

# What reads traces is not wanted of tests/unit/made.c, and not linked.
$cc -std=gnu11 -O1 -D_GNU_SOURCE -ffunction-sections -I. -Iinclude tests/programs/read/diff.c -o "$dir/made" -Wl,--gc-sections \
	"$O/obj/libktr.a" -lm -lpthread || exit 1

# verdict of row WHAT NAME in the last JSON
row() {
	python3 - "$dir/out" "$1" "$2" <<'PY'
import json, sys
for r in json.load(open(sys.argv[1]))["rows"]:
    if r["what"] == sys.argv[2] and (r["name"] or "-") == sys.argv[3] and r.get("of", "p50") == "p50":
        print(r["verdict"])
PY
}

# The thirteenfold change of a server that was idle most of the time, in a burst of few and of many.
for cycles in 12 60 600; do
	mkdir "$dir/x$cycles" && "$dir/made" "$dir/x$cycles" 5 time 13 $cycles 1 20 >/dev/null || exit 1
	status 1 "$ktr" diff "$dir/x$cycles/a1" "$dir/x$cycles/b1"
	grep -q '^  slower  *file  *p50' "$dir/out" || fail "13 x of $cycles spans: $(cat "$dir/out")"
	grep -q 'nearly all of them in' "$dir/out" || [ $cycles -lt 60 ] || fail "no word of the idle ends"
	status 1 "$ktr" diff --json "$dir/x$cycles/a1" "$dir/x$cycles/b1"
	[ $cycles -lt 60 ] || is "duration of $cycles" "$(row duration -)" more
	status 1 "$ktr" diff --json "$dir/x$cycles/b1" "$dir/x$cycles/a1"
	is "the other way round" "$(row span file)" less
done
# Too few to tell is no reason to be content, and says how to learn more.
mkdir "$dir/few" && "$dir/made" "$dir/few" 6 time 13 3 1 20 >/dev/null || exit 1
status 3 "$ktr" diff "$dir/few/a1" "$dir/few/b1"
grep -q '^  cannot tell  *file  *p50' "$dir/out" || fail "3 spans: $(cat "$dir/out")"
grep -q 'ktr diff A1 A2 A3' "$dir/out" || fail "no advice: $(cat "$dir/out")"
# Idle ends alone change nothing: what is told of a trace with them is told of it without them.
mkdir "$dir/idle" "$dir/busy" && "$dir/made" "$dir/idle" 7 time 1 600 1 30 >/dev/null &&
	"$dir/made" "$dir/busy" 7 time 1 600 1 0 >/dev/null || exit 1
status 3 "$ktr" diff --least 50 --json "$dir/idle/a1" "$dir/busy/a1"
is "duration but for idle ends" "$(row duration -)" same
is "events per second but for idle ends" "$(row events -)" same
is "spans per second but for idle ends" "$(row spans file)" same
# The same trace is the same; several runs want a --, and so many on each side.
status 0 "$ktr" diff "$dir/few/a1" "$dir/few/a1"
status 2 "$ktr" diff "$dir/few/a1" "$dir/few/b1" "$dir/idle/a1"
status 2 "$ktr" diff "$dir/few/a1" "$dir/few/b1" --
status 2 "$ktr" diff "$dir/few/a1"
status 3 "$ktr" diff -- "$dir/few/a1" "$dir/few/b1"
# What a chart says is what ktr diff says.
for pair in x12 x600 few idle; do
	timeout 300 "$ktr" diff --all --json "$dir/$pair/a1" "$dir/$pair/b1" >"$dir/out"
	word=$(row span file | sed 's/more/slower/; s/less/faster/; s/unknown/cannot tell/')
	status 0 "$ktr" plot compare "$dir/$pair/a1" "$dir/$pair/b1" -o "$dir/plot.gp"
	grep -q "file: p50 $word" "$dir/plot.gp" || fail "plot compare of $pair does not say $word: $(grep -m 1 'file' "$dir/plot.gp")"
done

# Seven and the number of plans have no common divisor: each is met once.
i=0
: >"$dir/verdicts"
while [ $i -lt "$pairs" ]; do
	k=$((i * 7 % 240))
	factor=$(echo 1 1.05 1.2 2 13 | cut -d' ' -f$((k % 5 + 1)))
	kind=$(echo time rate | cut -d' ' -f$((k / 5 % 2 + 1)))
	cycles=$(echo 40 300 1500 | cut -d' ' -f$((k / 10 % 3 + 1)))
	runs=$(echo 1 3 1 6 | cut -d' ' -f$((k / 30 % 4 + 1)))
	idle=$(echo 0 20 | cut -d' ' -f$((k / 120 + 1)))
	least=$(echo 5 30 80 | cut -d' ' -f$((i % 3 + 1)))
	pair=$dir/pair
	rm -rf "$pair"
	mkdir "$pair"
	"$dir/made" "$pair" $((i + 1)) "$kind" "$factor" "$cycles" "$runs" "$idle" >"$dir/truth" || exit 1
	timeout 300 "$ktr" diff --json --least "$least" "$pair"/a* -- "$pair"/b* >"$dir/json" 2>"$dir/err"
	python3 tests/cli/read/diff_truth.py judge "$dir/truth" "$dir/json" $? "$factor $kind $cycles $runs $idle $least" \
		>>"$dir/verdicts" || fail "pair $i ($factor $kind $cycles $runs $idle $least): $(cat "$dir/err")"
	i=$((i + 1))
done
python3 tests/cli/read/diff_truth.py sum "$dir/verdicts" >"$dir/sum" || fail "$(cat "$dir/sum")"
[ "$pairs" -lt 100 ] || cat "$dir/sum"
exit $failed
