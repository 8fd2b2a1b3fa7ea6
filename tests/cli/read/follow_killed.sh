#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A trace is followed whose program is killed while the reader is away: what its file has meanwhile and what is left in the
# session come in the order of time, and each event is of a thread with a name.
. "$(dirname "$0")/../lib.inc"
program= reader=
at_exit() {
	[ -z "$program" ] || kill -9 "$program" 2>/dev/null
	[ -z "$reader" ] || kill -9 "$reader" 2>/dev/null
}
cat >"$dir/slow.c" <<'C'
#include <ktr.h>
#include <poll.h>
#include <stdio.h>
int main(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	for (int i = 0; poll(&in, 1, 1) == 0;) {
		for (int end = i + 100; i < end; i++)
			CTR2(KTR_GEN, "%d %s", i, "some text that takes its room in a trace");
		printf("%d\n", i);
		fflush(stdout);
	}
	return 0;
}
C
$cc -std=gnu11 -O2 -Iinclude "$dir/slow.c" -o "$dir/slow" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
mkfifo in
KTR_MASK=all KTR_FILE=trace ./slow <in >count &
program=$!
exec 7>in
await '[ -e trace/metadata ]'
"$ktr" tail -q -tH --time raw -n all --until-end trace >told 2>err 7>&- &
reader=$!
await '[ "$(wc -l <told)" -gt 1000 ]'
kill -STOP $reader
n=$(tail -n 1 count)
await '[ "$(tail -n 1 count)" -gt $((n + 20000)) ]'
kill -9 $program
wait $program 2>/dev/null
program=
exec 7>&-
kill -CONT $reader
await "! kill -0 $reader 2>/dev/null" || kill -9 $reader
wait $reader
reader=
"$ktr" dump -q --time raw -tH trace >want 2>err || fail "dump: $(cat err)"
[ "$(wc -l <told)" -gt 20000 ] || fail "only $(wc -l <told) events"
cmp -s told want || fail "followed, it is another one: $(diff told want | head -n 4)"
exit $failed
