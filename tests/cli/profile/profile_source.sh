#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Where samples come from: by perf events, of threads that block all signals, too, with no timer and no signal in the program;
# the time of each thread is that of its CPU clock, of those that live for a moment, too; times and CPUs are those of the
# samples; for a user other than root, whom the kernel tells less; beside the kernel's context switches; forked children have
# timers. By timers where that is asked for, or perf events are refused, which is said. Threads with the smallest stacks there
# are; addresses of functions that were saved while calls were led elsewhere.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
prog=$dir/profile
host=
at_exit() { [ -z "$host" ] || kill -9 "$host" 2>/dev/null; }
$cc -O2 -fomit-frame-pointer -o "$prog" tests/programs/profile/profile.c -lpthread &&
	$cc -O2 -Wl,-z,now -o "$dir/small" tests/profile/small_stacks.c -lpthread &&
	$cc -O2 -o "$dir/refused" tests/programs/profile/refused.c || { fail 'programs'; exit 1; }

profile() { # TRACE OPTIONS... -- PROGRAM...: its exit status
	trace=$dir/$1
	shift
	rm -rf "$trace"
	timeout 300 "$ktr" profile -o "$trace" "$@" >"$dir/out" 2>"$dir/err"
}
# Of each thread what it said itself, and what the trace says, to NS and a fiftieth.
agree() { # TRACE WHAT NS
	"$ktr" report --profile --json "$dir/$1" >"$dir/json" || fail "$2: report"
	python3 - "$dir/out" "$dir/json" "$3" >"$dir/log" 2>&1 <<-'END' || fail "$2: $(tail -n 3 "$dir/log")"
		import json, sys
		threads = json.load(open(sys.argv[2]))["profile"]["threads"]
		said = [tuple(map(int, line.split())) for line in open(sys.argv[1]) if line.split()[0].isdigit()]
		assert said, "the program said nothing"
		for tid, ns in said:
		    got = sum(t[of + "_ns"] for t in threads if t["tid"] == tid for of in ("user", "kernel", "blocked", "missed", "lost"))
		    assert abs(got - ns) < int(sys.argv[3]) + ns / 50, f"thread {tid}: {got} ns instead of {ns}"
	END
}

# ---- timers ----

for how in '--source timers' refused; do
	case $how in
	refused)
		timeout 300 "$dir/refused" perf_event_open "$ktr" profile -o "$dir/r" "$prog" shares >"$dir/out" 2>"$dir/err"
		;;
	*) profile r --source timers "$prog" shares ;;
	esac || fail "$how: $(cat "$dir/err")"
	is "$how: lines about it" "$(grep -c 'by timers of threads.*interrupted may be' "$dir/err")" 1
	agree r "$how" 8000000
done
grep -q 'perf_event_open(2): Permission denied' "$dir/err" || fail "refused: no reason: $(cat "$dir/err")"
timeout 300 "$dir/refused" perf_event_open "$ktr" profile --source perf -o "$dir/r" "$prog" shares >"$dir/out" 2>"$dir/err"
grep -q 'profile-997: perf_event_open(2): Permission denied' "$dir/err" || fail "perf events alone, refused: $(cat "$dir/err")"
is 'perf events alone, refused: samples' "$("$ktr" json "$dir/r" 2>/dev/null | grep -c '"ticks"')" 0
status 2 "$ktr" profile --source nothing true

# ---- threads that have little room ----

for source in timers any; do
	profile s --source $source --off-cpu "$dir/small" || fail "small stacks, $source: $? $(cat "$dir/err")"
	agree s "small stacks, $source" 4000000
	is "addresses that were saved, $source" "$(grep saved "$dir/out")" 'saved reads 33 fails sleeps'
done
# What was saved while calls were led to the agent is right when they are no more.
case $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0) in
0)
	mkfifo "$dir/go"
	"$dir/small" late <"$dir/go" >"$dir/said" &
	host=$!
	exec 9>"$dir/go"
	await 'became $host "$dir/small"'
	: >"$dir/err"
	"$ktr" profile -p $host --off-cpu -o "$dir/p" 2>"$dir/err" &
	profiler=$!
	await 'grep -q "system calls" "$dir/err" || ! kill -0 $profiler 2>/dev/null'
	echo >&9
	is 'its knobs' "$("$ktr" sysctl -p $host debug.ktr.profile | tr '\n' ' ')" \
		"debug.ktr.profile.source: 0 debug.ktr.profile.used: $(grep -c 'by perf events' "$dir/err" | sed 's/0/2/') debug.ktr.profile.filters: 0 "
	await 'grep -q " " "$dir/said"' || fail "attached: it says nothing: $(cat "$dir/err")"
	kill -INT $profiler
	wait $profiler || fail "attached: $(cat "$dir/err")"
	echo >&9
	exec 9>&-
	wait $host || fail "small stacks, attached: $?"
	host=
	is 'addresses that were saved, then detached' "$(grep saved "$dir/said")" 'saved reads 33 fails sleeps'
	# A thread that runs and blocks all signals: no timer's reaches it, which is said.
	cat >"$dir/deaf.c" <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		static void *deaf(void *unused)
		{
			sigset_t all;
			sigfillset(&all);
			pthread_sigmask(SIG_SETMASK, &all, NULL);
			puts("deaf");
			fflush(stdout);
			for (;;)
				sigwaitinfo(&(sigset_t){ 0 }, NULL);
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, deaf, NULL);
			return getchar() == EOF ? 0 : 0;
		}
	END
	$cc -O2 -o "$dir/deaf" "$dir/deaf.c" -lpthread || fail 'deaf.c'
	"$dir/deaf" <"$dir/go" >"$dir/said" &
	host=$!
	exec 9>"$dir/go"
	await 'grep -q deaf "$dir/said"'
	for source in timers perf; do
		timeout 60 "$ktr" profile -p $host --source $source -d 100ms -o "$dir/d" 2>"$dir/err"
		grep -q 'cannot be had\|perf_event_open' "$dir/err" ||
			is "a thread that blocks all signals, by $source: said" "$(grep -c 'no samples of 1 thread that blocks all signals' "$dir/err")" \
				$([ $source = timers ] && echo 1 || echo 0)
	done
	exec 9>&-
	wait $host || fail "deaf: $?"
	host=
	;;
*) skip 'ptrace_scope' ;;
esac

# ---- perf events ----

profile t --source perf "$prog" shares
if grep -q 'perf_event_open' "$dir/err"; then
	skip "perf events: $(grep perf_event_open "$dir/err")"
	exit $failed
fi
is 'lines about it' "$(grep -c 'by perf events: no signal is sent' "$dir/err")" 1
for rate in 99 997 4999; do
	for life in shares moments daemon; do
		profile t --source perf -F $rate "$prog" $life || fail "$life, $rate Hz: $(cat "$dir/err")"
		agree t "$life, $rate Hz" $((3000000000 / rate + 5000000))
	done
done
"$ktr" report --profile --json "$dir/t" >"$dir/json"
python3 - "$dir/json" <<-'END' || fail "a thread that blocks all signals has no stacks: $(cat "$dir/json")"
	import json, sys
	p = json.load(open(sys.argv[1]))["profile"]
	sys.exit(not any(t["user_ns"] > 50e6 and t["stacks"] > 100 and not t["blocked_ns"] for t in p["threads"]))
END

profile f --source perf -F 4999 "$prog" forks || fail "forks: $(cat "$dir/err")"
is 'processes with samples' "$("$ktr" json "$dir/f" --filter 'class == profile' | grep -o '"pid":[0-9]*' | sort -u | wc -l)" 2

# When and where: a thread on one CPU; nothing in it counts signals or timers.
cat >"$dir/where.c" <<'END2'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sum;
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
static __attribute__((noinline)) void works(void)
{
	for (unsigned i = 0; i < 150000000; i++)
		sum += i;
}
static __attribute__((noinline)) void rests(void)
{
	struct timespec t = { 0, 300000000 };
	nanosleep(&t, NULL);
}
int main(void)
{
	cpu_set_t set;
	char line[256];
	FILE *timers = fopen("/proc/self/timers", "r"), *status = fopen("/proc/self/status", "r");
	int cpu, n = 0;
	sched_getaffinity(0, sizeof(set), &set);
	for (cpu = CPU_SETSIZE - 1; !CPU_ISSET(cpu, &set); cpu--)
		;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	rests();
	while (timers && fgets(line, sizeof(line), timers))
		n++;
	long from = now();
	works();
	long to = now();
	rests();
	works();
	printf("%d %d %ld %ld\n", n, cpu, from, to);
	return 0;
}
END2
$cc -O2 -o "$dir/where" "$dir/where.c" || { fail 'where.c'; exit 1; }
profile w --source perf "$dir/where" || fail "where: $(cat "$dir/err")"
"$ktr" json "$dir/w" --filter 'class == profile' >"$dir/json"
python3 - "$dir/out" "$dir/json" >"$dir/log" 2>&1 <<-'END' || fail "when and where: $(tail -n 2 "$dir/log"), $(cat "$dir/out")"
	import json, sys
	n_timers, cpu, begin, end = map(int, open(sys.argv[1]).read().split())
	assert n_timers == 0, "timers"
	events = [e for e in map(json.loads, open(sys.argv[2])) if e["type"] == "event"]
	works = [e for e in events if any(f.get("sym", "").startswith("works") for f in e["args"]["stack"])]
	assert len(works) > 50, len(works)
	assert {e["cpu"] for e in works} == {cpu}, {e["cpu"] for e in works}
	times = [e["ts_ns"] for e in events]
	assert times == sorted(times), "not in order"
	assert works[0]["ts_ns"] >= begin, begin - works[0]["ts_ns"]
	assert any(end - 20e6 < e["ts_ns"] <= end for e in works), "none at its end"
	late = [e["ts_ns"] - end for e in works if end < e["ts_ns"] < end + 290e6]
	assert not late, late
END

# A user other than root.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	mkdir "$dir/nobody"
	chmod 777 "$dir/nobody" && chmod 755 "$dir"
	rm -rf "$dir/nobody/t"
	if (cd "$dir/nobody" && KTR_DIR='' setpriv --reuid=65534 --regid=65534 --clear-groups "$prog" stack) 2>/dev/null; then
		KTR_DIR='' setpriv --reuid=65534 --regid=65534 --clear-groups timeout 300 "$ktr" profile \
			-o "$dir/nobody/t" "$prog" shares \
			>"$dir/out" 2>"$dir/err" || fail "another user: $(cat "$dir/err")"
		is 'another user: lines about it' "$(grep -c 'by perf events: no signal is sent' "$dir/err")" 1
		cp -r "$dir/nobody/t" "$dir/t2"
		agree t2 'another user' 8000000
	else
		skip 'another user cannot come here'
	fi
else
	skip 'another user: not root, or no setpriv'
fi
exit $failed
