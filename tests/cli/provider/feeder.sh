#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The number of a process in the session, of one that lives and feeds no events of the kernel, keeps nobody from doing so.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Iinclude tests/programs/provider/feeder.c -o "$dir/feeder" "$O/lib/libktr.a" \
	-lpthread ${KTR_TEST_LIBS:-} || exit 1
for path in ${KTR_PATHS:-rseq thread}; do
	rm -rf "$dir/trace"
	KTR_PATH=$path KTR_MASK=gen KTR_FILE=$dir/trace timeout 300 "$dir/feeder" >"$dir/out" 2>"$dir/err" ||
		fail "$path: $(cat "$dir/err")"
	grep -q 'no events of the kernel' "$dir/err" && { skip "$path: $(cat "$dir/err")"; continue; }
	n=$("$ktr" dump -q --filter 'class == kswitch' "$dir/trace" 2>/dev/null | wc -l)
	[ "$n" -ge 50 ] || fail "$path: $n events of the kernel in 100 naps: $(cat "$dir/err")"
done
exit $failed
