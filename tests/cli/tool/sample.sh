#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr sample: its report is one that a reader of sample(1)'s reports takes, whose sums agree, and in which each thread of a
# known program has its known calls. All rounds are counted, done or left out. Threads that wait are not stopped again
# and again; those born meanwhile are there. Nobody who is sampled counts an EINTR, or a time that ended early.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "stops of threads are tested on x86-64"; exit 0 ;;
esac
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}
$cc -std=gnu11 -D_GNU_SOURCE -O2 -g tests/programs/tool/stacks.c -o "$dir/waits" -lpthread || exit 1
$cc -std=gnu11 -D_GNU_SOURCE tests/programs/host/attach_host.c -o "$dir/host" -lpthread -ldl || exit 1
mkfifo "$dir/end" || exit 1
exec 9<>"$dir/end"

# counted NAME ROLES: so many roles have told, and of no EINTR, nothing wrong, and no time that ended early. Times of calls on
# sockets are the kernel's ticks, which are late themselves on a machine that is busy: those may seem to end early.
counted() {
	is "roles of $1" "$(grep -c ' rounds, ' "$dir/host.out")" "$2"
	told=$(grep -vE '^begun$| 0 EINTR, 0 wrong, 0 early$|^(recv|accept|connect): .* 0 EINTR, 0 wrong, ' "$dir/host.out")
	[ -z "$told" ] || fail "$1: $told"
}
# rounds: those that were done and those that were left out, of $dir/err
rounds() {
	sed -n 's/^ktr: .* in \([0-9]*\) rounds, \([0-9]*\) rounds came too late.*/\1 \2/p' "$dir/err" | awk '{ print $1 + $2 }'
}

"$dir/waits" <"$dir/end" >"$dir/waits.out" &
waits=$!
pids="$pids $waits"
await 'grep -qs begun "$dir/waits.out"'
await '[ "$(cat /proc/$waits/task/*/stat | grep -c ") S ")" = 7 ]'
"$ktr" sample $waits 500ms -F 100 >"$dir/out" 2>"$dir/err" || case $(cat "$dir/err") in
*'kernel forbids'* | *ptrace*) skip "$(cat "$dir/err")"; exit 0 ;;
*) fail "$(cat "$dir/err")" ;;
esac
if "$ktr" stacks -p $waits 2>/dev/null | grep -q 'this build has no libdw'; then
	skip 'names: this build has no libdw'
else
	python3 tests/cli/tool/sample.py "$dir/out" known || { failed=1; cat "$dir/out"; }
fi
is 'rounds' "$(rounds)" 50
# Seven sleep on: each is stopped once, and perhaps once more, where it was not yet asleep again.
n=$(sed -n 's/^ktr: \([0-9]*\) stops.*/\1/p' "$dir/err")
done=$(sed -n 's/^ktr: .* in \([0-9]*\) rounds.*/\1/p' "$dir/err")
[ "$n" -ge $((done + 7)) ] && [ "$n" -le $((done + 40)) ] || fail "$n stops in $done rounds: $(cat "$dir/err")"
# As a trace: each sample is one of the profiler's, with the time between two rounds.
status 0 "$ktr" sample $waits 500ms -F 100 -o "$dir/trace"
[ ! -s "$dir/out" ] || fail "-o prints: $(cat "$dir/out")"
n=$(sed -n 's/^ktr: \([0-9]*\) samples.*/\1/p' "$dir/err")
done=$(sed -n 's/^ktr: .* in \([0-9]*\) rounds.*/\1/p' "$dir/err")
status 0 "$ktr" fsck "$dir/trace"
status 0 "$ktr" dump -q "$dir/trace"
is 'samples in a trace' "$(grep -c ' profile-100 ticks=1 ns=10000000 how=' "$dir/out")" "$n"
status 0 "$ktr" export folded "$dir/trace" -o -
for name in futex read sleep poll signal; do
	is "time of $name" "$(sed -n "s/^waits;$name;.*;outer;middle;wait_$name;.*;\[waiting\] //p" "$dir/out")" ${done}0000000
done
is 'time of run' "$(sed -n 's/^waits;run;.*;outer;middle;wait_run\(;\[waiting\]\)* //p' "$dir/out" | awk '{ n += $1 } END { print n }')" \
	${done}0000000
status 0 "$ktr" report --profile "$dir/trace"
grep -q "^Time of .* $n samples were due, $n came" "$dir/out" || fail "a report: $(cat "$dir/out")"
grep -Eq '^  poll/[0-9]+ .* 0 ns  +0 ns  +0 ns  .*\[waiting\]$' "$dir/out" || fail "a report: $(cat "$dir/out")"
status 0 "$ktr" flame "$dir/trace"
grep -q 'running or waiting, by samples' "$dir/out" || fail "flames: $(cat "$dir/out")"
if command -v babeltrace2 >/dev/null; then
	is 'samples that babeltrace2 reads' "$(babeltrace2 "$dir/trace" | grep -c ', how = "')" "$n"
fi
# ^C ends it, and what there is is printed.
env --default-signal=INT "$ktr" sample $waits 600 >"$dir/out" 2>"$dir/err" &
tool=$!
pids="$pids $tool"
await 'became $tool "$ktr" && grep -q "^230 " /proc/$tool/syscall'
kill -INT $tool
wait $tool || fail "^C: exit status $?"
grep -q '^Call graph:' "$dir/out" || fail "^C: $(cat "$dir/out" "$dir/err")"
kill $waits

# Threads that come and go, children, and calls that stops end. It is sampled all its life.
nice -n 19 "$dir/host" "$dir/stop" malloc epoll epoll2 semtimedop sem sigtimedwait nanosleep poll recv accept connect signal \
	>"$dir/host.out" &
host=$!
pids="$pids $host"
await 'grep -qs begun "$dir/host.out"'
status 0 "$ktr" sample $host 1 -F 200
python3 tests/cli/tool/sample.py "$dir/out" || failed=1
is 'threads' "$(grep -c '^    [0-9]* Thread_' "$dir/out")" 12
is 'rounds of a busy one' "$(rounds)" 200
: >"$dir/stop"
wait $host
counted 'who was sampled' 12

# One that is born while it is sampled, and a program that ends before the time is over.
cat >"$dir/b.c" <<-'END'
	#include <pthread.h>
	#include <unistd.h>
	__attribute__((noinline)) void born(void) { char c; if (read(0, &c, 1) < 0) _exit(1); __asm__ volatile(""); }
	static void *run(void *arg) { born(); _exit(7); return arg; }
	int main(void)
	{
		pthread_t id;
		char c;
		if (read(0, &c, 1) == 1)
			pthread_create(&id, 0, run, 0);
		for (;;)
			pause();
	}
END
$cc -O2 "$dir/b.c" -o "$dir/born" -lpthread || fail born
mkfifo "$dir/b.in" || exit 1
exec 8<>"$dir/b.in"
"$dir/born" <"$dir/b.in" &
born=$!
pids="$pids $born"
await 'grep -q "^0 " /proc/$born/syscall'
"$ktr" sample $born 600 >"$dir/out" 2>"$dir/err" &
tool=$!
pids="$pids $tool"
await 'grep -q "^230 " /proc/$tool/syscall'
echo >&8
slept() { # it was stopped, and has slept again since
	at=$(ls /proc/$born/task | sort -n | tail -n 1)
	[ "$at" != $born ] && [ "$(sed -n 's/^voluntary_ctxt_switches:[[:blank:]]*//p' "/proc/$born/task/$at/status")" -ge 3 ]
}
await slept
echo >&8
wait $born
is 'its exit status' $? 7
wait $tool || fail "an end: exit status $?: $(cat "$dir/err")"
is 'threads, one was born' "$(grep -c '^    [0-9]* Thread_' "$dir/out")" 2
grep -q ' born  (in born) + ' "$dir/out" || fail "who was born: $(cat "$dir/out")"

# The shape, to the letter: of a program that has nothing of a library, so that each line of it is known.
cat >"$dir/shape.c" <<-'END'
	__attribute__((noinline)) void asks(char *c) {
		__asm__ volatile("syscall" : : "a"(0L), "D"(0L), "S"(c), "d"(1L) : "rcx", "r11", "memory"); }
	__attribute__((noinline)) void outer(char *c) {
		asks(c);
		__asm__ volatile("" : : : "memory"); }
	__asm__(".globl _start\n.type _start, @function\n_start: .cfi_startproc\n.cfi_undefined rip\nsub $16, %rsp\n"
		".cfi_adjust_cfa_offset 16\nmov %rsp, %rdi\ncall outer\nhlt\n.cfi_endproc\n.size _start, . - _start\n");
END
if $cc -O1 -g -static -nostdlib -no-pie -fno-stack-protector "$dir/shape.c" -o "$dir/shape" 2>"$dir/err"; then
	"$dir/shape" <"$dir/end" &
	at=$!
	pids="$pids $at"
	await 'grep -q "^0 " /proc/$at/syscall'
	status 0 "$ktr" sample $at 200ms -F 100
	kill $at
	sed -E "s/([^0-9])$at([^0-9])/\1PID\2/g; s|$dir|DIR|g; s/0x[0-9a-f]+/ADDRESS/g; s/^(    (\+ *)?|        )[0-9]+ /\1N /; s/        [0-9]+\$/        N/
		s/ \+ [0-9]+  / + N  /; s/^(Date.Time:|Launch Time:)( +).*[0-9]\$/\1\2DATE/; s/^(OS Version: +Linux ).*/\1RELEASE/
		s/^(Parent Process: +).* \[[0-9]+\]/\1PARENT/; s/^(Analysis Tool: +ktr sample ).*/\1VERSION/
		s/^N( +)/N /; /\[vdso\]|\[vsyscall\]/d" "$dir/out" >"$dir/shaped"
	diff -u - "$dir/shaped" >"$dir/diff" <<-'END' || fail "the shape: $(cat "$dir/diff")"
	Analysis of sampling shape (pid PID) every 10 milliseconds
	Process:         shape [PID]
	Path:            DIR/shape
	Load Address:    ADDRESS
	Identifier:      shape
	Version:         ???
	Code Type:       X86-64
	Parent Process:  PARENT

	Date/Time:       DATE
	Launch Time:     DATE
	OS Version:      Linux RELEASE
	Report Version:  7
	Analysis Tool:   ktr sample VERSION
	----

	Call graph:
	    N Thread_PID: Main Thread   shape
	    + N _start  (in shape) + N  [ADDRESS]
	    +   N outer  (in shape) + N  [ADDRESS]  shape.c:4
	    +     N asks  (in shape) + N  [ADDRESS]  shape.c:2

	Total number in stack (recursive counted multiple, when >=5):

	Sort by top of stack, same collapsed (when >= 5):
	        asks  (in shape)        N

	Binary Images:
	            ADDRESS -           ADDRESS shape (-) DIR/shape
	END
else
	skip "the shape: $(head -n 1 "$dir/err")"
fi

# Other people's programs, each read by the reader of such reports.
# stranger NAME CALL FUNCTION COMMAND...: it waits in CALL, and FUNCTION is in the tree
stranger() {
	name=$1 call=$2 function=$3
	shift 3
	"$@" <"$dir/end" >"$dir/stranger.out" 2>&1 &
	at=$!
	pids="$pids $at"
	await 'cat /proc/$at/task/*/syscall 2>/dev/null | grep -q "^$call " || ! kill -0 $at'
	status 0 "$ktr" sample $at 200ms -F 100
	python3 tests/cli/tool/sample.py "$dir/out" || { failed=1; echo "of $name"; }
	grep -Eq "^    [0-9]* Thread_$at: Main Thread" "$dir/out" || fail "$name has no first thread: $(cat "$dir/out")"
	grep -Eq "$function" "$dir/out" || fail "$name: $(cat "$dir/out")"
	is "rounds of $name" "$(rounds)" 20
	kill $at
}
# What python3 is a script for, where it is one.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
stranger python3 0 '\(in (lib)?python3' "$python" -c 'import os
os.read(0, 1)'
cat >"$dir/s.c" <<-'END'
	#include <unistd.h>
	__attribute__((noinline)) int asks(void) { char c; int n = (int)read(0, &c, 1); __asm__ volatile(""); return n; }
	int main(void) { int n = asks(); __asm__ volatile(""); return n; }
END
$cc -O2 -static "$dir/s.c" -o "$dir/static" || fail static
stranger static 0 '^    \+   .* asks  \(in static\) \+ ' "$dir/static"
# One that becomes another program meanwhile.
mkfifo "$dir/x.in" || exit 1
exec 5<>"$dir/x.in"
sh -c 'read line; exec "$0"' "$dir/static" <"$dir/x.in" &
at=$!
pids="$pids $at"
await 'grep -q "^0 " /proc/$at/syscall'
"$ktr" sample $at 600 >"$dir/out" 2>"$dir/err" &
tool=$!
pids="$pids $tool"
await 'grep -q "^230 " /proc/$tool/syscall'
echo >&5
await 'became $at "$dir/static"'
reads() { # a round takes a few
	sed -n 's/^syscr: //p' /proc/$tool/io
}
then=$(reads)
await '[ "$(reads)" -gt $((then + 500)) ]'
kill $at
wait $tool || fail "another program: exit status $?: $(cat "$dir/err")"
python3 tests/cli/tool/sample.py "$dir/out" || failed=1
grep -q ' asks  (in static) + ' "$dir/out" || fail "another program: $(cat "$dir/out")"

case $(file -L "$(command -v busybox)" 2>/dev/null) in
*'statically linked'*) stranger busybox 0 '\(in busybox\)' busybox cat ;;
*) skip 'busybox, linked statically' ;;
esac
if command -v go >/dev/null; then
	mkdir "$dir/go"
	cat >"$dir/go/main.go" <<-'END'
		package main
		import "os"
		//go:noinline
		func asks() int { var b [1]byte; n, _ := os.Stdin.Read(b[:]); return n + 1 }
		//go:noinline
		func spins(n int) int { for { n = n*3 + 1 } }
		func main() { go spins(1); os.Exit(asks()) }
	END
	if (cd "$dir/go" && HOME=$dir GO111MODULE=off go build -o ../gone main.go) >"$dir/log" 2>&1; then
		stranger go 0 ' main\.asks  \(in gone\) \+ [0-9]+  \[.*\]  main.go:4' "$dir/gone"
		grep -Eq "^    \+ .* main\.spins  \(in gone\) \+ " "$dir/out" || fail "go spins: $(cat "$dir/out")"
	else
		skip "go: $(head -n 3 "$dir/log")"
	fi
else
	skip 'go'
fi
nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null)
if [ -n "$nginx" ]; then
	printf 'daemon off; master_process off; pid %s/pid; error_log stderr; events {} http { access_log off; %s server { %s } }\n' \
		"$dir" "client_body_temp_path $dir/a; proxy_temp_path $dir/b; fastcgi_temp_path $dir/c; uwsgi_temp_path $dir/d;
		scgi_temp_path $dir/e;" "listen unix:$dir/socket;" >"$dir/nginx.conf"
	stranger nginx 232 ' epoll_wait  \(in libc' "$nginx" -c "$dir/nginx.conf" -p "$dir"
else
	skip 'nginx'
fi

# ---- who cannot be looked at: said, and nobody is left stopped ----

refused() { # PID TEXT
	status 1 "$ktr" sample "$1" 1
	grep -q -- "$2" "$dir/err" || fail "not \"$2\": $(cat "$dir/err")"
	[ ! -s "$dir/out" ] || fail "a report of $1: $(head -n 3 "$dir/out")"
}
sh -c 'sleep 0 & exec sleep 1000' &
parent=$!
pids="$pids $parent"
await 'child=$(pgrep -P $parent) && grep -q "^State:.*Z" "/proc/$child/status"'
refused "$child" 'has ended'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$dir"
	status 1 setpriv --reuid 65534 --clear-groups "$ktr" sample $parent 1
	grep -q "user 0's" "$dir/err" || fail "another user's: $(cat "$dir/err")"
fi
if command -v strace >/dev/null; then
	strace -qq -o /dev/null -p $parent 2>/dev/null &
	tracer=$!
	pids="$pids $tracer"
	await '! grep -q "^TracerPid:.0" /proc/$parent/status || ! kill -0 $tracer'
	! kill -0 $tracer 2>/dev/null || refused $parent "process $tracer (strace) traces it"
	kill $tracer 2>/dev/null
fi
# The first thread has ended, and the process goes on.
cat >"$dir/l.c" <<-'END'
	#include <pthread.h>
	#include <stdlib.h>
	#include <unistd.h>
	__attribute__((noinline)) void goes_on(void) { for (;;) pause(); }
	static void *run(void *arg) { goes_on(); return arg; }
	int main(int argc, char **argv)
	{
		int n = argc > 1 ? atoi(argv[1]) : 1;
		pthread_attr_t attr;
		pthread_t id;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 65536);
		for (int i = 0; i < n; i++)
			if (pthread_create(&id, &attr, run, 0))
				_exit(1);
		pthread_exit(0);
	}
END
$cc -O2 "$dir/l.c" -o "$dir/leaves" -lpthread || fail leaves
"$dir/leaves" &
at=$!
pids="$pids $at"
await 'grep -q "^State:.*Z" /proc/$at/status'
status 0 "$ktr" sample $at 200ms -F 100
python3 tests/cli/tool/sample.py "$dir/out" || failed=1
grep -q ' goes_on  (in leaves) + ' "$dir/out" || fail "whose first thread has ended: $(cat "$dir/out" "$dir/err")"
kill -9 $at
# Thousands of threads: all of them are told of.
"$dir/leaves" 5000 &
at=$!
pids="$pids $at"
await 'grep -q "^State:.*Z" /proc/$at/status || ! kill -0 $at'
if kill -0 $at 2>/dev/null; then
	status 0 "$ktr" sample $at 1 -F 10
	is 'thousands of threads' "$(grep '^    [0-9]* Thread_' "$dir/out" | grep -c -v 'not to be looked at')" 5000
	kill -9 $at
else
	skip 'thousands of threads: there may not be so many'
fi

# One that ends at any moment: a report, or that it has ended; nobody is left stopped, and the end is its own.
$cc -std=gnu11 -D_GNU_SOURCE tests/programs/tool/ends.c -o "$dir/ends" -lpthread || fail ends
i=0
while [ $i -lt 60 ]; do
	i=$((i + 1))
	"$dir/ends" $((i * 300)) &
	at=$!
	timeout 60 "$ktr" sample $at 1 -F 1000 >"$dir/out" 2>"$dir/err"
	got=$?
	case $got in
	0) python3 tests/cli/tool/sample.py "$dir/out" || { failed=1; echo "of who ends after $i"; } ;;
	1)
		grep -Eq 'no such process|has ended' "$dir/err" && [ ! -s "$dir/out" ] ||
			fail "who ends after $i: $(cat "$dir/out" "$dir/err")"
		;;
	*) fail "who ends after $i: $got $(cat "$dir/err")" ;;
	esac
	wait $at
	is "the end after $i" $? 7
done

status 1 "$ktr" sample 999999999 1 -o "$dir/none"
[ ! -e "$dir/none" ] || fail 'a trace of nobody'
grep -q 'no such process' "$dir/err" || fail "$(cat "$dir/err")"
status 2 "$ktr" sample
status 2 "$ktr" sample x
status 2 "$ktr" sample 1 0
status 2 "$ktr" sample 1 1 -F 0
exit $failed
