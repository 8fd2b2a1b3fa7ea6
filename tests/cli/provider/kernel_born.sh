#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the kernel tells of children that were forked before anybody followed their parent, and are in the session only
# afterwards: they stand still in between, and each is told of then, once.
. "$(dirname "$0")/../lib.inc"

[ "$(id -u)" = 0 ] || {
	skip "giving up rights: only a superuser has them"
	exit 0
}
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/privileges.c -o "$dir/privileges" -L"$O/lib" -lktr -lpthread || exit 1
# A process that was forked off asks for its name before it has a row in the session.
cat >"$dir/forkgap.c" <<'C'
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static pid_t first;
__attribute__((constructor)) static void begin(void)
{
	first = getpid();
}
ssize_t readlink(const char *path, char *to, size_t size)
{
	if (getpid() != first && strcmp(path, "/proc/self/exe") == 0)
		raise(SIGSTOP);
	return syscall(SYS_readlinkat, -100, path, to, size);
}
C
$cc -O1 -shared -fPIC "$dir/forkgap.c" -o "$dir/forkgap.so" || exit 1
chmod 755 "$dir"
host= recorder= children=
at_exit() {
	# shellcheck disable=SC2086
	kill -9 $host $recorder $children 2>/dev/null
}

KTR_MASK=gen KTR_SESSION=one LD_LIBRARY_PATH="$O/lib" LD_PRELOAD="$dir/forkgap.so" "$dir/privileges" workers:waits 1600 "$dir/seen" \
	</dev/null 2>"$dir/err" &
host=$!
all_stand_still() {
	children=$(cat /proc/$host/task/$host/children 2>/dev/null)
	# shellcheck disable=SC2086 # four words
	set -- $children
	[ $# = 4 ] && for child; do grep -q '^State:.T' "/proc/$child/status" || return 1; done
}
await all_stand_still || exit 1
"$ktr" record -k -s one -o "$dir/trace" 2>"$dir/err2" &
recorder=$!
switched() {
	"$ktr" dump -q -s one 2>/dev/null | grep -q "privileges/$1 .*kswitch"
}
# It waits for its children, and is disturbed so that it is switched.
parent_switched() {
	kill -STOP $host && kill -CONT $host
	switched $host || { grep -q 'perf_event_open' "$dir/err2" && kill $recorder; }
}
await parent_switched || exit 1
if ! switched $host; then
	skip "what the kernel tells: $(cat "$dir/err2")"
	exit 0
fi
# shellcheck disable=SC2086
kill -CONT $children
for child in $children; do
	await "switched $child" || break
done
: >"$dir/seen"
wait $host || fail "exit status"
host=
wait $recorder || fail "the recorder's exit status: $(cat "$dir/err2")"
recorder=
"$ktr" dump -q "$dir/trace" >"$dir/text" 2>/dev/null
is 'events' "$(grep -c 'event [0-9]' "$dir/text")" 1600
# Of who is followed twice each switch is told twice: two that say the same, one after the other.
for child in $children; do
	grep "privileges/$child .*kswitch" "$dir/text" | sed 's/.*: //' >"$dir/states"
	[ "$(wc -l <"$dir/states")" -gt 8 ] || fail "$child: $(wc -l <"$dir/states") switches"
	is "told twice, $child" "$(uniq -d "$dir/states" | head -n 1)" ''
done
exit $failed
