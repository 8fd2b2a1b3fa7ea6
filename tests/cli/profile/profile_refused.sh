#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr profile where the kernel refuses it something, with each error that it may give: perf_event_open, ptrace, timer_create; in a
# namespace of users, mounts and processes; a program that is linked statically. What works is said in one line, the rest is refused
# with the reason, and the program runs as without.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}
cat >"$dir/works.c" <<'END2'
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) void works(void)
{
	for (unsigned i = 0; i < 60000000; i++)
		sum += i;
}
int main(int argc, char **argv)
{
	struct timespec t = { 0, 20000000 };
	alarm(300);
	do {
		works();
		nanosleep(&t, NULL);
	} while (argc > 1 && strcmp(argv[1], "on") == 0);
	puts("done");
	return 7;
}
END2
$cc -O2 -o "$dir/works" "$dir/works.c" && $cc -O2 -static -o "$dir/still" "$dir/works.c" &&
	$cc -O2 -o "$dir/refused" tests/programs/profile/refused.c || { fail 'works.c'; exit 1; }

# ERROR TEXT: as <asm-generic/errno-base.h> and errno.h number them
errors='1:Operation not permitted
13:Permission denied
38:Function not implemented
22:Invalid argument
24:Too many open files
12:Cannot allocate memory
11:Resource temporarily unavailable
16:Device or resource busy
95:Operation not supported'

# said WHAT TEXT: one line of it, which says that
said() {
	[ "$(grep -c "$2" "$dir/err")" = 1 ] || fail "$1: not said once, \"$2\": $(cat "$dir/err")"
}

# The machine may refuse some anyway.
"$ktr" profile --off-cpu -o "$dir/t" "$dir/works" >/dev/null 2>"$dir/err"
grep -q perf_event_open "$dir/err" && skip "context switches: $(grep perf_event_open "$dir/err")"

echo "$errors" | while IFS=: read -r number text; do
	# Without context switches calls are told.
	rm -rf "$dir/t"
	status 7 "$dir/refused" "perf_event_open=$number" "$ktr" profile --off-cpu -o "$dir/t" "$dir/works"
	said "perf_event_open, $number" "perf_event_open: $text"
	is "perf_event_open, $number: the program" "$(cat "$dir/out")" done
	status 0 "$ktr" report --profile "$dir/t"
	grep -q 'by calls that wait alone' "$dir/out" && grep -q ' works' "$dir/out" || fail "perf_event_open, $number: $(cat "$dir/out")"
	# Without timers there are no samples.
	rm -rf "$dir/t"
	status 7 "$dir/refused" "timer_create=$number" "$ktr" profile --source timers -o "$dir/t" "$dir/works"
	said "timer_create, $number" "no timers can be had: $text"
	is "timer_create, $number: the program" "$(cat "$dir/out")" done
	# Without perf events they are by timers, which is said.
	rm -rf "$dir/t"
	status 7 "$dir/refused" "perf_event_open=$number" "$ktr" profile -o "$dir/t" "$dir/works"
	said "perf_event_open, $number" "by timers of threads, for perf events cannot be had (perf_event_open(2): $text)"
	status 0 "$ktr" report --profile "$dir/t"
	grep -q ' works' "$dir/out" || fail "perf_event_open, $number: no samples: $(cat "$dir/out")"
	# Without ptrace what runs is not reached.
	"$dir/works" on >"$dir/works.out" &
	pid=$!
	await 'became $pid "$dir/works"'
	status 1 "$dir/refused" "ptrace=$number" "$ktr" profile -p $pid -d 1s -o "$dir/p"
	said "ptrace, $number" "process $pid "
	kill -0 $pid || fail "ptrace, $number: the program is gone"
	kill -9 $pid
	wait $pid 2>/dev/null
	[ $failed = 0 ] || exit 1
done || failed=1

# What the command may not do is the process's business.
"$dir/works" on >"$dir/works.out" &
pid=$!
pids=$pid
await 'became $pid "$dir/works"'
for call in timer_create perf_event_open; do
	status 0 "$dir/refused" $call "$ktr" profile -p $pid --off-cpu -d 500ms -o "$dir/p"
	status 0 "$ktr" report --profile "$dir/p"
	grep -q ' works' "$dir/out" || fail "$call, of the command alone: $(cat "$dir/out")"
done

# Namespaces: within one all works; from outside it is refused, and said.
if unshare --user --map-root-user --mount --pid --fork --mount-proc true 2>"$dir/err"; then
	status 7 unshare --user --map-root-user --mount --pid --fork --mount-proc "$ktr" profile --off-cpu -o "$dir/u" "$dir/works"
	status 0 "$ktr" report --profile "$dir/u"
	grep -q ' works' "$dir/out" || fail "within namespaces: $(cat "$dir/out")"
	# unshare(1) cannot die as its child is killed here, and complains.
	unshare --user --map-root-user --mount --pid --fork --mount-proc "$dir/works" on >"$dir/works.out" 2>"$dir/outer.err" &
	outer=$!
	pids="$pids $outer"
	await 'inner=$(cat "/proc/$outer/task/$outer/children"); [ -n "$inner" ] && became ${inner% } "$dir/works"'
	status 1 "$ktr" profile -p ${inner% } -d 500ms -o "$dir/v"
	is 'another namespace: lines' "$(grep -c . "$dir/err")" 1
	said 'another namespace' 'namespace'
	kill -0 ${inner% } || fail 'the program in a namespace is gone'
	kill -9 ${inner% }
	wait $outer
	is 'unshare(1)' "$(grep -vc 'sigprocmask unblock failed' "$dir/outer.err")" 0
	# Both in one.
	unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c '
		"$1" on >/dev/null & "$2" profile -p $! -d 500ms -o "$3"; status=$?; kill -9 $!; exit $status' \
		sh "$dir/works" "$ktr" "$dir/w" >"$dir/out" 2>"$dir/err" || fail "attached within namespaces: $(cat "$dir/err")"
	status 0 "$ktr" report --profile "$dir/w"
	grep -q ' works' "$dir/out" || fail "attached within namespaces: $(cat "$dir/out")"
else
	skip "namespaces: $(cat "$dir/err")"
fi

# Static.
status 1 "$ktr" profile -o "$dir/s" "$dir/still"
said 'linked statically' 'static'
"$dir/still" on >"$dir/works.out" &
pid=$!
pids="$pids $pid"
await 'became $pid "$dir/still"'
status 1 "$ktr" profile -p $pid -d 500ms -o "$dir/s"
is 'linked statically, -p: lines' "$(grep -c . "$dir/err")" 1
said 'linked statically, -p' 'linked statically'
exit $failed
