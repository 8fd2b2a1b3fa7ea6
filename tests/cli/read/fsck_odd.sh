#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr fsck and what is no file of its own: FIFOs, links, and files that have a second name.
. "$(dirname "$0")/../lib.inc"

${CC:-cc} -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" \
	"$O/lib/libktr.a" -lpthread || exit 1
KTR_MASK=all KTR_FILE=$dir/whole "$dir/events" 2000 || exit 1
stream=$(cd "$dir/whole" && ls -d cpu_* ring_* 2>/dev/null | head -n 1)
[ -s "$dir/whole/$stream" ] || fail "no stream"

for kind in fifo symlink; do
	for name in cpu_99 notes "$stream"; do
		rm -rf "$dir/t"
		cp -r "$dir/whole" "$dir/t"
		rm -f "$dir/t/$name"
		[ $kind = fifo ] && mkfifo "$dir/t/$name"
		[ $kind = symlink ] && ln -s "$dir/elsewhere" "$dir/t/$name"
		echo precious >"$dir/elsewhere"
		timeout 120 "$ktr" fsck -n "$dir/t" >"$dir/out" 2>&1
		[ $? = 4 ] || fail "fsck -n says nothing is wrong with a $kind called $name"
		grep -q "$name" "$dir/out" || fail "fsck does not name a $kind called $name: $(cat "$dir/out")"
		timeout 120 "$ktr" fsck "$dir/t" >"$dir/out" 2>&1
		[ $? = 1 ] || fail "fsck of a $kind called $name: $(cat "$dir/out")"
		[ ! -p "$dir/t/$name" ] && [ ! -L "$dir/t/$name" ] || fail "a $kind called $name is still there"
		is "what a link leads to" "$(cat "$dir/elsewhere")" precious
		status 0 "$ktr" fsck "$dir/t"
	done
done

# A backup by hard links keeps what it had.
rm -rf "$dir/t"
cp -r "$dir/whole" "$dir/t"
for file in "$dir/t/$stream" "$dir/t/metadata" "$dir/t"/ktr/*.jsonl; do
	printf 'torn' >>"$file"
done
cp -rl "$dir/t" "$dir/backup"
(cd "$dir/backup" && find . -type f -exec cksum {} + | sort -k 3) >"$dir/before"
timeout 120 "$ktr" fsck "$dir/t" >"$dir/out" 2>&1
[ $? = 1 ] || fail "fsck of a torn trace: $(cat "$dir/out")"
(cd "$dir/backup" && find . -type f -exec cksum {} + | sort -k 3) >"$dir/after"
diff "$dir/before" "$dir/after" >"$dir/out" || fail "the backup was changed: $(cat "$dir/out")"
status 0 "$ktr" fsck "$dir/t"
"$ktr" dump -q "$dir/whole" >"$dir/a" 2>/dev/null
"$ktr" dump -q "$dir/t" >"$dir/b" 2>/dev/null
cmp -s "$dir/a" "$dir/b" || fail "events are missing"
exit $failed
