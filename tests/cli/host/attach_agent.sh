#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr attach, ktr detach: a process that knows nothing of ktr, and counts what could tell it, is attached to and let go
# of in whatever its threads do: no call ends with EINTR or before its time, no register and no memory is another. Its
# session is one like others. What cannot be attached to is refused with the rule, and is as before.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "ktr attach is for x86-64"; exit 0 ;;
esac
host=$dir/attach_host
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra tests/programs/host/attach_host.c -o "$host" -lpthread -ldl || exit 1
echo 'int attach_answer(void) { return 42; }' | $cc -shared -fPIC -x c - -o "$dir/libanswer.so" || exit 1
export ATTACH_LIBRARY="$dir/libanswer.so"
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}

# begin NAME ROLE...: in the background; $! is it, $dir/NAME.out what it prints, $dir/NAME.stop ends it
begin() {
	name=$1
	shift
	"$host" "$dir/$name.stop" "$@" >"$dir/$name.out" &
	pids="$pids $!"
	begun "$name"
}
begun() {
	beginner=$1
	await 'grep -qs begun "$dir/$beginner.out"'
}
ended() { # NAME PID: it has counted nothing
	: >"$dir/$1.stop"
	wait "$2" || fail "$1: exit status $?: $(grep -v ' 0 EINTR, 0 wrong, 0 early' "$dir/$1.out")"
}
# attach PID [OPTION...]
attach() {
	at=$1
	shift
	status 0 "$ktr" attach -p "$at" "$@"
}
# Threads of ours, but for the one that waits for probes to be switched.
writers() {
	cat "/proc/$1"/task/*/comm | grep '^ktr-' | grep -vc '^ktr-provider$'
}
events() {
	"$ktr" dump -p "$1" | wc -l
}

begin probe spin
probe=$!
"$ktr" attach -p $probe 2>"$dir/err" || case $(cat "$dir/err") in
*'kernel forbids'* | *ptrace*) skip "$(cat "$dir/err")"; ended probe $probe; exit 0 ;;
esac
ended probe $probe

# ---- a session like others ----

begin busy spin malloc stdio epoll sem nanosleep signal
busy=$!
begin kernel poll
kernel=$!
attach $kernel -k
options=-k
if "$ktr" run --agent -k -o "$dir/k" true 2>&1 | grep -q perf_event_open; then
	skip "what the kernel tells"
	options=
else
	await '"$ktr" dump -p $kernel 2>/dev/null | grep -q " kswitch "'
fi
ended kernel $kernel
attach $busy $options -m kswitch,proc
grep -q "process $busy (attach_host) has session attach_host.$busy; next: ktr tail -p $busy" "$dir/err" || fail "$(cat "$dir/err")"
if [ -n "$options" ]; then
	switched() { "$ktr" dump -p $busy | awk '$4 == "kswitch" { print $3 }' | sort -u | wc -l; }
	await '[ "$(switched)" -ge 6 ]' || fail "threads that are seen: $(switched)"
	timeout 300 "$ktr" tail -p $busy 2>&1 | head -n 5 >"$dir/out"
	[ "$(wc -l <"$dir/out")" = 5 ] || fail 'tail'
	is 'a knob' "$("$ktr" sysctl -n -p $busy debug.ktr.kernel)" 'all'
fi
is 'its descriptors' "$(ls -l /proc/$busy/fd | grep -c '\.ktr\|memfd')" 0
status 0 "$ktr" detach -p $busy
is 'threads after detach' "$(writers $busy)" 0
before=$(events $busy)
is 'the mask after detach' "$("$ktr" sysctl -n -p $busy debug.ktr.mask)" none
attach $busy -o "$dir/trace" $options -m kswitch,proc
is 'one agent' "$(grep -c 'r-xp.*ktr-agent' /proc/$busy/maps)" 1
await '[ "$(events $busy)" -gt "$before" ]'
status 0 "$ktr" detach -p $busy
is 'threads after the second' "$(writers $busy)" 0
if [ -n "$options" ]; then
	[ "$("$ktr" dump "$dir/trace" | grep -c ' kswitch ')" -gt 10 ] || fail 'the trace is empty'
	after=$(events $busy)
	attach $busy -m none
	status 0 "$ktr" detach -p $busy
	is 'after detach nothing is recorded' "$(events $busy)" "$after"
fi
status 0 "$ktr" fsck "$dir/trace"
for i in $(seq 20); do
	attach $busy
	status 0 "$ktr" detach -p $busy
done
# Threads that have attached end.
await '[ "$(cat /proc/$busy/task/*/comm | grep -c ktr-attach)" = 0 ]'
ended busy $busy

# ---- in each call, and wherever a thread may be: with one thread, which it then is that is stopped ----

roles='spin malloc dlopen epoll epoll2 semtimedop sem sigtimedwait nanosleep poll select recv accept connect msgrcv signal
fork stdio'
for role in $roles; do
	"$host" "$dir/$role.stop" "$role" >"$dir/$role.out" &
	pids="$pids $!"
	eval "pid_$role=\$!"
done
for role in $roles; do
	begun $role
	eval "at=\$pid_$role"
	"$ktr" attach -p $at >"$dir/$role.err" 2>&1 && "$ktr" detach -p $at >>"$dir/$role.err" 2>&1 &&
		"$ktr" attach -p $at >>"$dir/$role.err" 2>&1 || fail "$role: $(cat "$dir/$role.err")" &
	eval "tool_$role=\$!"
done
for role in $roles; do
	eval "wait \$tool_$role"
	grep -q "has session" "$dir/$role.err" || fail "$role: $(cat "$dir/$role.err")"
	eval "ended $role \$pid_$role"
done

# A time goes on to run while it is stopped: the call is made again with what is left. When a call began is not always
# known (it may be on another CPU by then), so one of three is enough.
for try in 1 2 3; do
	begin long$try long
	long=$!
	await 'grep -qs 0xea60 /proc/$long/syscall || [ ! -e /proc/self/syscall ]'
	attach $long
	await 'left=$(awk "\$1 == 232 || \$1 == 281 { print \$5 }" /proc/$long/syscall); [ -n "$left" ] || [ ! -e /proc/self/syscall ]'
	kill $long
	left=$((left & 0xffffffff)) # of which the kernel takes no more
	[ $((left)) -gt 0 ] && [ $((left)) -lt 60000 ] && break
done
if grep -qs exec_start /proc/self/sched; then
	[ $((left)) -gt 0 ] && [ $((left)) -lt 60000 ] || fail "what is left of 60000 ms: $((left))"
fi

# One that was started with the agent is in our own sequences most of the time: each call is recorded once all the same.
cat >"$dir/f.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	__attribute__((noinline)) long probed(long n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
	static void *run(void *file)
	{
		long n = 0;
		while (access(file, F_OK))
			for (int i = 0; i < 1000; i++)
				n = probed(n);
		return (void *)n;
	}
	int main(int argc, char **argv)
	{
		pthread_t id;
		void *n;
		pthread_create(&id, NULL, run, argv[argc - 1]);
		printf("begun\n");
		fflush(stdout);
		long own = (long)run(argv[argc - 1]);
		pthread_join(id, &n);
		printf("%ld\n", own + (long)n);
		return 0;
	}
END
$cc -O1 -Iinclude -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -Bscripts/fbt/ "$dir/f.c" -o "$dir/f" -lpthread || fail f.c
KTR_BUDGET=0 "$ktr" run --agent --fbt probed -m all -e 1024 -o "$dir/fbt" "$dir/f" "$dir/f.stop" >"$dir/f.out" 2>"$dir/f.err" &
tool=$!
pids="$pids $tool"
begun f
at=$(pgrep -P $tool -x f)
for i in $(seq 10); do
	attach "$at"
	"$ktr" sysctl -p "$at" debug.ktr.mask=all >/dev/null || fail 'its mask'
done
is 'one agent' "$(grep -c 'r-xp.*ktr-agent' "/proc/$at/maps")" 1
: >"$dir/f.stop"
wait $tool || fail "f: exit status $?: $(cat "$dir/f.err")"
calls=$(tail -n 1 "$dir/f.out")
seen=$(sed -n 's/^ktr: .*: \([0-9]*\) events.*, \([0-9]*\) lost.*/\1 \2/p' "$dir/f.err" | awk '{ print $1 + $2 }')
# Each call is an entry and a return; besides there are the events of threads and processes.
more=$((seen - 2 * calls))
[ $more -ge 0 ] && [ $more -le 200 ] || fail "$calls calls, $seen events: $(cat "$dir/f.err")"

# ---- refused, and as before ----

refused() { # PID TEXT [OPTION...]
	at=$1 text=$2
	shift 2
	status 1 "$ktr" attach -p "$at" "$@"
	grep -q -- "$text" "$dir/err" || fail "not \"$text\": $(cat "$dir/err")"
}
begin other nanosleep
other=$!
kill -STOP $other
await 'grep -q "^State:.*T" /proc/$other/status'
refused $other "kill -CONT $other first"
kill -CONT $other

# By a filter of our own calls.
$cc tests/programs/bsd/refuse.c -o "$dir/refuse" || fail refuse
for errno in 1:forbids 13:forbids 38:'no ptrace(2) here' 5:'does not do what' 22:'does not do what'; do
	status 1 "$dir/refuse" ${errno%%:*} -1 "$ktr" attach -p $other
	grep -q "${errno#*:}" "$dir/err" || fail "ptrace: ${errno}: $(cat "$dir/err")"
done
# Of ptrace's calls the one that seizes, and those that read and write registers.
for request in 16902 16900 16901; do
	status 1 "$dir/refuse" 1 $request "$ktr" attach -p $other
	grep -q 'forbids' "$dir/err" || fail "ptrace $request: $(cat "$dir/err")"
done
for errno in 1 3 14 38; do
	status 0 "$dir/refuse" $errno -2 "$ktr" attach -p $other
	status 0 "$ktr" detach -p $other
done
ended other $other

"$dir/refuse" 1 -1 "$host" "$dir/filtered.stop" poll >"$dir/filtered.out" &
filtered=$!
pids="$pids $filtered"
begun filtered
refused $filtered '-f tries it'
attach $filtered -f
ended filtered $filtered

printf 'int main(void) { for (;;) __asm__ volatile("pause"); }\n' >"$dir/s.c"
$cc -static "$dir/s.c" -o "$dir/static" || fail static
"$dir/static" &
static=$!
pids="$pids $static"
# It has to have become that.
await '[ "$(readlink "/proc/$static/exe")" = "$dir/static" ]'
refused $static 'linked statically.*ktr ktrace'
kill $static
refused 999999999 'no such process'
sh -c 'sleep 0 & exec sleep 1000' &
zombie=$!
pids="$pids $zombie"
await 'child=$(pgrep -P $zombie) && grep -q "^State:.*Z" "/proc/$child/status"'
refused "$child" 'has ended'

printf '#include <ktr.h>\n#include <unistd.h>\nint main(void) { CTR0(KTR_GEN, "x"); for (;;) pause(); }\n' >"$dir/own.c"
$cc -Iinclude "$dir/own.c" -o "$dir/own" "$O/lib/libktr.a" -lpthread || fail own
KTR_MASK=none "$dir/own" &
own=$!
pids="$pids $own"
await '"$ktr" ls 2>/dev/null | grep -q "$own"'
attach $own -m gen
grep -q 'has libktr: nothing is put into it' "$dir/err" || fail "$(cat "$dir/err")"
is 'its mask' "$("$ktr" sysctl -n -p $own debug.ktr.mask)" gen
is 'an agent in it' "$(grep -c ktr-agent /proc/$own/maps)" 0
status 0 "$ktr" detach -p $own
is 'its mask then' "$("$ktr" sysctl -n -p $own debug.ktr.mask)" none
kill $own

# Whom a message queue is to notify.
cat >"$dir/notified.c" <<'END'
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	struct sigevent by = { .sigev_notify = SIGEV_NONE };
	char name[64];
	mqd_t queue;

	snprintf(name, sizeof(name), "/ktr-test.%d", (int)getpid());
	queue = mq_open(name, O_RDONLY | O_CREAT | O_CLOEXEC, 0600, NULL);
	if (queue < 0)
		return 77;
	mq_unlink(name);
	puts(mq_notify(queue, &by) ? "no" : "begun");
	fflush(stdout);
	pause();
	return 0;
}
END
$cc -std=gnu11 -D_GNU_SOURCE -O1 "$dir/notified.c" -o "$dir/notified" -lrt || exit 1
"$dir/notified" >"$dir/notified.out" &
notified=$!
pids="$pids $notified"
if await '[ -s "$dir/notified.out" ] || ! kill -0 $notified 2>/dev/null' && grep -q begun "$dir/notified.out"; then
	refused $notified 'a message queue is to notify it'
	kill $notified
else
	skip 'no message queues'
fi

# Programs that have only just begun, each in place of the one before: it is waited for.
for i in $(seq ${CHAINS:-8}); do
	env a=1 env b=2 env c=3 env d=4 env e=5 env f=6 sleep 1000 &
	chain=$!
	pids="$pids $chain"
	"$ktr" attach -p $chain 2>"$dir/err" || fail "a program that has just begun: $(cat "$dir/err")"
	case $(cat "$dir/err") in
	*\(sleep\)*) status 0 "$ktr" detach -p $chain ;;
	esac
	kill $chain
done

# What a thread of ours, that is not the C library's, would call.
$cc -std=gnu11 -D_GNU_SOURCE -DOWN_MALLOC -O1 -fno-builtin tests/programs/provider/heap_own.c -o "$dir/allocator" -lpthread || exit 1
"$dir/allocator" 1000 &
allocator=$!
pids="$pids $allocator"
await 'grep -qs sleep /proc/$allocator/wchan || grep -q "^State:.S" /proc/$allocator/status'
refused $allocator 'another allocator.s than the C library.s, allocator,'
kill $allocator

# Elsewhere, where that may be made.
elsewhere() { # TEXT COMMAND...: sleep, by way of COMMAND
	text=$1
	shift
	"$@" true 2>/dev/null || { skip "$1 $2"; return; }
	"$@" sleep 1000 2>/dev/null &
	at=$!
	pids="$pids $at"
	await 'for p in $at $(pgrep -P $at); do grep -qsx sleep "/proc/$p/comm" && break; p=; done; [ -n "$p" ]'
	pids="$pids $p"
	refused "$p" "$text"
	kill -9 "$p"
}
elsewhere 'user namespace' unshare -Ur
elsewhere 'mount namespace' unshare -m
elsewhere 'pid namespace' unshare -fp
if [ "$(id -u)" = 0 ]; then
	elsewhere "it is user 65534's" setpriv --reuid 65534 --clear-groups
fi
exit $failed
