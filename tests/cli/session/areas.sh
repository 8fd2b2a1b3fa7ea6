#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Rings that change their size again and again under a writer, which reads them through its mapping: the memory of
# what they leave comes back, at once or, where the writer is stopped, with the next change; and the trace is whole.
. "$(dirname "$0")/../lib.inc"
host=
at_exit() { [ -z "$host" ] || kill -9 "$host" 2>/dev/null; }

$cc -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude tests/programs/trace/steady.c -o "$dir/steady" "$O/lib/libktr.a" -lpthread || exit 1
KTR_ENTRIES=4K KTR_MASK=gen KTR_SESSION=areas KTR_ROTATE_SIZE=4M KTR_ROTATE_KEEP=1 \
	KTR_FILE="$dir/trace" "$dir/steady" forever 2>/dev/null &
host=$!
await '[ -e "$dir/trace/metadata" ]'
"$ktr" sysctl -s areas entries=2K 2>&1 | grep -q 'rings of threads keep their size' &&
	{ skip "there are no restartable sequences here"; exit 0; }

blocks() { find "$KTR_DIR" -name '*.ktr' -printf '%b\n'; }
entries() {
	timeout 120 "$ktr" sysctl -s areas "debug.ktr.entries=$1" >/dev/null 2>"$dir/err" || fail "entries=$1: $(cat "$dir/err")"
}
# Small rings again have no more memory than small ones had, but for what threads and sites took meanwhile. A writer
# that does not get the CPU gives it up with a later change.
small=$(blocks)
back() {
	for _ in $(seq 50); do
		[ "$(blocks)" -ge $((small + 2048)) ] || return
		entries 2K
		entries 4K
	done
	fail "$1: $(blocks) blocks of 512 bytes, $small before"
}
for i in 1 2 3 4 5; do
	entries 64K
	large=$(blocks)
	[ "$large" -gt $((small + 4096)) ] || fail "larger rings have no more memory: $large blocks, $small before"
	entries 4K
	back "round $i"
done
entries 64K
kill -STOP $host
entries 4K
kill -CONT $host
back "a writer that was stopped"
kill -TERM $host
wait $host 2>/dev/null
host=
status 0 "$ktr" fsck "$dir/trace"
exit $failed
