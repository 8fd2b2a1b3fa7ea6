#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Traces that were written once are read for ever, on a machine that has never seen the program: the same text,
# and the same as tests/golden/decode.py, which knows nothing but ktr-trace(5), reads. What is written today
# agrees with that page as well; tar(1) of a trace is all that another machine needs.
. "$(dirname "$0")/../lib.inc"

# By the page alone, and by babeltrace2.
check() {
	"$ktr" json --no-join "$1" >"$dir/json" 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
	python3 tests/golden/decode.py "$1" "$dir/json" >"$dir/out" 2>&1 || fail "$1: $(tail -n 1 "$dir/out")"
	"$ktr" fsck -n -q "$1" || fail "$1: something is wrong with it"
	command -v babeltrace2 >/dev/null || return
	python3 tests/cli/read/agree.py "$ktr" "$1" >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"
}

# Of both forms of packets, the older one without a number.
for name in rseq thread rseq-2 thread-2; do
	t=tests/golden/$name
	check $t
	# Functions' names in a stack depend on what is installed here.
	"$ktr" dump --raw -q --time raw -tcHkfi $t 2>"$dir/err" | grep -v 'stack: ' >"$dir/text"
	[ -s "$dir/err" ] && fail "$t: $(cat "$dir/err")"
	cmp -s "$dir/text" "$t.txt" || fail "$t: $(diff "$dir/text" "$t.txt" | head -n 4)"
	grep -v '^---' "$t.txt" >"$dir/want"
	"$ktr" dump --raw -q -R --time raw -tcHkfi $t 2>/dev/null | grep -v -e 'stack: ' -e '^---' | tac |
		cmp -s - "$dir/want" ||
		fail "$t: not the same in reverse"
done

# Repairs write what is missing in the form that the trace has.
for name in rseq rseq-2; do
	for gone in metadata ktr/info.jsonl ktr/sites.jsonl front; do
		rm -rf "$dir/mended"
		cp -r "tests/golden/$name" "$dir/mended"
		if [ $gone = front ]; then
			# The first packet; the next one begins behind an empty one that counts what is missing.
			dd if=/dev/zero of="$(ls "$dir"/mended/cpu_?)" bs=40 count=1 conv=notrunc 2>/dev/null
		else
			rm "$dir/mended/$gone"
		fi
		"$ktr" fsck "$dir/mended" >/dev/null 2>"$dir/err"
		"$ktr" fsck -n -q "$dir/mended" >"$dir/err" 2>&1 || fail "$name without $gone: $(cat "$dir/err")"
		for reader in babeltrace babeltrace2; do
			command -v $reader >/dev/null || continue
			n=$($reader "$dir/mended" 2>"$dir/err" | wc -l)
			is "$name without $gone, $reader: $(grep -v iscarded "$dir/err" | head -n 2)" "$n" \
				"$("$ktr" json --no-join "$dir/mended" 2>/dev/null | grep -c '"type":"event"')"
		done
	done
done

${CC:-cc} -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" \
	"$O/lib/libktr.a" -lpthread || exit 1
for path in rseq thread; do
	KTR_PATH=$path KTR_MASK=all KTR_ENTRIES=256 KTR_FILE="$dir/$path" "$dir/events" 150 ||
		fail "the program failed"
	check "$dir/$path"
done

# Away with the program and its session; the trace goes in a bag.
"$ktr" dump -q --time raw -tcHkfi "$dir/rseq" | grep -v 'stack: ' >"$dir/want"
tar -C "$dir" -cf "$dir/bag.tar" rseq
rm -rf "$dir/rseq" "$dir/events"
rm -rf "${KTR_DIR:?}"/*
mkdir "$dir/elsewhere"
tar -C "$dir/elsewhere" -xf "$dir/bag.tar"
(cd "$dir/elsewhere" && env -i "$ktr" dump -q --time raw -tcHkfi rseq 2>"$dir/err") | grep -v 'stack: ' |
	cmp -s - "$dir/want" || fail "elsewhere it reads differently: $(cat "$dir/err")"
[ -s "$dir/err" ] && fail "elsewhere: $(cat "$dir/err")"
exit $failed
