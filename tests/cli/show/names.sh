#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Threads are shown by the name that they have, whoever gave it and when: pthread_setname_np(3) of a parent, behind the
# thread's first event. ktr_thread_name() stands above that.
. "$(dirname "$0")/../lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/show/names.c "$O/lib/libktr.a" -lpthread -o "$dir/names" || exit 1
host=
at_exit() { [ -z "$host" ] || kill -9 "$host" 2>/dev/null; }

shows() {
	what=$1
	shift
	status 0 "$ktr" sql --csv "$@" "select name from threads order by name"
	names=$(tr -d '\r' <"$dir/out" | sed -n '2,$p' | tr '\n' ',')
	is "$what" "$names" "given,named late,names,"
	status 0 "$ktr" dump -q -H "$@"
	grep -q 'named late/.*first event' "$dir/out" || fail "$what: $(cat "$dir/out")"
}
status 0 env KTR_FILE="$dir/t" KTR_MASK=all "$dir/names"
shows "a trace of the program's own" "$dir/t"
KTR_MASK=all KTR_SESSION=names "$dir/names" stay &
host=$!
await '"$ktr" dump -q -s names 2>/dev/null | grep -q "both have names"'
shows "a session that lives" -s names
timeout 300 "$ktr" record -s names -o "$dir/r" >"$dir/record" 2>&1 &
record=$!
await '"$ktr" dump -q "$dir/r" 2>/dev/null | grep -q "both have names"'
# At once: the names that threads had before the trace began are in it from its first line.
kill -9 $host
wait $record || fail "ktr record: $? $(cat "$dir/record")"
shows "a trace made outside" "$dir/r"
exit $failed
