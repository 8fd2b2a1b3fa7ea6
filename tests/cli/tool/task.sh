#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# libktr-task: states, names, times and registers of threads are those of /proc and gdb, memory is what /proc/PID/mem has;
# of samples nothing is lost uncounted, whoever reads them or does not, threads that are born are there, and who is
# sampled counts no EINTR. A sampler lives with a program that waits for any child. What cannot be looked at has its errno.
#
#	FULL=1	a busy program is sampled for a minute, not for a moment
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "stops of threads are tested on x86-64"; exit 0 ;;
esac
pids=
at_exit() {
	# Thousands of threads use up numbers, which come again.
	for p in $pids; do ! grep -qs "^PPid:.$$\$" "/proc/$p/status" || kill -9 "$p"; done
}
# shellcheck disable=SC2086
build() { # NAME SOURCE OPTION...
	to=$dir/$1 source=$2
	shift 2
	$cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Iinclude "$@" "$source" -o "$to" -L"$O/lib" -Wl,-rpath,"$O/lib" \
		-lktr-task -lpthread -ldl || exit 1
}
build task tests/programs/tool/task.c -O1 -g
build waits tests/programs/tool/stacks.c -O2 -g
build host tests/programs/host/attach_host.c
task=$dir/task
mkfifo "$dir/end" "$dir/go" || exit 1
exec 9<>"$dir/end" 8<>"$dir/go"

asleep() { # PID: so many of its threads are
	cat /proc/"$1"/task/*/stat 2>/dev/null | grep -c ') S '
}
counted() { # as in sample.sh: nobody has seen an EINTR, or a time that ended early
	is "roles of $1" "$(grep -c ' rounds, ' "$dir/host.out")" "$2"
	told=$(grep -vE '^begun$| 0 EINTR, 0 wrong, 0 early$|^(recv|accept|connect): .* 0 EINTR, 0 wrong, ' "$dir/host.out")
	[ -z "$told" ] || fail "$1: $told"
}
stood() { # what a stop took of those who were looked at
	awk -v what="$1" '{ for (i = 1; i < NF; i++) n[$i] = $(i + 1) }
		END { if (n["stops"])
			printf "%s: %d samples, %d lost; %d rounds, %d left out; %d stops, each for %.1f us, at most %.1f us\n",
				what, n["samples"], n["lost"], n["rounds"], n["missed"], n["stops"], n["ns"] / n["stops"] / 1e3,
				n["most"] / 1e3 }' "$dir/sums"
}
python() {
	python3 tests/cli/tool/task.py "$@" || failed=1
}

# ---- a look ----

"$dir/waits" <"$dir/end" >"$dir/waits.out" &
waits=$!
pids="$pids $waits"
await 'grep -qs begun "$dir/waits.out"'
await '[ "$(asleep $waits)" = 7 ]'
run=$(grep -l '^run$' /proc/$waits/task/*/comm | cut -d/ -f5)
await '[ "$(cut -d" " -f14 /proc/$waits/task/$run/stat)" -gt 2 ]'
status 0 "$task" info $waits
python info $waits "$dir/out" "$run"
# Stopped all of it stands still: the times of the one that ran, too, are those of /proc, to the last digit.
halt() {
	kill -STOP "$1"
	await '[ "$(cat /proc/'"$1"'/task/*/stat | grep -c ") T ")" = '"$2"' ]'
}
halt $waits 8
status 0 "$task" info $waits
python info $waits "$dir/out"
is 'threads that are stopped' "$(cut -d' ' -f2 "$dir/out" | tr -d '\n')" TTTTTTTT
kill -CONT $waits
await '[ "$(asleep $waits)" = 7 ]'
"$task" state $waits >"$dir/out" 2>"$dir/err" || case $(cat "$dir/err") in
1\ *) skip "$(cat "$dir/err")"; exit 0 ;;
*) fail "state: $(cat "$dir/err")" ;;
esac
is 'threads that stood' "$(grep -c ' stood for [0-9.]* us' "$dir/err")" 8

# ---- memory ----

status 0 "$task" regions $waits
sed 's/  *$//' "$dir/out" >"$dir/ours"
sed 's/  */ /g; s/ $//' /proc/$waits/maps | diff - "$dir/ours" >"$dir/diff" || fail "regions: $(cat "$dir/diff")"
[ "$(wc -l <"$dir/ours")" -gt 20 ] || fail "only $(wc -l <"$dir/ours") regions"
grep -E ' r-.p .*/waits$|\[stack\]$' "$dir/ours" >"$dir/some"
[ "$(wc -l <"$dir/some")" -ge 4 ] || fail "regions: $(cat "$dir/ours")"
while read -r range _; do
	start=${range%-*} end=${range#*-}
	n=$((0x$end - 0x$start))
	dd if=/proc/$waits/mem bs=4096 iflag=skip_bytes,count_bytes skip=$((0x$start)) count=$n of="$dir/want" status=none
	status 0 "$task" read $waits "$start" $n
	cmp -s "$dir/out" "$dir/want" || fail "memory at $range"
	[ -s "$dir/out" ] || fail "no memory at $range"
done <"$dir/some"
# To where it ends, and nowhere.
end=$(sed -n 's/^[0-9a-f]*-\([0-9a-f]*\) .*\[stack\]$/\1/p' "$dir/ours")
status 0 "$task" read $waits "$(printf %x $((0x$end - 100)))" 5000
is 'bytes up to an end' "$(wc -c <"$dir/out")" 100
status 1 "$task" read $waits 10 4
grep -q '^14 14 .*nothing to be read at 0x10' "$dir/err" || fail "$(cat "$dir/err")"

# ---- samples ----

# sample PID TID HZ OPTION...: until something is written to $dir/go
sample() {
	: >"$dir/samples"
	"$task" sample "$@" <"$dir/go" >"$dir/samples" 2>"$dir/sums" 6>&- &
	tool=$!
	pids="$pids $tool"
}
ended() {
	wait $tool || fail "the sampler: $? $(cat "$dir/sums")"
}
sample $waits 0 100
await '[ "$(wc -c <"$dir/samples")" -gt 3000 ]' # a second has gone by
echo >&8
ended
# shellcheck disable=SC2046
seen=$(python3 tests/cli/tool/task.py buffers "$dir/samples" "$dir/sums" whole $(ls /proc/$waits/task)) || fail "$seen"
is 'threads' "$seen" "$(ls /proc/$waits/task | sort -n | tr '\n' ' ' | sed 's/ $//')"
status 0 "$ktr" stacks -p $waits
python frames "$dir/samples" "$dir/out"

# One thread of them.
sample $waits "$run" 1000
await '[ "$(wc -c <"$dir/samples")" -gt 3000 ]'
echo >&8
ended
is 'one thread' "$(python3 tests/cli/tool/task.py buffers "$dir/samples" "$dir/sums" whole "$run")" "$run"

# Both to one descriptor.
sample $waits "$run" 1000 both
await '[ "$(wc -c <"$dir/samples")" -gt 100000 ]'
echo >&8
ended
python two "$dir/samples" "$dir/sums"

# Nobody reads: what comes is what was counted, and the process that is sampled does not wait.
mkfifo "$dir/full" || exit 1
"$task" sample $waits 0 1000 late <"$dir/go" 2>"$dir/sums" >"$dir/full" &
tool=$!
exec 7<"$dir/full"
pids="$pids $tool"
queued() { # a thread that has sent all that goes waits for its rounds alone, and loses
	[ "$(sed -n 's/^voluntary_ctxt_switches:[[:blank:]]*//p' /proc/$tool/task/*/status 2>/dev/null | sort -n | tail -n 1)" -ge 4000 ]
}
await queued
echo >&8
# It ends a second later, and says so; only then is there a reader.
await 'ls /proc/$tool/task | wc -l | grep -qx 1 || ! kill -0 $tool'
cat <&7 >"$dir/samples" &
reader=$!
echo >&8
exec 7<&-
ended
wait $reader
python3 tests/cli/tool/task.py buffers "$dir/samples" "$dir/sums" early >"$dir/out" || { failed=1; cat "$dir/out"; }
[ "$(sed 's/.* lost \([0-9]*\) .*/\1/' "$dir/sums")" -gt 100 ] || fail "nothing was lost: $(cat "$dir/sums")"

# Whoever read has gone.
"$task" sample $waits 0 1000 <"$dir/go" 2>"$dir/sums" | head -c 1000 >/dev/null &
await 'pid=$(pgrep -x task) && ls /proc/$pid/task | wc -l | grep -qx 1'
echo >&8
await 'grep -qs "^code 32 " "$dir/sums"'

# gdb leaves calls behind that ended with EINTR: it is the last to look. A call that a stop has ended is made again, sometimes
# as restart_syscall(2), or with a time of its own: after the first stop it stays as it is.
if command -v gdb >/dev/null; then
	for i in 1 2; do
		await '[ "$(asleep $waits)" = 7 ]'
		status 0 "$task" state $waits
	done
	cp "$dir/out" "$dir/state"
	await '[ "$(asleep $waits)" = 7 ]'
	gdb -nx -p $waits -batch -ex 'thread apply all info registers' >"$dir/gdb" 2>/dev/null </dev/null
	if grep -q '^rip ' "$dir/gdb"; then
		python state "$dir/state" "$dir/gdb" "$run"
	else
		skip 'gdb: it cannot look'
	fi
else
	skip 'gdb'
fi
kill $waits
# The registers of one that runs are of a moment that stays, where it is stopped; and stopped it stays.
if grep -qs '^rip ' "$dir/gdb"; then
	: >"$dir/waits.out"
	"$dir/waits" <"$dir/end" >"$dir/waits.out" &
	waits=$!
	pids="$pids $waits"
	await 'grep -qs begun "$dir/waits.out"'
	await '[ "$(asleep $waits)" = 7 ]'
	halt $waits 8
	status 0 "$task" state $waits
	cp "$dir/out" "$dir/state"
	is 'threads that are stopped still' "$(cat /proc/$waits/task/*/stat | grep -c ') T ')" 8
	gdb -nx -p $waits -batch -ex 'thread apply all info registers' >"$dir/gdb" 2>/dev/null </dev/null
	python state "$dir/state" "$dir/gdb"
	kill -9 $waits
fi

# A busy program, all its life, beside whoever waits for any child. One of its threads makes others, that come and go.
for option in '' reap; do
	rm -f "$dir/stop"
	nice -n 19 "$dir/host" "$dir/stop" malloc spin epoll epoll2 semtimedop sem sigtimedwait nanosleep poll recv accept connect \
		signal threads >"$dir/host.out" &
	host=$!
	pids="$pids $host"
	await 'grep -qs begun "$dir/host.out"' && await '[ "$(ls /proc/$host/task | wc -l)" -ge 14 ]'
	ls /proc/$host/task | sort >"$dir/before"
	# shellcheck disable=SC2086
	sample $host 0 1000 $option
	await '[ "$(wc -c <"$dir/samples")" -gt 3000 ]'
	[ -z "${FULL:-}" ] || sleep 60
	echo >&8
	ended
	# shellcheck disable=SC2046
	seen=$(python3 tests/cli/tool/task.py buffers "$dir/samples" "$dir/sums" whole \
		$(ls /proc/$host/task | sort | comm -12 - "$dir/before")) || fail "$seen"
	: >"$dir/stop"
	wait $host
	counted "who was sampled${option:+ beside one that waits for any}" 14
	python born "$dir/samples" "$dir/stop.threads" ${FULL:+some}
	stood "a busy program${option:+, beside one that waits for any}"
done

# Threads that are born meanwhile, and a process that ends: whoever reads sees the end.
cat >"$dir/b.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static int ends[2];
	static void *run(void *arg)
	{
		char c;
		printf("%ld\n", syscall(SYS_gettid));
		fflush(stdout);
		if (read(ends[0], &c, 1) < 0) /* for good */
			_exit(1);
		return arg;
	}
	int main(void)
	{
		pthread_t id;
		char c;
		if (pipe(ends))
			return 1;
		while (read(0, &c, 1) == 1)
			if (c != '\n')
				pthread_create(&id, 0, run, 0);
		return 7;
	}
END
build born "$dir/b.c" -O1
mkfifo "$dir/b.in" || exit 1
"$dir/born" <"$dir/b.in" >"$dir/b.out" &
born=$!
exec 6>"$dir/b.in"
pids="$pids $born"
await 'grep -q "^0 " /proc/$born/syscall'
sample $born 0 200
await '[ "$(ls /proc/$tool/task | wc -l)" = 2 ]'
echo xxx >&6
await '[ "$(wc -l <"$dir/b.out")" = 3 ]'
stood_once() { # each was stopped, and sleeps again
	for tid in $(cat "$dir/b.out"); do
		[ "$(sed -n 's/^voluntary_ctxt_switches:[[:blank:]]*//p' "/proc/$born/task/$tid/status")" -ge 2 ] || return 1
	done
}
await stood_once
exec 6>&-
wait $born
is 'its exit status' $? 7
await '[ "$(ls /proc/$tool/task | wc -l)" = 1 ]'
echo >&8
ended
grep -q '^code 3 ' "$dir/sums" || fail "an end: $(cat "$dir/sums")"
seen=$(python3 tests/cli/tool/task.py buffers "$dir/samples" "$dir/sums" whole $born) || fail "$seen"
is 'threads that were born' "$seen" "$({ echo $born; cat "$dir/b.out"; } | sort -n | tr '\n' ' ' | sed 's/ $//')"

# ---- refused ----

# refused PID TID ERRNO TEXT [CALL...]: all calls say so, but for those that are named
refused() {
	pid=$1 tid=$2 code=$3 text=$4
	shift 4
	status 0 "$task" errors "$pid" "$tid"
	for call in threads info state read region sample_task sample_thread stop; do
		case " $* " in
		*" $call "*) continue ;;
		esac
		[ $call != stop ] || code=2 text='nothing is sampled'
		grep -q "^$call: $code $code .*$text" "$dir/out" || fail "$call of $pid: $(grep "^$call:" "$dir/out")"
	done
}
refused 999999999 999999999 3 'there is no process 999999999'
refused 0 1 22 'no number of a process'
"$dir/waits" <"$dir/end" >"$dir/waits.out" &
waits=$!
pids="$pids $waits"
await 'grep -qs begun "$dir/waits.out"'
refused $waits 1 3 'has no thread 1' threads read region sample_task stop
one=$(ls /proc/$waits/task | sort -n | tail -n 1)
refused "$one" "$one" 3 'no process, but a thread of'
sh -c 'sleep 0 & exec sleep 1000' &
parent=$!
pids="$pids $parent"
await 'zombie=$(pgrep -P $parent) && grep -q "^State:.*Z" "/proc/$zombie/status"'
refused "$zombie" "$zombie" 3 'has ended' threads info
is 'a zombie' "$("$task" info "$zombie" | cut -d' ' -f1,2)" "$zombie Z"
# The first thread has ended, and the process goes on: its memory is there.
cat >"$dir/l.c" <<-'END'
	#include <pthread.h>
	#include <unistd.h>
	static void *run(void *arg) { for (;;) pause(); return arg; }
	int main(void)
	{
		pthread_t id;
		if (pthread_create(&id, 0, run, 0))
			return 1;
		pthread_exit(0);
	}
END
build leaves "$dir/l.c" -O1
"$dir/leaves" &
leaves=$!
pids="$pids $leaves"
await 'grep -q "^State:.*Z" /proc/$leaves/status'
status 0 "$task" regions $leaves
one=$(ls /proc/$leaves/task | grep -vx $leaves)
is 'regions of a process whose first thread has ended' "$(wc -l <"$dir/out")" "$(wc -l <"/proc/$one/maps")"
at=$(sed -n '1s/-.*//p' "$dir/out")
status 0 "$task" read $leaves "$at" 4
is 'its memory' "$(tail -c 3 "$dir/out")" ELF
status 0 "$task" errors $leaves "$one"
grep -q '^state: 0 0 ' "$dir/out" || fail "a thread of it: $(cat "$dir/out")"
kill -9 $leaves
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$dir"
	setpriv --reuid 65534 --clear-groups "$task" errors $waits $waits >"$dir/out" 2>"$dir/err"
	for call in state read region sample_task sample_thread; do
		grep -q "^$call: 1 1 process $waits is user 0's" "$dir/out" || fail "another user's: $(cat "$dir/out" "$dir/err")"
	done
fi
if command -v strace >/dev/null; then
	strace -qq -f -o /dev/null -p $waits 2>/dev/null &
	tracer=$!
	pids="$pids $tracer"
	await '! grep -q "^TracerPid:.0" /proc/$waits/status || ! kill -0 $tracer'
	! kill -0 $tracer 2>/dev/null ||
		refused $waits $waits 16 "process $tracer (strace) traces process $waits, and only one may" threads info read region
	# Another user's it is first.
	if kill -0 $tracer 2>/dev/null && [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		setpriv --reuid 65534 --clear-groups "$task" errors $waits $waits >"$dir/out" 2>"$dir/err"
		grep -q "^state: 1 1 process $waits is user 0's" "$dir/out" || fail "another user's, traced: $(cat "$dir/out" "$dir/err")"
	fi
	kill $tracer 2>/dev/null
	wait $tracer 2>/dev/null
fi
"$task" arguments $waits </dev/null >"$dir/out" 2>"$dir/err"
while read -r what code; do
	grep -q "^$what: $code $code " "$dir/out" || fail "$what is not $code: $(cat "$dir/out")"
done <<-'END'
	hz.0 22
	hz.10001 22
	thread.0 22
	closed 9
	input 9
	nothing 2
	small.info 22
	small.state 22
	small.sums 22
	self 22
END
is 'the same twice' "$(grep -c '^twice: 0 0 ' "$dir/out")" 2
kill $waits

# One that ends at any moment: each call has done so, or says that there is none; nobody is left stopped, and the end is its own.
build ends tests/programs/tool/ends.c -O1
i=0
while [ $i -lt 60 ]; do
	i=$((i + 1))
	"$dir/ends" $((i * 300)) &
	at=$!
	timeout 60 "$task" errors $at $at >"$dir/out" 2>"$dir/err" || fail "who ends: $? $(cat "$dir/err")"
	bad=$(grep -vE '^[a-z_]+: (0 0 $|3 3 |11 11 |14 14 )|^(stop|region): 2 2 ' "$dir/out")
	[ -z "$bad" ] || fail "who ends after $i: $bad"
	wait $at
	is "the end after $i" $? 7
done

# Thousands of threads.
cat >"$dir/m.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	static void *run(void *arg) { for (;;) pause(); return arg; }
	int main(int argc, char **argv)
	{
		int n = argc > 1 ? atoi(argv[1]) : 0;
		pthread_attr_t attr;
		pthread_t id;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 65536);
		for (int i = 0; i < n; i++)
			if (pthread_create(&id, &attr, run, 0))
				return 1;
		puts("begun");
		fflush(stdout);
		run(0);
	}
END
build many "$dir/m.c" -O1
"$dir/many" 5000 >"$dir/m.out" &
many=$!
pids="$pids $many"
await 'grep -qs begun "$dir/m.out" || ! kill -0 $many'
if grep -q begun "$dir/m.out"; then
	is 'thousands of threads' "$("$task" info $many | wc -l)" 5001
	sample $many 0 10
	rounds() {
		[ "$(wc -c <"$dir/samples")" -gt 1000000 ]
	}
	await rounds
	echo >&8
	ended
	# shellcheck disable=SC2046
	seen=$(python3 tests/cli/tool/task.py buffers "$dir/samples" "$dir/sums" whole $(ls /proc/$many/task)) || fail "$seen"
	is 'thousands of threads that were seen' "$(echo "$seen" | wc -w)" 5001
	stood '5001 threads'
else
	skip 'thousands of threads: there may not be so many'
fi
exit $failed
