#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr profile --off-cpu: sleeps, polls, reads, locks, conditions, semaphores, page faults and waits for a CPU are named, each with
# the stack of who waited where that is known, and as long as the program's own clocks say; on and off the CPU add up to the time
# that a thread lived; without the kernel's context switches, too, where it says so. No program sees an EINTR of it. One picture.
# The same of a program that runs already, with -p, which is let go of again. SHOW=1 prints the times, both ways.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
export KTR_CONF=
prog=$dir/offcpu
$cc -O2 -fomit-frame-pointer -o "$prog" tests/programs/provider/offcpu.c -lpthread || { fail 'offcpu.c'; exit 1; }
$cc -O2 -fomit-frame-pointer -Wl,-z,now -o "$prog.now" tests/programs/provider/offcpu.c -lpthread || { fail 'offcpu.c'; exit 1; }
$cc -O2 -o "$dir/refused" tests/programs/profile/refused.c || { fail 'refused.c'; exit 1; }

# told TRACE SOURCE WHAT: what the program said beside what the trace says
told() {
	status 0 "$ktr" flame --off-cpu --by-thread -o "$dir/off.folded" "$dir/$1"
	status 0 "$ktr" report --profile --json "$dir/$1"
	python3 tests/cli/provider/offcpu.py "$dir/said" "$dir/out" "$dir/off.folded" "$2" >"$dir/log" ||
		fail "$3: $(cat "$dir/log")"
	[ -z "${SHOW:-}" ] || sed "s/^/$3, /" "$dir/log"
}

# Where perf events are not allowed the calls alone are told.
timeout 300 "$dir/refused" perf_event_open "$ktr" profile --off-cpu -o "$dir/calls" "$prog" >"$dir/said" 2>"$dir/err" ||
	fail "refused: $(cat "$dir/err")"
grep -q 'perf_event_open' "$dir/err" || fail "why there are no switches: $(cat "$dir/err")"
told calls calls 'by calls alone'
status 0 "$ktr" report --profile "$dir/calls"
grep -q 'by calls that wait alone' "$dir/out" || fail "the report does not say so: $(cat "$dir/out")"

timeout 300 "$ktr" profile --off-cpu -o "$dir/t" "$prog" >"$dir/said" 2>"$dir/err" || fail "exit status: $(cat "$dir/err")"
if grep -q 'perf_event_open' "$dir/err"; then
	skip "context switches: $(grep perf_event_open "$dir/err")"
	exit $failed
fi
told t switches 'by context switches'
status 0 "$ktr" report --profile "$dir/t"
grep -q "kernel's context switches" "$dir/out" || fail "the report does not say so: $(cat "$dir/out")"

# Pictures and files: both in one; each alone.
for of in '' --on-cpu --off-cpu; do
	# shellcheck disable=SC2086
	status 0 "$ktr" flame $of -o "$dir/f.svg" "$dir/t"
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$dir/f.svg" || fail "flame $of: no XML"
	is "flame $of: on, off" "$(grep -c 'title>busy' "$dir/f.svg" | sed 's/[1-9].*/n/') $(grep -c 'title>nanosleep .off CPU' "$dir/f.svg" |
		sed 's/[1-9].*/n/')" "$(case $of in '') echo n n ;; --on-cpu) echo n 0 ;; *) echo 0 n ;; esac)"
done
status 2 "$ktr" flame --on-cpu --off-cpu "$dir/t"
status 0 "$ktr" flame -o "$dir/f.html" "$dir/t"
grep -q 2572427 "$dir/f.html" || fail 'the page: time off the CPU has no colour'
for format in folded pprof speedscope firefox; do
	status 0 "$ktr" export $format -o "$dir/x" "$dir/t"
	[ -s "$dir/x" ] || fail "export $format: nothing"
done
status 0 "$ktr" export speedscope -o "$dir/x" "$dir/t"
grep -q 'nanosleep .off CPU' "$dir/x" || fail 'speedscope: no time off the CPU'

# EINTR is what a program that sleeps must not see.
cat >"$dir/sleeps.c" <<'END2'
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
	struct timespec t = { 0, 200000 };
	int n = 0;
	for (int i = 0; i < 2000; i++)
		n += (nanosleep(&t, NULL) && errno == EINTR) + (poll(NULL, 0, 0) < 0 && errno == EINTR);
	errno = 33;
	nanosleep(&t, NULL);
	printf("%d %d\n", n, errno);
	return 0;
}
END2
$cc -O2 -o "$dir/sleeps" "$dir/sleeps.c" || { fail 'sleeps.c'; exit 1; }
timeout 300 "$ktr" profile --off-cpu -F 1 -o "$dir/s" "$dir/sleeps" >"$dir/said" 2>"$dir/err"
is 'EINTR, errno' "$(cat "$dir/said")" '0 33'
"$ktr" json "$dir/s" --filter 'class == offcpu' >"$dir/json"
[ "$(grep -c '"nanosleep"' "$dir/json")" -ge 1990 ] || fail "waits of sleeps: $(grep -c '"nanosleep"' "$dir/json") of 2001"

# ---- programs that run already ----

mkfifo "$dir/go"
host=
at_exit() { [ -z "$host" ] || kill -9 "$host" 2>/dev/null; }
# attached TRACE OPTIONS COMMAND...: the program, profiled from before its threads begin until it ends
attached() {
	trace=$1 options=$2
	shift 2
	"$@" <"$dir/go" >"$dir/said" 2>"$dir/host.err" &
	host=$!
	exec 9>"$dir/go"
	await 'became "$host" "$prog.now" && grep -q " S " "/proc/$host/stat"'
	: >"$dir/err"
	# shellcheck disable=SC2086 # words
	"$ktr" profile -p $host --off-cpu $options -o "$dir/$trace" 2>"$dir/err" &
	profiler=$!
	await 'grep -q "system calls" "$dir/err" || ! kill -0 $profiler 2>/dev/null'
	echo go >&9
	exec 9>&-
	wait $host || fail "attached: its exit status: $?"
	host=
	wait $profiler || fail "attached: $(cat "$dir/err")"
}
case $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0) in 0) ;; *) [ "$(id -u)" = 0 ] || { skip 'ptrace_scope'; exit $failed; } ;; esac
attached a '' "$prog.now" late
grep -q 'alone' "$dir/err" && fail "attached: no switches: $(cat "$dir/err")"
told a switches 'attached, by context switches'
attached b -f "$dir/refused" perf_event_open "$prog.now" late
grep -q 'by calls that wait alone' "$dir/err" || fail "attached, refused: why there are no switches: $(cat "$dir/err")"
told b calls 'attached, by calls alone'

# What a stranger has begun is named: a thread that sleeps, in a program that sees no EINTR, and is as before when it is let go.
cat >"$dir/nap.c" <<'END2'
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec t = { 0, 5000000 };
	unsigned long n_eintr = 0;
	for (alarm(120);;)
		if (nanosleep(&t, NULL) && errno == EINTR)
			printf("EINTR %lu\n", ++n_eintr), fflush(stdout);
}
END2
$cc -O2 -o "$dir/nap" "$dir/nap.c" || { fail 'nap.c'; exit 1; }
"$dir/nap" >"$dir/said" &
host=$!
await 'became $host "$dir/nap"'
status 0 "$ktr" profile -p $host --off-cpu -d 2s -o "$dir/nap.ktr"
status 0 "$ktr" report --profile --json "$dir/nap.ktr"
"$ktr" json --events --head 1 --filter 'class == offcpu' "$dir/nap.ktr" >"$dir/json"
python3 - "$dir/out" "$dir/json" <<-'END2' || fail "a program that sleeps: $(cat "$dir/json" "$dir/out")"
	import json, sys
	report, first = (json.load(open(name)) for name in sys.argv[1:])
	p = report["profile"]
	t = max(p["threads"], key=lambda t: t["off_calls_ns"])
	gone = sum(t[f"off_{of}_ns"] for of in ("calls", "ready", "pages", "unknown"))
	# Known where but for the nap that it was attached in, and those before the agent's thread had looked.
	looked = first["ts_ns"] - report["span"]["first_ns"]
	sys.exit(not (gone > 1.5e9 and t["off_calls_ns"] > 0.95 * (gone - looked) and p["off_cpu"]["when"] == "switches"))
END2
status 0 "$ktr" profile -p $host --off-cpu -d 300ms -o "$dir/nap.ktr"
kill -0 $host || fail 'the program that sleeps is gone'
kill -9 $host
wait $host 2>/dev/null
host=
is 'EINTR of a program that sleeps' "$(cat "$dir/said")" ''
exit $failed
