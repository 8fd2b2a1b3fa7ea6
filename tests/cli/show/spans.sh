#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Report, sql, timeline, page, folded stacks, Chrome and Perfetto show the same spans and states of random traces with
# losses, nested and interleaved keys, ends on other threads, and threads and processes that end. SPANS: how many
# traces; SPANS_SEED: the first one's seed. UNIT: what makes the traces.
. "$(dirname "$0")/../lib.inc"

seed=${SPANS_SEED:-1} n=${SPANS:-24}
KTR_SPANS_TO=$dir KTR_SPANS=$n KTR_SPANS_SEED=$seed timeout 300 "${UNIT:-$O/tests/unit}" span_traces >"$dir/out" 2>&1 ||
	fail "making traces: $(tail -n 20 "$dir/out")"
for i in $(seq "$seed" $((seed + n - 1))); do
	timeout 300 python3 tests/cli/show/spans.py "$ktr" "$dir/$i" >>"$dir/all" 2>&1 ||
		fail "seed $i: $(tail -n 25 "$dir/all" | cut -c 1-600)"
	rm -rf "$dir/$i"
done
# They do have what is looked at.
for how in ended missing left open 'no start'; do
	[ "$n" -lt 8 ] || [ "$(grep -c "'$how': [0-9]" "$dir/all")" -ge $((n / 2)) ] || fail "no traces with spans of '$how'"
done
exit $failed
