#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ^C ends every command that reads or draws with the status 130 and leaves nothing behind; progress shows on a terminal,
# nowhere else, and goes.
. "$(dirname "$0")/../lib.inc"

python3 -c 'import os; os.openpty()' 2>/dev/null || { skip "no pseudo-terminal can be had"; exit 0; }
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread ||
	exit 1
"$ktr" run -e 4M -o "$dir/trace" "$dir/flood" 120000 >"$dir/err" 2>&1 || { cat "$dir/err"; fail "no trace"; exit 1; }
mkdir "$dir/in"
python3 tests/cli/tool/interrupt.py "$ktr" "$dir/trace" "$dir/in" || failed=1
exit $failed
