#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The shell of ktr sql on a terminal: line editing, completion, history, boxes, complaints with a caret, ^C.
. "$(dirname "$0")/../lib.inc"

python3 -c 'import os; os.openpty()' 2>/dev/null || { skip "no pseudo-terminal can be had"; exit 0; }
[ -e /usr/include/sqlite3.h ] && [ -e /usr/include/histedit.h ] || { skip "built without SQLite or libedit"; exit 0; }
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread ||
	exit 1
$cc -std=gnu11 -O2 -D_GNU_SOURCE -shared -fPIC tests/programs/tool/slow_keys.c -o "$dir/slow_keys.so" || exit 1
"$ktr" run -o "$dir/trace" "$dir/flood" 3000 >"$dir/err" 2>&1 || { cat "$dir/err"; fail "no trace"; exit 1; }
mkdir "$dir/home"
python3 tests/cli/tool/shell.py "$ktr" "$dir/trace" "$dir/home" "$dir/slow_keys.so" || failed=1

# Whoever has run `make demo` or `make setup` has line editing.
for kind in build demo; do
	sed -n '1,/^for kind/p;/^	'"$kind"')/,/;;/p' scripts/setup.sh | grep -q 'need libedit-dev' ||
		fail "scripts/setup.sh $kind installs no libedit"
done
exit $failed
