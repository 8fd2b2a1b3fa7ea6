#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr profile -p: a program that runs is sampled, again, too; what it was before it is after that: its threads, no timers, no
# probe that is on; ^C, and the program's end, end it with a trace; what is refused is said in one line, and nothing is done.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}
cd "$dir" || exit 1
cat >spin.c <<'END2'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned sum;
static void *moment(void *unused);
static __attribute__((noinline)) void hotter(void)
{
	for (unsigned i = 0; i < 1000000; i++)
		sum += i;
}
static void *half(void *unused)
{
	for (;;) {
		hotter();
		usleep(2000);
	}
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	alarm(300);
	pthread_create(&thread, NULL, half, NULL);
	write(1, "begun\n", 6);
	/* With a word: a thread each 50 ms of CPU time. */
	for (;;) {
		hotter();
		if (argc > 1) {
			pthread_create(&thread, NULL, moment, NULL);
			pthread_join(thread, NULL);
		}
	}
}
static void *moment(void *unused)
{
	struct timespec now;

	do {
		hotter();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_nsec < 50000000);
	return unused;
}
END2
$cc -O2 -o ends "$top/tests/programs/profile/ends.c" -lpthread && $cc -O2 -o spin spin.c -lpthread && $cc -O2 -static -o still spin.c -lpthread || { fail 'spin.c'; exit 1; }

start() { # PROGRAM...: its pid is $pid
	: >begun
	"$@" >begun </dev/null &
	pid=$!
	pids="$pids $pid"
	await 'grep -q begun begun' || fail "$1 has not begun"
}
# seen TRACE WHAT: of this time alone, samples of both threads, all in one function
seen() {
	"$ktr" json "$1" 2>/dev/null | head -n 1 >head
	"$ktr" report --profile --json "$1" 2>/dev/null | python3 -c '
import json, sys
p = json.load(sys.stdin)["profile"]
own = {f["name"]: f["self_ns"] for f in p["functions"] if f["tid"] is None}
assert sum(t["stacks"] > 0 for t in p["threads"]) == 2, p["threads"]
head = json.loads(open("head").read())
assert head["last_ns"] - head["first_ns"] < 1.6e9, "longer than it was asked for"
assert own["hotter"] > 0.5 * p["ns"] > 0, own' 2>log || fail "$2: $(tail -n 1 log)"
}
# clean WHAT: nothing is left in the process
clean() {
	# One of the agent stays, asleep.
	is "$1: threads" "$(cat "/proc/$pid"/task/*/comm | grep -vc '^ktr-provider$')" 2
	[ ! -e "/proc/$pid/timers" ] || is "$1: timers" "$(grep -c . "/proc/$pid/timers")" 0
	"$ktr" probe list -p "$pid" profile: >list 2>&1
	grep -q ' on ' list && fail "$1: a probe is on: $(grep ' on ' list)"
}
# refused TEXT OPTION...: in one line
refused() {
	text=$1
	shift
	status 1 "$ktr" profile "$@"
	[ "$(wc -l <err)" = 1 ] && grep -q "$text" err || fail "$text: $(cat err)"
}

start ./spin
for time in 1 2; do
	status 0 "$ktr" profile -p "$pid" -d 1500ms -o "t$time"
	is 'lines, one about system calls' "$(grep -c . err) $(grep -c 'system calls' err)" '2 1'
	seen "t$time" "time $time"
	clean "time $time"
done
status 0 "$ktr" profile -p "$pid" -d 1s -F 99 -o slow
is 'at another rate' "$("$ktr" json slow | grep -o '"func":"profile-[0-9]*"' | sort -u)" '"func":"profile-99"'

# It goes on until somebody ends it; one that is killed leaves what ktr detach takes away.
"$ktr" profile -p "$pid" -o until 2>until.err &
profiler=$!
await 'grep -q "system calls" until.err' || fail "it has not begun: $(cat until.err)"
refused 'is recorded already' -p "$pid" -d 1s
kill -INT $profiler
wait $profiler
is 'status after ^C' $? 0
clean '^C'
"$ktr" profile -p "$pid" -o killed 2>killed.err &
profiler=$!
await 'grep -q "system calls" killed.err' || fail "it has not begun: $(cat killed.err)"
kill -9 $profiler
wait $profiler 2>/dev/null
status 0 "$ktr" detach -p "$pid"
clean 'killed'

# Its own end ends it, too.
"$ktr" profile -p "$pid" -o end 2>end.err &
profiler=$!
await 'grep -q "system calls" end.err' || fail "it has not begun: $(cat end.err)"
sleep 0.3 # some samples; fewer make no difference to what is asked
kill -TERM "$pid"
wait $profiler
is 'status after its end' $? 0
[ -d end ] || fail "no trace of one that has ended: $(cat end.err)"

# In the midst of its end it has no session any more, and is still there: that it has ended is what is said.
for how in '' thread; do
	mkfifo line
	# shellcheck disable=SC2086 # none, or a word
	./ends $how <line >exits &
	pid=$!
	pids="$pids $pid"
	exec 9>line
	await 'grep -q begun exits'
	"$ktr" profile -p "$pid" -o ends.t 2>err &
	profiler=$!
	await 'grep -q "system calls" err' || fail "it has not begun: $(cat err)"
	echo >&9
	exec 9>&-
	await 'grep -q exits exits'
	kill -INT $profiler
	wait $profiler
	is "status at its end, $how: $(cat err)" $? 0
	grep -q 'no session' err && fail "at its end, $how: $(cat err)"
	[ -d ends.t ] || fail "no trace of one that is ending, $how: $(cat err)"
	wait "$pid"
	rm -rf line ends.t
done

# Threads that it makes meanwhile are found, and have the time that they had before that, too.
start ./spin moments
status 0 "$ktr" profile -p "$pid" -d 2s -o moments
"$ktr" report --profile --json moments | python3 -c '
import json, sys
threads = [t for t in json.load(sys.stdin)["profile"]["threads"] if t["name"] == "spin"]
short = [t["ns"] for t in threads if 40e6 < t["ns"] < 60e6]
assert len(threads) > 5 and len(short) >= len(threads) - 4, threads' 2>log || fail "threads of a moment: $(tail -n 1 log)"

start ./still
refused 'linked statically' -p "$pid" -d 1s
is 'and it runs' "$(cat "/proc/$pid/comm")" still
refused 'process' -p 99999999 -d 1s
for wrong in "-p $pid true" '-d 1s true' "-p $pid -i" "-p $pid -m all" "-p $pid --size 1M"; do
	# shellcheck disable=SC2086
	status 2 "$ktr" profile $wrong
done
exit $failed
