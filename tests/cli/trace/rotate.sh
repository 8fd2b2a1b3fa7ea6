#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Rotation of a running program's trace and of ktr record's: by size, by request from outside, with a
# number kept; each piece is a whole trace that babeltrace2 reads too, and no event is in none or in two.
. "$(dirname "$0")/../lib.inc"

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/trace/steady.c -o "$dir/steady" "$O/lib/libktr.a" \
	-lpthread || exit 1

numbers() {
	"$ktr" dump --no-join "$1" 2>/dev/null | grep -o 'step [0-9]*' | cut -d' ' -f2
}

# Every number once, over the pieces in their order; each piece reads the same in babeltrace2.
whole() { # trace, numbers
	: >"$dir/numbers"
	for piece in $(ls -d "$1".[0-9]* 2>/dev/null | sort -t. -k2n) "$1"; do
		numbers "$piece" >"$dir/piece"
		cat "$dir/piece" >>"$dir/numbers"
		babeltrace2 "$piece" >"$dir/bt" 2>&1 || fail "babeltrace2 $piece: $(tail -n 3 "$dir/bt")"
		[ "$(grep -c 'steady.c' "$dir/bt")" -eq "$(wc -l <"$dir/piece")" ] || fail "$piece: babeltrace2 differs"
	done
	seq 0 $(($2 - 1)) | cmp -s - "$dir/numbers" || fail "$1: not every number once: $(wc -l <"$dir/numbers") of $2"
}

# By size: ktr run, everything kept.
cd "$dir" || exit 1
KTR_MASK=gen "$ktr" run -e 64K --size 100K --keep 1000 -o sized ./steady 50000 2>err || fail "run: $(cat err)"
grep -q 'older part' err || fail "run does not tell of older parts: $(cat err)"
[ -e sized.3 ] || fail "sized was not rotated"
whole sized 50000
[ -n "$(find sized* -type d ! -perm 700 -o -type f ! -perm 600)" ] && fail "modes: $(ls -lR sized)"

# By time, in seconds without a unit: not before it is over.
for every in 3600 1h; do
	KTR_MASK=gen "$ktr" run --every $every -o "timed.$every" ./steady 2000 2>err || fail "run --every: $(cat err)"
	whole "timed.$every" 2000
	[ ! -e "timed.$every.1" ] || fail "--every $every: rotated"
done

# The same name again: nothing of the first run goes, and two are kept of the second.
ls -d sized.[0-9]* | wc -l >first
KTR_MASK=gen "$ktr" run -e 64K --size 100K --keep 2 -o sized ./steady 50000 2>err || fail "run: $(cat err)"
[ "$(ls -d sized.[0-9]* | wc -l)" -eq $(($(cat first) + 2)) ] || fail "kept: $(ls -d sized.*)"
[ -e sized.old.1 ] || fail "the first trace was not moved aside"
grep -q 'is removed' err || fail "removal was not told: $(cat err)"

# By request, twice, of a program that waits for us; and of ktr record beside it.
mkfifo go
KTR_MASK=gen KTR_ENTRIES=64K KTR_FILE=asked KTR_SESSION=asked ./steady 100 go 100 go 100 <go &
exec 9>go
await '[ -e asked/metadata ]'
"$ktr" record -s asked -o beside 2>record.err &
await '[ -e beside/metadata ]'
for i in 1 2; do
	await '[ "$("$ktr" sysctl -n -s asked debug.ktr.recorded)" -ge $((100 * i)) ]'
	await "[ \"\$(numbers asked | wc -l)\" -eq 100 ]"
	await "[ \"\$(numbers beside | wc -l)\" -eq 100 ]"
	"$ktr" sysctl -s asked debug.ktr.alq_rotate=1 >out 2>&1 || fail "sysctl: $(cat out)"
	await "[ -e asked.$i ] && [ -e asked/metadata ] && [ -e beside.$i ] && [ -e beside/metadata ]"
	echo go >&9
done
exec 9>&-
wait
whole asked 300
whole beside 300
grep -q '300 events' record.err || fail "record: $(cat record.err)"
exit $failed
