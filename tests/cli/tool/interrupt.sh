#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ^C ends every command that reads or draws with the status 130 and leaves nothing behind; progress shows on a terminal,
# nowhere else, and goes.
. "$(dirname "$0")/../lib.inc"
# On a busy machine a key may come before what it is meant for: asked for by TERMINALS=1 alone.
[ -n "${TERMINALS:-}" ] || { skip "terminals, but for TERMINALS=1"; exit 0; }

python3 -c 'import os; os.openpty()' 2>/dev/null || { skip "no pseudo-terminal can be had"; exit 0; }
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread ||
	exit 1
"$ktr" run -e 4M -o "$dir/trace" "$dir/flood" 120000 >"$dir/err" 2>&1 || { cat "$dir/err"; fail "no trace"; exit 1; }
mkdir "$dir/in"
PYTHONDONTWRITEBYTECODE=1 python3 tests/cli/tool/interrupt.py "$ktr" "$dir/trace" "$dir/in" || failed=1

# Where stderr is no terminal there is no progress; SIGTERM cleans up, too.
"$ktr" json "$dir/trace" -o "$dir/in/x.json" 2>"$dir/err" &
pid=$!
i=0
while [ -z "$(ls "$dir/in"/x.json.* 2>/dev/null)" ] && [ $i -lt 600 ]; do
	sleep 0.02
	i=$((i + 1))
done
kill "$pid"
wait "$pid" 2>/dev/null
is "the status after SIGTERM" $? 143
is "what is left" "$(ls "$dir/in"/x.* 2>/dev/null)" ""
is "what was said" "$(cat "$dir/err")" ""
exit $failed
