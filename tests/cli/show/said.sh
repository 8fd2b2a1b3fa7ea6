#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a headline is about can be found below it: on the terminal, in a picture, on a page; and what counters show of
# numbers below zero and beyond 32 bits.
. "$(dirname "$0")/../lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -Wall -Wextra -Werror -Iinclude tests/programs/show/said.c "$O/lib/libktr.a" -lpthread -o "$dir/said" || exit 1
status 0 "$ktr" run -m all -o "$dir/t" "$dir/said"
status 0 "$ktr" timeline --rows ids --width 120 --color never "$dir/t"
grep -q '^row 5 is "waiting" .* of the time: ' "$dir/out" || fail "headline: $(head -n 2 "$dir/out")"
is "marked lines" "$(grep -c '^>' "$dir/out")" 1
grep -q '^> row 5  *[^ ]' "$dir/out" || fail "row 5 is not marked: $(cat "$dir/out")"
# Also where there is room for two rows.
status 0 "$ktr" timeline --rows ids --group work -o "$dir/small.gp" --size 600x300 "$dir/t"
grep -q 'row 5 is ' "$dir/small.gp" && grep -q '^set label .* "row 5" at ' "$dir/small.gp" || fail "row 5 has no line in a small picture"
# No row below zero: it hangs.
status 0 "$ktr" timeline --group n --rows ids --width 120 --color never "$dir/t"
grep -q '4096 to 81920 KiB' "$dir/out" || fail "unit: $(cat "$dir/out")"
grep -q -- '-7 to 3000000000' "$dir/out" && grep -q -- '-0.36 to 0.25' "$dir/out" || fail "ranges: $(cat "$dir/out")"

status 0 "$ktr" timeline -o "$dir/page.html" "$dir/t"
python3 - "$dir/page.html" <<'END' >"$dir/log" 2>&1 || fail "page: $(cat "$dir/log")"
import base64, json, re, sys, zlib
page = open(sys.argv[1]).read()
index = json.loads(zlib.decompress(base64.b64decode(re.search(r'id="index">([^<]*)<', page)[1])))
said = [line for line in index["views"]["ids"]["lines"] if line[6]]
assert [line[0] for line in said] == ["row 5"], said
(row, begin, end), = index["frame"]["said"]
assert row == said[0][1] and 0 <= begin < end <= index["span"] and end - begin > index["span"] / 2, index["frame"]
END

if command -v gnuplot >/dev/null; then
	status 0 "$ktr" timeline --rows ids -o "$dir/t.svg" "$dir/t"
	# The row's name is bold; the ends of the counters' axes.
	grep -q 'font-weight="bold"[^>]*>.*row 5<' "$dir/t.svg" || grep -A 2 'bold' "$dir/t.svg" | grep -q '>row 5<' ||
		fail "row 5 is not bold"
	for text in 3G -7 0.25 -0.36 9.22E '4096 to 81920 KiB'; do
		grep -q ">$text<" "$dir/t.svg" || fail "timeline: no $text"
	done
	status 0 "$ktr" plot counters -o "$dir/c.svg" "$dir/t"
	for text in 3G 2G 0.2 -0.2 10E KiB; do
		grep -q ">[ 	]*$text<" "$dir/c.svg" || fail "plot counters: no $text"
	done
	! grep -q '1000M' "$dir/c.svg" || fail "plot counters: 1000M"
else
	skip "no gnuplot"
fi
exit $failed
