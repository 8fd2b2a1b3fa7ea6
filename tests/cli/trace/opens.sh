#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# babeltrace2, ktr dump and ktr fsck open a trace again and again while it is written at full speed, and once more
# when the program has been killed over it: none is ever refused, finds damage, or has to repair. OPENS: how often, 10.
. "$(dirname "$0")/../lib.inc"
pid=
at_exit() { [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; }

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude tests/programs/trace/steady.c -o "$dir/steady" "$O/lib/libktr.a" \
	-lpthread || exit 1

# A trace of a gibibyte at most, then another: babeltrace2 opens each file twice by its name.
begin() {
	rm -rf "$dir/trace"
	KTR_MASK=gen KTR_ROTATE_SIZE=1G KTR_ROTATE_KEEP=0 KTR_FILE="$dir/trace" "$dir/steady" forever 2>/dev/null &
	pid=$!
	await '[ -n "$(find "$dir/trace" -name "cpu_?" -size +3k 2>/dev/null)" ]' || exit 1
}

end() {
	kill -9 $pid
	wait $pid 2>/dev/null
}

# The whole index is read, and the events of the first millisecond or so.
opened() {
	babeltrace2 --timerange="[00:00:00,00:00:01]" "$dir/trace" >"$dir/out" 2>"$dir/err"
}

refused() {
	fail "babeltrace2, open $i: $(head -n 20 "$dir/err")"
}

may_say="is still being written$\|was not finished: whoever wrote it was killed"
open() {
	opened || refused
	# The last event of each stream: its end is where it may be torn.
	"$ktr" dump --no-join -q -R -n 1 "$dir/trace" >/dev/null 2>"$dir/err" || fail "ktr dump, open $i: $(cat "$dir/err")"
	grep -v "$may_say" "$dir/err" && fail "ktr dump, open $i: the above"
}

open_dead() {
	open
	status 0 "$ktr" fsck -n "$dir/trace"
}

i=0
while [ $i -lt "${OPENS:-10}" ] && [ $failed = 0 ]; do
	[ $((i % 10)) -ne 0 ] || begin
	open
	i=$((i + 1))
	if [ $((i % 10)) = 0 ]; then
		end
		open_dead
	fi
done
exit $failed
