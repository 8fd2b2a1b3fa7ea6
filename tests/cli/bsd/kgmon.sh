#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr kgmon: BSD's order, messages and exit statuses; what gprof reads of a program that runs, is stopped, was killed, has
# a trace; what a reset leaves; who has no profiler.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'the profiler is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent'; exit 0; }
ln -s "$ktr" "$dir/kgmon"
cd "$dir" || exit 1
cat >spin.c <<'END'
#include <signal.h>
static volatile sig_atomic_t second;
static void on(int n) { (void)n; second = 1; }
__attribute__((noinline)) void early(void) { for (volatile int i = 0; i < 100000; i++) ; }
__attribute__((noinline)) void later(void) { for (volatile int i = 0; i < 100000; i++) ; }
int main(void)
{
	signal(SIGUSR1, on);
	for (;;)
		if (second)
			later();
		else
			early();
}
END
$cc -O1 -o spin spin.c || { fail 'spin.c'; exit 1; }
pid=
at_exit() { [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; }

kgmon() { # STATUS ARGUMENTS...: out and err
	want=$1
	shift
	timeout 300 ./kgmon "$@" >out 2>err
	got=$?
	[ $got = "$want" ] || fail "kgmon $*: $got instead of $want: $(cat out err)"
}
state() { # ARGUMENTS... STATE
	is "kgmon $1" "$(cat out)" "kgmon: kernel profiling is $2."
}
# What gprof finds: SECONDS of FUNCTION, as a number of hundredths; 0: none.
spent() {
	gprof -b -p spin gmon.out 2>&1 | awk -v name="$1" '$NF == name { n = int(100 * $3) } END { print n + 0 }'
}
has_spent() { # FUNCTION HUNDREDTHS: so many at least, by a dump
	./kgmon -P "$pid" -p >/dev/null 2>&1 && [ "$(spent "$1")" -ge "$2" ]
}
begin() { # ATTACH-OPTIONS...
	./spin &
	pid=$!
	await 'became $pid "$dir/spin"'
	"$ktr" attach -p $pid "$@" >log 2>&1 || fail "attach: $(cat log)"
}

# ---- who is not there, and how it is used ----

kgmon 2
kgmon 1 -x
kgmon 1 -b operand
kgmon 1 -P 1 -n some
grep -q 'exclude each other' err || fail "-P and -n: $(cat err)"
kgmon 2 -n nobody
kgmon 2 -P 999999999 -bp
grep -q 999999999 err || fail "no such process: $(cat err)"
kgmon 2 -P $$ -b
grep -q "ktr attach -p $$ " err || fail "one without a session: $(cat err)"
status 2 "$ktr" kgmon -x
printf '#include <ktr.h>\n#include <unistd.h>\nint main(void) { CTR0(KTR_NET, "one"); for (;;) pause(); }\n' >own.c
(cd "$top" && $cc -std=gnu11 -D_GNU_SOURCE -Iinclude "$dir/own.c" -o "$dir/own" "$O/lib/libktr.a" -lpthread) || fail 'own.c'
KTR_MASK=all ./own &
pid=$!
await '"$ktr" ls 2>/dev/null | grep -q "^own"'
kgmon 20 -P $pid
grep -q '^kgmon: profiling not defined in kernel' err || fail "no profiler: $(cat err)"
kill -9 $pid
wait $pid 2>/dev/null
"$ktr" rm --dead >/dev/null 2>&1 || fail "rm"

# ---- states, and the order of options ----

begin
kgmon 0 && state '' off
kgmon 0 -b && state -b running
kgmon 0 && state '' running
kgmon 0 -B && state -B 'running (high resolution)'
kgmon 0 -bB && state -bB 'running (high resolution)'
"$ktr" probe list -p $pid 'profile:' >probes
is 'rates that are on' "$(grep -c ' on ' probes)" 1
kgmon 0 -Bbh && state -Bbh off
kgmon 0 -h && state -h off
is 'said' "$(cat err)" ''

# ---- dumps ----

command -v gprof >/dev/null || kgmon 0 -B
if command -v gprof >/dev/null; then
	# Times at both rates add up.
	kgmon 0 -b
	await 'has_spent early 10'
	low=$(spent early)
	kgmon 0 -B
	await 'has_spent early $((low + 20))'
	kgmon 0 -p && state -p 'running (high resolution)'
	# A thread has time before its first event, which is known to be its, and not where.
	is 'said of calls' "$(sed 's/; [0-9]* us are in no file, or not known where$//' err)" \
		'kgmon: calls are sampled, not counted: each number of calls is one of samples'
	is 'later' "$(spent later)" 0
	# After a reset nothing is there of what was before.
	kill -USR1 $pid
	kgmon 0 -r
	await 'has_spent later 5'
	kgmon 0 -rB
	await 'has_spent later 20'
	is 'early after a reset' "$(spent early)" 0
	# A dump goes before a reset, and that before the switch.
	kgmon 0 -hpr && state -hpr off
	[ "$(spent later)" -ge 20 ] || fail "-hpr: $(spent later)"
	kgmon 0 -p
	is 'what a reset left' "$(spent later)" 0
	kgmon 0 --bsd -Bp
	head -c 24 gmon.out | od -A n -t x4 -j 20 -N 4 | grep -q 00051879 || fail "BSD's form: $(od -t x1 -N 40 gmon.out)"
	# One that does not run has to do nothing for it.
	await 'has_spent later 20'
	kill -STOP $pid
	await 'grep -q "^State:.T" /proc/$pid/status'
	rm -f gmon.out
	kgmon 0 -p && [ "$(spent later)" -ge 20 ] || fail "stopped: $(cat err)"
	kgmon 0 -b && state -b running
	is 'stopped: warning' "$(cat err)" 'kgmon: warning: cannot turn profiling on'
	kgmon 0 -h && state -h off
	is 'stopped: warning of -h' "$(cat err)" 'kgmon: warning: cannot turn profiling off'
	kill -CONT $pid
	kgmon 0 -B
	rm -f gmon.out
	kill -9 $pid
	wait $pid 2>/dev/null
	kgmon 0 -P $pid -bhBpr
	is 'killed: said' "$(head -n 5 err)" "$(printf 'kgmon: kernel read-only: data may be inconsistent\n-r suppressed\n-B suppressed\n-b suppressed\n-h suppressed')"
	[ "$(spent later)" -ge 20 ] || fail "killed: $(cat err)"
fi
# What cannot be made is told of, and no more.
mkdir gone && cd gone && rmdir ../gone
timeout 300 "$dir/kgmon" -P $pid -p >../out 2>../err
is 'no place for the file' "$?" 0
cd ..
grep -q '^kgmon: gmon.out: ' err && state -p 'running (high resolution)' || fail "no place: $(cat out err)"
mkdir full && cd full && ln -s /dev/full gmon.out
timeout 300 ../kgmon -P $pid -p >out 2>err
is 'a full disk' "$?" 7
grep -q '^kgmon: writing tocks to gmon.out: ' err || fail "a full disk: $(cat err)"
cd ..
kill -9 $pid 2>/dev/null
"$ktr" rm --dead >/dev/null 2>&1 || fail "rm"

# ---- one that hangs for good, with thousands of threads, while somebody else traces it ----

cat >hangs.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t stop;
static void on(int n) { (void)n; stop = 1; }
static void *waits(void *arg) { pthread_mutex_lock(&lock); return arg; }
__attribute__((noinline)) void busy(void) { for (volatile int i = 0; i < 100000; i++) ; }
int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t id;

	signal(SIGUSR1, on);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		if (pthread_create(&id, &attr, waits, NULL))
			return 1;
	while (!stop)
		busy();
	pthread_mutex_lock(&lock);
	return 0;
}
END
$cc -O1 -o hangs hangs.c -lpthread || fail 'hangs.c'
hangs() { # THREADS
	./hangs "$1" &
	pid=$!
	await '[ "$(ls /proc/$pid/task 2>/dev/null | wc -l)" -gt '"$1"' ] || ! kill -0 $pid'
	"$ktr" attach -p $pid >log 2>&1 || fail "attach to $1 threads: $(cat log)"
}
is_stuck() { grep -q '^[0-9]' "/proc/$pid/syscall" && [ "$(cut -d' ' -f1 "/proc/$pid/syscall")" = 202 ]; }
if command -v gprof >/dev/null; then
	spent_busy() { gprof -b -p hangs gmon.out 2>&1 | awk '$NF == "busy" { n = int(100 * $3) } END { print n + 0 }'; }
	has_busy() { ./kgmon -P "$pid" -p >/dev/null 2>&1 && [ "$(spent_busy)" -ge 20 ]; }
	for n in 3 5000; do
		hangs $n
		if ! kill -0 $pid 2>/dev/null; then
			skip "$n threads: there may not be so many"
			continue
		fi
		kgmon 0 -P $pid -B && state -B 'running (high resolution)'
		is "$n threads: said" "$(cat err)" ''
		await has_busy
		kill -USR1 $pid
		await is_stuck
		tracer=
		if command -v strace >/dev/null; then
			strace -qq -o /dev/null -p $pid 2>/dev/null &
			tracer=$!
			await '! grep -q "^TracerPid:.0" /proc/$pid/status || ! kill -0 $tracer'
		fi
		rm -f gmon.out*
		kgmon 0 -P $pid -hp && state -hp off
		[ "$(spent_busy)" -ge 20 ] || fail "$n threads that hang: $(cat err)"
		[ -z "$tracer" ] || kill $tracer 2>/dev/null
		[ -z "$tracer" ] || wait $tracer 2>/dev/null
		# Another user's is not to be seen.
		if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
			chmod 711 "$dir"
			timeout 60 setpriv --reuid 65534 --clear-groups ./kgmon -P $pid >out 2>err
			is "another user's" $? 2
		fi
		kill -9 $pid
		wait $pid 2>/dev/null
		rm -f gmon.out*
		kgmon 0 -P $pid -p
		[ "$(spent_busy)" -ge 20 ] || fail "$n threads that were killed: $(cat err)"
		"$ktr" rm --dead >/dev/null 2>&1
	done
fi

# ---- a zombie is as one that has gone ----

if command -v gprof >/dev/null; then
	sh -c './spin & echo $! >zombie; exec sleep 1000' &
	parent=$!
	await '[ -s zombie ]'
	pid=$(cat zombie)
	await 'became $pid "$dir/spin"'
	"$ktr" attach -p $pid >log 2>&1 || fail "attach: $(cat log)"
	kgmon 0 -P $pid -B
	await 'has_spent early 20'
	rm -f gmon.out
	kill -9 $pid
	await 'grep -qs "^State:.Z" /proc/$pid/status && [ "$(ls /proc/$pid/task | wc -l)" = 1 ]'
	kgmon 0 -P $pid -hp
	is 'a zombie: said' "$(head -n 2 err)" "$(printf 'kgmon: kernel read-only: data may be inconsistent\n-h suppressed')"
	[ "$(spent early)" -ge 20 ] || fail "a zombie: $(cat err)"
	kill $parent
	wait $parent 2>/dev/null
	"$ktr" rm --dead >/dev/null 2>&1 || fail 'rm'
fi

# ---- a thread that blocks all signals has samples, where the kernel gives them; else that is told ----

cat >deaf.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
__attribute__((noinline)) void deafly(void) { for (volatile int i = 0; i < 100000; i++) ; }
static void *deaf(void *arg)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;)
		deafly();
	return arg;
}
int main(void)
{
	pthread_t id;
	if (pthread_create(&id, NULL, deaf, NULL))
		return 1;
	for (;;)
		pause();
}
END
$cc -O1 -o deaf deaf.c -lpthread || fail 'deaf.c'
./deaf &
pid=$!
await '[ "$(ls /proc/$pid/task | wc -l)" = 2 ] && grep -q "^SigBlk:.fffffff" /proc/$pid/task/*/status'
"$ktr" attach -p $pid >log 2>&1 || fail "attach: $(cat log)"
deaf='kgmon: warning: no samples of 1 thread that blocks all signals'
source_is() {
	is "$1: the source" "$("$ktr" sysctl -n -p $pid debug.ktr.profile.source)" "$2"
}
kgmon 0 -b && state -b running
is 'a deaf thread, low: said' "$(cat err)" "$deaf: -B has them, where the kernel gives them"
is 'low: used' "$("$ktr" sysctl -n -p $pid debug.ktr.profile.used)" 2
kgmon 0 -B && state -B 'running (high resolution)'
source_is 'high' 0
if [ "$("$ktr" sysctl -n -p $pid debug.ktr.profile.used)" = 1 ]; then
	is 'a deaf thread, by the kernel: said' "$(cat err)" ''
	spent_deafly() {
		kgmon 0 -p && [ "$(gprof -b -p deaf gmon.out 2>&1 | awk '$NF == "deafly" { n = int(100 * $3) } END { print n + 0 }')" -ge 20 ]
	}
	! command -v gprof >/dev/null || await spent_deafly
else
	skip 'perf events'
	is 'a deaf thread: said' "$(cat err)" "$deaf, for they are by timers"
fi
kgmon 0 -b && source_is 'low again' 2
kgmon 0 -h && source_is 'off' 0
# Who has chosen has that.
"$ktr" sysctl -p $pid debug.ktr.profile.source=3 >log 2>&1 || fail "source: $(cat log)"
kgmon 0 -b && source_is 'any, low' 3
kgmon 0 -h
"$ktr" sysctl -p $pid debug.ktr.profile.source=2 >log 2>&1 || fail "source: $(cat log)"
kgmon 0 -b
kgmon 0 -B && state -B 'running (high resolution)'
is 'timers: said' "$(cat err)" "$deaf, for they are by timers"
source_is 'timers' 2
kill -9 $pid
wait $pid 2>/dev/null
"$ktr" rm --dead >/dev/null 2>&1 || fail 'rm'

# ---- one that ends at any moment: the file, or that there is none; and the end is its own ----

cp "$top/tests/programs/tool/ends.c" . && $cc -std=gnu11 -D_GNU_SOURCE -o ends ends.c -lpthread || fail 'ends.c'
i=0 n=0
while [ $i -lt 12 ]; do
	i=$((i + 1))
	"$ktr" run --agent --probe profile:::profile-997 ./ends $((20000 + i * 7000)) >log 2>&1 &
	run=$!
	while kill -0 $run 2>/dev/null && ! grep -qs '^State:.Z' /proc/$run/status; do
		rm -f gmon.out
		timeout 60 ./kgmon -Bhp >out 2>err
		got=$?
		case $got in
		0) [ -s gmon.out ] && n=$((n + 1)) || fail "who ends after $i: no file: $(cat err)" ;;
		2 | 4 | 20) [ -s err ] || fail "who ends after $i: $got, and nothing is said" ;;
		*) fail "who ends after $i: $got $(cat err)" ;;
		esac
	done
	wait $run
	is "the end after $i" $? 7
	"$ktr" rm --dead >/dev/null 2>&1
done
[ $n -gt 0 ] || fail 'nobody was seen before the end'

# ---- rings that are too small for it ----

if command -v gprof >/dev/null; then
	begin -e 256
	kgmon 0 -B
	lost() { kgmon 0 -p && grep -Eq 'kgmon: .*[1-9][0-9]* events were lost: samples are missing' err; }
	await lost
	kgmon 0 -hr
	kgmon 0 -p
	! grep -q 'were lost' err || fail "lost before a reset: $(cat err)"
	kill -9 $pid
	wait $pid 2>/dev/null
	"$ktr" rm --dead >/dev/null 2>&1
fi

# ---- a trace has what rings have forgotten ----

if command -v gprof >/dev/null; then
	begin -o "$dir/trace" -e 256
	kgmon 0 -B
	await 'has_spent early 60'
	kgmon 0 -p
	! grep -q 'were lost' err || fail "a trace: $(cat err)"
	kgmon 0 -hr
	kgmon 0 -p
	is 'early, forgotten' "$(spent early)" 0
	"$ktr" export gmon -o whole trace 2>/dev/null
	[ "$(gprof -b -p spin whole | awk '$NF == "early" { print int(100 * $3) }')" -ge 60 ] || fail 'the trace itself was changed'
fi
exit $failed
