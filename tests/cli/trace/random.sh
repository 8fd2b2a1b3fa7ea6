#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Events at random, of all types of arguments, are the same in the rings and in the trace, in what the writer prints
# and to babeltrace2. SEEDS: which programs, 1 and 2.
. "$(dirname "$0")/../lib.inc"
export KTR_CONF= KTR_MASK=all KTR_PROBES='*'
for seed in ${SEEDS:-1 2}; do
	python3 tests/cli/trace/random_events.py "$seed" >"$dir/random.c" || exit 1
	$cc -std=gnu11 -w -O1 -DKTR_NO_FORMAT_CHECK -Iinclude "$dir/random.c" -o "$dir/random" "$O/lib/libktr-probe.a" \
		"$O/lib/libktr.a" -lpthread || exit 1
	for path in rseq thread; do
		what="seed $seed, $path"
		KTR_PATH=$path KTR_SESSION=random KTR_KEEP_SESSION=1 KTR_VERBOSE=1 KTR_FILE=$dir/trace "$dir/random" \
			2>"$dir/err" || fail "$what: the program fails"
		# Both map the clock by two readings of their own.
		"$ktr" json --events "$dir/trace" | sed 's/"ts_ns":[0-9]*,//' >"$dir/of.trace"
		"$ktr" json --events -s random | sed 's/"ts_ns":[0-9]*,//' >"$dir/of.rings"
		[ "$(wc -l <"$dir/of.trace")" -gt 190 ] || fail "$what: $(wc -l <"$dir/of.trace") events"
		cmp -s "$dir/of.trace" "$dir/of.rings" ||
			fail "$what: trace and rings differ: $(diff "$dir/of.trace" "$dir/of.rings" | head -c 600)"
		# Rings are printed one by one.
		sed 's/.*"msg":"\([^"]*\)".*/\1/' "$dir/of.trace" | LC_ALL=C sort >"$dir/texts"
		sed -n 's/^cpu[0-9]* //p' "$dir/err" | LC_ALL=C sort | diff "$dir/texts" - >"$dir/out" ||
			fail "$what: the writer prints something else: $(head -c 600 "$dir/out")"
		if command -v babeltrace2 >/dev/null; then
			is "$what: events of babeltrace2" "$(babeltrace2 "$dir/trace" | wc -l)" "$(wc -l <"$dir/of.trace")"
		fi
		"$ktr" rm random >/dev/null
		rm -rf "$dir/trace"
	done
done
exit $failed
