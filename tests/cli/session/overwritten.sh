#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Rings keep the newest events: a picture of a session does not call older ones lost.
. "$(dirname "$0")/../lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/trace/steady.c "$O/lib/libktr.a" -lpthread -o "$dir/steady" || exit 1
status 0 env KTR_SESSION=kept KTR_KEEP_SESSION=1 KTR_ENTRIES=1024 KTR_MASK=all "$dir/steady" 100000
for way in "timeline --color always" "plot rate -o $dir/rate.svg"; do
	case $way in plot*) command -v gnuplot >/dev/null || continue ;; esac
	# shellcheck disable=SC2086
	status 0 "$ktr" $way -s kept
	grep -qs 'made room' "$dir/out" "$dir/rate.svg" || fail "$way: what became of older events: $(cat "$dir/out")"
	grep -q 'events were lost\|events lost' "$dir/out" "$dir/rate.svg" 2>/dev/null && fail "$way: normal overwriting is called a loss"
done
# The same rings as a trace that somebody keeps agree with that.
status 0 "$ktr" snapshot -s kept -o "$dir/t"
status 0 "$ktr" timeline "$dir/t"
grep -q 'events were lost' "$dir/out" && fail "a snapshot lost what rings had no more: $(cat "$dir/out")"
exit $failed
