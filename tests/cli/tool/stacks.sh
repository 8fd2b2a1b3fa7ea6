#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr stacks: states, calls, functions and lines of threads are those of their program's source, of /proc and of gdb.
# Whoever is looked at counts no EINTR and no time that ended early, is stopped if it was stopped, and lives on when the
# command is killed. What cannot be looked at is refused with the rule. Programs that know nothing of ktr: static ones,
# python3, one in Go.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "stops of threads are tested on x86-64"; exit 0 ;;
esac
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}
# shellcheck disable=SC2086
build() { # NAME SOURCE OPTION...
	to=$dir/$1 source=$2
	shift 2
	$cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra "$@" "$source" -o "$to" -lpthread -ldl || exit 1
}
build waits tests/programs/tool/stacks.c -O2 -g
build host tests/programs/host/attach_host.c -O1
mkfifo "$dir/end" || exit 1
exec 9<>"$dir/end"

# begin NAME COMMAND...: in the background, with an input that does not end; $! is it
begin() {
	name=$1
	shift
	"$@" <"$dir/end" >"$dir/$name.out" 2>&1 &
	pids="$pids $!"
}

# counted NAME ROLES: so many roles have told, and of no EINTR, nothing wrong, and no time that ended early. Times of calls on
# sockets are the kernel's ticks, which are late themselves on a machine that is busy: those may seem to end early.
counted() {
	is "roles of $1" "$(grep -c ' rounds, ' "$dir/host.out")" "$2"
	told=$(grep -vE '^begun$| 0 EINTR, 0 wrong, 0 early$|^(recv|accept|connect): .* 0 EINTR, 0 wrong, ' "$dir/host.out")
	[ -z "$told" ] || fail "$1: $told"
}

# ---- what is told ----

begin waits "$dir/waits"
waits=$!
await 'grep -qs begun "$dir/waits.out"'
asleep() { # in the calls that they are to wait in: so many
	cat /proc/$waits/task/*/stat 2>/dev/null | grep -c ') S '
}
await '[ "$(asleep)" = 7 ]'
"$ktr" stacks -p $waits >"$dir/out" 2>"$dir/err" || case $(cat "$dir/err") in
*'kernel forbids'* | *ptrace*) skip "$(cat "$dir/err")"; exit 0 ;;
*) fail "$(cat "$dir/err")" ;;
esac
if grep -q 'this build has no libdw' "$dir/out"; then
	skip 'names: this build has no libdw'
	exit $failed
fi
grep -q '8 threads stopped' "$dir/err" || fail "stops: $(cat "$dir/err")"
is 'threads' "$(grep -c '^[0-9]' "$dir/out")" 8
grep -L '^x' /proc/$waits/task/*/comm | cut -d/ -f5 | sort -n >"$dir/tids"
grep '^[0-9]' "$dir/out" | cut -d' ' -f1 | cmp - "$dir/tids" || fail 'the ids of its threads'
one=$(sed -n '/(poll)/s/ .*//p' "$dir/out")
status 0 "$ktr" stacks -p $waits -t "$one"
is 'one thread' "$(grep -c '^[0-9]' "$dir/out")" 1
status 1 "$ktr" stacks -p $waits -t 1
grep -q 'has no thread 1' "$dir/err" || fail "$(cat "$dir/err")"

# A call with a time that a stop ends is made again with what is left of it, once it is known since when it waits.
left() { # the seconds of the timespec that a sigtimedwait(2) of $one has
	at=$(awk '$1 == 128 { print $4 }' "/proc/$waits/task/$one/syscall")
	[ -z "$at" ] || dd if=/proc/$waits/mem bs=8 count=1 iflag=skip_bytes skip=$((at)) status=none | od -An -td8
}
one=$(grep -l '^signal$' /proc/$waits/task/*/comm | cut -d/ -f5)
if grep -qs exec_start /proc/self/sched; then
	await '"$ktr" stacks -p $waits -t "$one" >"$dir/out" 2>"$dir/err"; s=$(left); [ "${s:-600}" -lt 600 ]'
	[ "$((s))" -gt 0 ] || fail "what is left of 600 s: $s"
fi

# The same as a trace.
status 0 "$ktr" stacks -p $waits -o "$dir/trace"
[ ! -s "$dir/out" ] || fail "-o prints: $(cat "$dir/out")"
status 0 "$ktr" fsck "$dir/trace"
status 0 "$ktr" dump -q "$dir/trace"
is 'stacks in a trace' "$(wc -l <"$dir/out")" 8
grep -Eq ' futex/[0-9]+ .* sleeping in futex\(0x[0-9a-f]+ <wanted>, .*: .* < wait_futex\+0x[0-9a-f]+ < middle\+0x' "$dir/out" ||
	fail "a trace: $(cat "$dir/out")"
status 0 "$ktr" export folded "$dir/trace" -o -
is 'stacks that are counted' "$(grep -c ';outer;middle;wait_[a-z]*.* 1$' "$dir/out")" 7

# Stopped, it stays so.
kill -STOP $waits
await 'grep -q "^State:.*T" /proc/$waits/status'
status 0 "$ktr" stacks -p $waits
grep -q '^[0-9]* (poll): stopped' "$dir/out" && grep -q ' outer+0x' "$dir/out" || fail "stopped: $(cat "$dir/out")"
is 'still stopped' "$(cat /proc/$waits/task/*/stat | grep -c ') T ')" 8
kill -CONT $waits
await '[ "$(asleep)" = 7 ]'

status 0 "$ktr" stacks -p $waits
cp "$dir/out" "$dir/ours"
: >"$dir/gdb"
if command -v gdb >/dev/null; then
	# It leaves calls behind that ended with EINTR: it is the last to look.
	gdb -nx -p $waits -batch -ex 'thread apply all bt' >"$dir/gdb" 2>/dev/null </dev/null
	grep -q clone "$dir/gdb" || { skip 'gdb: it cannot look'; : >"$dir/gdb"; }
else
	skip 'gdb'
fi
[ -s "$dir/gdb" ] && set -- "$dir/gdb" || set --
python3 tests/cli/tool/stacks.py tests/programs/tool/stacks.c "$dir/ours" "$@" || failed=1
kill $waits

# ---- what it does to whom it looks at ----

begin host nice -n 19 "$dir/host" "$dir/stop" spin malloc epoll epoll2 semtimedop sem sigtimedwait nanosleep poll recv accept connect signal
host=$!
await 'grep -qs begun "$dir/host.out"'
for i in 1 2; do
	status 0 "$ktr" stacks -p $host
done
is 'its threads' "$(grep -c '^[0-9]' "$dir/out")" 13
: >"$dir/stop"
wait $host
counted 'who was looked at' 13

# Killed at any moment: nobody stays stopped, or ends.
rm "$dir/stop"
begin host nice -n 19 "$dir/host" "$dir/stop" spin nanosleep poll sem
host=$!
await 'grep -qs begun "$dir/host.out"'
for ms in 1 2 3 5 8 12 20 35 60 100; do
	timeout -s KILL "$(printf '0.%03d' $ms)" "$ktr" stacks -p $host >/dev/null 2>&1
done
await '! grep -q "^State:.*[tT] (" /proc/$host/task/*/status'
: >"$dir/stop"
wait $host
counted 'whose looker was killed' 4

# ---- other people's ----

# stranger NAME CALL FUNCTION COMMAND...: it waits in CALL, and FUNCTION is on a stack
stranger() {
	name=$1 call=$2 function=$3
	shift 3
	begin "$name" "$@"
	at=$!
	await 'cat /proc/$at/task/*/syscall 2>/dev/null | grep -q "^$call "'
	status 0 "$ktr" stacks -p $at
	grep -q "$function" "$dir/out" || fail "$name: $(cat "$dir/out")"
	kill $at
}
cat >"$dir/s.c" <<-'END'
	#include <unistd.h>
	__attribute__((noinline)) int asks(void) { char c; int n = (int)read(0, &c, 1); __asm__ volatile(""); return n; }
	__attribute__((noinline)) int about(void) { int n = asks(); __asm__ volatile(""); return n; }
	int main(void) { int n = about(); __asm__ volatile(""); return n; }
END
$cc -O2 -static "$dir/s.c" -o "$dir/static" || fail static
stranger static 0 '^    0x[0-9a-f]*  about+0x[0-9a-f]*  static+0x' "$dir/static"
is 'in order' "$(sed -n 's/^    0x[0-9a-f]*  \(asks\|about\|main\)+.*/\1/p' "$dir/out" | tr '\n' ' ')" 'asks about main '
cat >"$dir/p.cc" <<-'END'
	#include <iostream>
	namespace a { struct b { template <class T> [[gnu::noinline]] int c(T t) { char x; std::cin >> x; return t + x; } }; }
	int main() { return a::b().c(3L); }
END
if ${CXX:-c++} -O1 "$dir/p.cc" -o "$dir/plus" 2>"$dir/err"; then
	stranger plus 0 '  int a::b::c<long>(long)+0x\|  a::b::c<long>+0x' "$dir/plus"
fi
# Frame pointers that lead into a file's data, or its zeroed memory: no frame is made of that, and why there are no more is said.
cat >"$dir/astray.c" <<-'END'
	const int data[4] = { 1 };
	int zeroed[4096];
	__asm__(".text\n.globl _start\n.type _start, @function\n_start: lea data(%rip), %rax\ncmpq $1, (%rsp)\nje 2f\n"
		"lea zeroed(%rip), %rax\n2: push %rax\npush $0\nmov %rsp, %rbp\n1: xor %eax, %eax\nxor %edi, %edi\n"
		"lea -64(%rsp), %rsi\nmov $1, %edx\nsyscall\njmp 1b\n.size _start, . - _start\n");
END
if $cc -O1 -static -nostdlib -no-pie "$dir/astray.c" -o "$dir/astray" 2>"$dir/err"; then
	for zeroed in '' zeroed; do
		# shellcheck disable=SC2086
		stranger astray 0 '^    0x[0-9a-f]*  _start+0x' "$dir/astray" $zeroed
		is "astray, $zeroed" "$(sed '1d; s/^ *//; s/^0x[0-9a-f]*  \(_start\).*/\1/' "$dir/out" | tr '\n' ,)" \
			'_start,... what is beyond is no code,'
	done
else
	skip "astray: $(head -n 1 "$dir/err")"
fi
# A file that is gone: its image is in memory.
cp "$dir/static" "$dir/gone"
begin gone "$dir/gone"
at=$!
await 'grep -q "^0 " /proc/$at/syscall'
rm "$dir/gone"
status 0 "$ktr" stacks -p $at
grep -q '  about+0x' "$dir/out" || fail "deleted: $(cat "$dir/out")"
kill $at
stranger python 0 'main+0x\|Py_BytesMain+0x\|python' python3 -c 'import os
os.read(0, 1)'
gofmt=$(ls /usr/lib/go-*/bin/gofmt 2>/dev/null | head -n 1)
if [ -n "$gofmt" ]; then
	# Debian's has no symbols: its frames go by frame pointers.
	stranger go 0 '  gofmt+0x' "$gofmt"
	[ "$(sed -n '/in read/,/^$/p' "$dir/out" | grep -c gofmt+0x)" -ge 8 ] || fail "go: $(cat "$dir/out")"
fi
case $(file -L "$(command -v busybox)" 2>/dev/null) in
*'statically linked'*) stranger busybox 0 'in read(0 <' busybox cat ;;
esac

# ---- refused ----

refused() { # PID TEXT
	status 1 "$ktr" stacks -p "$1"
	grep -q -- "$2" "$dir/err" || fail "not \"$2\": $(cat "$dir/err")"
}
refused 999999999 'no such process'
sh -c 'sleep 0 & exec sleep 1000' &
parent=$!
pids="$pids $parent"
await 'child=$(pgrep -P $parent) && grep -q "^State:.*Z" "/proc/$child/status"'
refused "$child" 'has ended'
build refuse tests/programs/bsd/refuse.c
status 1 "$dir/refuse" 1 -1 "$ktr" stacks -p $parent
grep -q 'forbids' "$dir/err" || fail "a filter: $(cat "$dir/err")"
status 2 "$ktr" stacks
status 2 "$ktr" stacks -p 0
for p in $(pgrep -x kthreadd); do
	refused "$p" "thread of the kernel"
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	status 1 setpriv --reuid 65534 --clear-groups "$ktr" stacks -p $parent
	grep -q "it is user 0's" "$dir/err" || fail "another user's: $(cat "$dir/err")"
fi
# One that ends at any moment: all of it is told, or that it has ended; nobody is left stopped, and the end is its own.
build ends tests/programs/tool/ends.c
i=0
while [ $i -lt 60 ]; do
	i=$((i + 1))
	"$dir/ends" $((i * 300)) &
	at=$!
	timeout 60 "$ktr" stacks -p $at >"$dir/out" 2>"$dir/err"
	got=$?
	case $got in
	0) grep -q "^$at (" "$dir/out" || fail "who ends after $i: $(cat "$dir/out")" ;;
	1) grep -Eq 'no such process|has ended' "$dir/err" || fail "who ends after $i: $(cat "$dir/err")" ;;
	*) fail "who ends after $i: $got $(cat "$dir/err")" ;;
	esac
	wait $at
	is "the end after $i" $? 7
done
# Thousands of threads: all of them are told of, once.
cat >"$dir/m.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static void *run(void *arg) { for (;;) pause(); return arg; }
	int main(void)
	{
		pthread_attr_t attr;
		pthread_t id;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 65536);
		for (int i = 1; i < 5000; i++)
			if (pthread_create(&id, &attr, run, 0))
				return 1;
		puts("begun");
		fflush(stdout);
		run(0);
	}
END
build many "$dir/m.c"
begin many "$dir/many"
at=$!
await 'grep -qs begun "$dir/many.out" || ! kill -0 $at'
if grep -q begun "$dir/many.out"; then
	status 0 "$ktr" stacks -p $at
	is 'thousands of threads' "$(grep '^[0-9]' "$dir/out" | cut -d' ' -f1 | sort -u | wc -l)" 5000
	is 'thousands that sleep' "$(grep -c '^[0-9]* (many): sleeping in pause()' "$dir/out")" 5000
	kill -9 $at
else
	skip 'thousands of threads: there may not be so many'
fi
if command -v strace >/dev/null; then
	strace -qq -o /dev/null -p $parent 2>/dev/null &
	tracer=$!
	pids="$pids $tracer"
	await '! grep -q "^TracerPid:.0" /proc/$parent/status || ! kill -0 $tracer'
	! kill -0 $tracer 2>/dev/null || refused $parent "process $tracer (strace) traces it"
fi
exit $failed
