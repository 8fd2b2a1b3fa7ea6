#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Chrome's format, as readers take it: in doubles no state ends behind the beginning of the next one.
. "$(dirname "$0")/../lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/show/chrome.c "$O/lib/libktr.a" -lpthread -o "$dir/chrome" || exit 1
status 0 env KTR_FILE="$dir/t" KTR_MASK=all "$dir/chrome"
status 0 "$ktr" export chrome -o "$dir/json" "$dir/t"
status 0 python3 - "$dir/json" <<'END'
import collections, json, sys
rows = collections.defaultdict(list)
for event in json.load(open(sys.argv[1])):
    if event['ph'] == 'X':
        rows[event['pid'], event['tid']].append(event)
n = late = 0
for row in rows.values():
    row.sort(key=lambda event: event['ts'])
    for one, other in zip(row, row[1:]):
        n += 1
        late += one['ts'] + one['dur'] > other['ts']
        # Nor was it made shorter than the nanosecond that all of this is about.
        assert other['ts'] - (one['ts'] + one['dur']) < 0.001, (one, other)
assert n > 10000, n
assert late == 0, '%u of %u slices end behind the beginning of the next' % (late, n)
END
exit $failed
