#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr ktrace of running programs: taken and let go of again and again they lose no signal and no call; who refuses says
# so; a tracer that is killed leaves them running; -g, -d, -i, -c, -C, -a.
. "$(dirname "$0")/../lib.inc"

for program in busy refuse lives; do
	$cc -Iinclude -D_GNU_SOURCE -O1 -w "tests/programs/bsd/$program.c" -o "$dir/$program" -lpthread || exit 1
done
cd "$dir" || exit 1
pids=
at_exit() {
	exec 5>&- 6>&- 7>&-
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
}

traced() { # PID: by whom, each thread
	sed -n 's/^TracerPid:[[:space:]]*//p' /proc/"$1"/task/*/status 2>/dev/null | sort -u | tr '\n' ' '
}

is_traced() { [ "$(traced "$1")" != "0 " ]; }
is_free() { [ "$(traced "$1")" = "0 " ]; }

# It has become sleep(1), and waits in it.
is_asleep() { [ "$(cat "/proc/$1/comm")" = sleep ] && grep -q '^State:.S' "/proc/$1/status"; }

has() { # FILE TEXT
	"$ktr" kdump -s -f "$1" 2>/dev/null | grep -q "$2"
}

# A program that computes, sleeps, waits, and sends itself signals.
mkfifo busy.in
./busy <busy.in >busy.out 2>busy.err &
busy=$!
pids="$pids $busy"
exec 5>busy.in
await 'grep -q ready busy.out'
for i in $(seq "${ROUNDS:-8}"); do
	status 0 "$ktr" ktrace -f trace -t cs -p $busy
	status 0 "$ktr" ktrace -c -p $busy
done
[ -z "${ROUNDS:-}" ] || echo "$ROUNDS times taken and let go of: $(traced $busy | tr -d ' ') traces it"
is "its tracer" "$(traced $busy)" "0 "
status 0 "$ktr" ktrace -f trace -p $busy
await 'has trace "PSIG  SIGUSR1 caught"' || "$ktr" kdump -f trace | tail -n 3
await 'has trace "CALL  epoll_wait"'

# To another file it goes from there on; to the same one, more of it.
tracer=$(traced $busy)
status 0 "$ktr" ktrace -t c -f other -p $busy
[ "$(traced $busy)" != "$tracer" ] || fail "another file has the tracer of the first"
await 'has other "CALL  epoll_wait"'
"$ktr" kdump -t s -f other | grep -q . && fail "signals, though calls were asked for"
tracer=$(traced $busy)
status 0 "$ktr" ktrace -a -t s -f other -p $busy
is "its tracer, for more" "$(traced $busy)" "$tracer"
await 'has other "PSIG  SIGUSR1 caught"'
# No more calls, but signals.
status 0 "$ktr" ktrace -c -t cint -p $busy
is "its tracer, for signals" "$(traced $busy)" "$tracer"
# Who kills the tracer lets the program go. (A call that a thread was stopped before the kernel ends with EINTR then,
# and a signal that the tracer had been told of is lost, for which this program waits for long.)
mkfifo left.in
./busy <left.in >/dev/null 2>&1 5>&- &
left=$!
pids="$pids $left"
exec 7>left.in
status 0 "$ktr" ktrace -f killed -p $left
await 'has killed "PSIG  SIGUSR1 caught"'
kill -9 "$(traced $left | tr -d ' ')"
await 'is_free $left'
kill -0 $left || fail "the program ended with its tracer"
"$ktr" kdump -f killed >lines 2>err || fail "the file of a killed tracer: $(cat err)"
exec 7>&-
kill -9 $left

# To one file from two tracers, and the end of all that goes there.
rm -f both
sleep 1000 5>&- 6>&- &
sleeper=$!
pids="$pids $sleeper"
await 'is_asleep $sleeper'
status 0 "$ktr" ktrace -a -f both -p $busy
status 0 "$ktr" ktrace -a -f both -p $sleeper
await 'has both "^ *$busy .*CALL"'
status 0 "$ktr" ktrace -c -f both
is "tracers after -c -f" "$(traced $busy)$(traced $sleeper)" "0 0 "
has both "^ *$sleeper .*CALL  restart_syscall" || fail "no call of the second"
"$ktr" kdump -f both >lines 2>err || fail "a file of two: $(cat err)"
status 0 "$ktr" ktrace -f trace -p $busy
status 0 "$ktr" ktrace -C
is "its tracer after -C" "$(traced $busy)" "0 "
exec 5>&-
await '! kill -0 $busy 2>/dev/null || grep -q State:.Z /proc/$busy/status'
wait $busy || fail "$(cat busy.out busy.err)"
kill $sleeper

# A group, descendants, children that come.
cat >tree <<'END'
echo $$ >leader
sh -c 'echo $$ >child.new; mv child.new child; read x; (/bin/true; :); read x'
read x
END
mkfifo tree.in
setsid sh tree <tree.in >/dev/null 2>&1 &
exec 6>tree.in
await '[ -s child ]'
tree=$(cat leader) child=$(cat child)
pids="$pids $tree $child"
status 0 "$ktr" ktrace -f trace -g "$tree"
is "who is traced of a group" "$(is_traced "$tree" && is_traced "$child" && echo both)" both
status 0 "$ktr" ktrace -c -g "$tree"
is "after -c -g" "$(traced "$tree")$(traced "$child")" "0 0 "
status 0 "$ktr" ktrace -f trace -p "$tree"
is "without -d" "$(traced "$child")" "0 "
status 0 "$ktr" ktrace -C
status 0 "$ktr" ktrace -i -d -f trace -p "$tree"
is "with -d" "$(is_traced "$child" && echo too)" too
echo >&6
await 'has trace "NAMI  .*/bin/true"'
status 0 "$ktr" ktrace -C
exec 6>&-

# Processes that are not there, and kernels that refuse.
status 1 "$ktr" ktrace -f trace -p 4194303
is "no process" "$(cat err)" "ktr ktrace: process 4194303: No such process"
status 1 "$ktr" ktrace -f trace -g 4194303
is "no group" "$(cat err)" "ktr ktrace: group 4194303: No such process"
status 1 "$ktr" ktrace -c -p 4194303
is "no process to let go of" "$(cat err)" "ktr ktrace: process 4194303: No such process"
sleep 1000 5>&- 6>&- &
sleeper=$!
pids="$pids $sleeper"
for refusal in '1:Operation not permitted: ptrace(2) refuses it; see ktr-ktrace(1)' '3:No such process' '5:Input/output error' \
	'12:Cannot allocate memory' '13:Permission denied' '22:Invalid argument' '38:Function not implemented'; do
	status 1 ./refuse "${refusal%%:*}" -1 "$ktr" ktrace -f trace -p $sleeper
	is "refused, attached" "$(cat err)" "ktr ktrace: process $sleeper: ${refusal#*:}"
	status 1 ./refuse "${refusal%%:*}" -1 "$ktr" ktrace -f trace true
	is "refused, started" "$(sed 's/process [0-9]*/process N/' err)" "ktr ktrace: process N: ${refusal#*:}"
done
# A kernel that lacks the request (5.3 has it): the program runs, and it is said that nothing is traced.
status 0 ./refuse 5 $((0x420e)) "$ktr" ktrace -f trace echo done
is "an old kernel's program" "$(cat out)" "done"
await '[ -s err ]'
grep -q 'Input/output error: nothing more is traced$' err || fail "an old kernel: $(cat err)"
# Somebody else's.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir"
	mkdir -m 777 theirs
	status 1 setpriv --reuid 65534 --clear-groups "$ktr" ktrace -f theirs/out -p $sleeper
	is "another user's" "$(cat err)" \
		"ktr ktrace: process $sleeper: Operation not permitted: ptrace(2) refuses it; see ktr-ktrace(1)"
fi
if command -v strace >/dev/null; then
	strace -o /dev/null -p $sleeper 2>strace.err &
	strace=$!
	pids="$pids $strace"
	await 'is_traced $sleeper' || cat strace.err
	status 1 "$ktr" ktrace -f trace -p $sleeper
	is "one that strace has" "$(cat err)" "ktr ktrace: process $sleeper: Operation not permitted: process $strace traces it"
	status 1 "$ktr" ktrace -c -p $sleeper
	is "-c of one that strace has" "$(cat err)" \
		"ktr ktrace: process $sleeper: process $strace traces it, which is no ktrace of yours"
	kill $strace
fi
kill $sleeper
exit $failed
