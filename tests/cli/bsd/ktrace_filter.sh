#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr ktrace -t without c: a filter in the kernel stops a program that it starts for the calls alone of which something is
# recorded (call_filter.h). The records are those of a trace of everything, the program is as without, stops are few,
# and it ends with its tracer; where there can be no filter it is as before. FULL=1: more programs.
. "$(dirname "$0")/../lib.inc"

for program in lives refuse; do
	$cc -Iinclude -D_GNU_SOURCE -O1 -w "tests/programs/bsd/$program.c" -o "$dir/$program" -lpthread || exit 1
done
tests=$top/tests/cli/bsd
cd "$dir" || exit 1
pids=
at_exit() {
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
}
is_free() { grep -q '^TracerPid:[[:space:]]*0$' "/proc/$1/status"; }

# Records, by themselves as among all.
python3 "$tests/ktrace_filter.py" "$ktr" "${FULL:-0}" || failed=1

# Stops: a thousand calls that nobody asks for, a path that somebody does.
traced_by() { sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$1/status"; }
count() { # WHAT...: how often the tracer of a program waits for it, as strace counts
	rm -f begin
	mkfifo begin
	"$@" python3 -c '
import os
open("begin").read()
for i in range(1000):
    os.getppid()
os.path.exists("/a/path")' &
	counted=$!
	await 'grep -q python /proc/$counted/comm && grep -qE "^(257|56) " /proc/$counted/syscall 2>/dev/null' # openat(2)
	strace -c -e trace=wait4 -o counts -p "$(traced_by $counted)" 2>/dev/null &
	counter=$!
	await '[ "$(traced_by "$(traced_by $counted)")" = $counter ]'
	echo >begin
	wait $counted
	wait $counter
	awk '$NF == "wait4" { print $4 }' counts
}
if command -v strace >/dev/null; then
	all=$(count "$ktr" ktrace -f trace)
	some=$(count "$ktr" ktrace -t n -f trace)
	"$ktr" kdump -f trace | grep -q 'NAMI  "/a/path"' || fail "no path"
	[ "$all" -gt 2000 ] && [ "$some" -lt 500 ] || fail "stops: $some of $all with -t n"
	[ "${FULL:-0}" = 0 ] || echo "stops in a thousand calls: $all, with -t n $some, with -t u $(count "$ktr" ktrace -t u -f trace)"
	unfiltered=$(count ./refuse 22 -3 "$ktr" ktrace -t n -f trace)
	[ "$unfiltered" -gt 2000 ] || fail "a kernel that takes no filter: $unfiltered stops"
	"$ktr" kdump -f trace | grep -q 'NAMI  "/a/path"' || fail "no path where there is no filter"
else
	skip "how often a program stops: there is no strace to count it"
fi

# Nobody's rights.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	mkdir -m 777 theirs
	status 0 setpriv --reuid 65534 --clear-groups "$ktr" ktrace -t n -f theirs/out sh -c 'test -e /a/path; grep Seccomp: /proc/self/status'
	is "a filter of one without rights" "$(cat out)" "Seccomp:	2"
	"$ktr" kdump -f theirs/out | grep -q 'NAMI  "/a/path"' || fail "no path of one without rights"
fi

# Children that are not traced have the filter, too; nothing is told of them.
status 3 "$ktr" ktrace -t n -f trace sh -c '(cat /etc/passwd | wc -l >count; exit 3)'
is "what untraced children do" "$(cat count)" "$(wc -l </etc/passwd)"
"$ktr" kdump -f trace | grep -q '/etc/passwd' && fail "paths of children without -i"
status 0 "$ktr" ktrace -i -t n -f trace sh -c 'cat /etc/passwd | wc -l'
"$ktr" kdump -f trace | grep -q '"/etc/passwd"' || fail "no paths of children with -i"
# One that its parent does not wait for.
mkfifo go
status 0 "$ktr" ktrace -t n -f trace sh -c '(exec >/dev/null 2>&1; read x <go; cat /etc/passwd >left; echo done >done) &'
[ ! -e done ] || fail "it did not wait"
echo >go
await '[ -s done ]'
cmp -s left /etc/passwd || fail "a child that was left"

# No more of it: it goes on, and so does its tracer. More of it: all calls.
mkfifo in
"$ktr" ktrace -t n -f trace sh -c 'while read line; do test -e "/a/$line"; done' <in &
reader=$!
pids="$pids $reader"
exec 5>in
await 'grep -q "^sh$" /proc/$reader/comm'
says() { # LINE: it is recorded
	said=$1
	echo "$said" >&5
	await '"$ktr" kdump -f trace 2>/dev/null | grep -q "NAMI  \"/a/$said\""'
}
says one
status 0 "$ktr" ktrace -a -t c -f trace -p $reader
says two
await '"$ktr" kdump -f trace 2>/dev/null | grep -q "CALL  read"'
status 0 "$ktr" ktrace -c -t c -p $reader
says three
status 0 "$ktr" ktrace -c -p $reader
n=$("$ktr" kdump -f trace | wc -l)
is_free $reader && fail "it has been let go of with its filter"
status 1 "$ktr" ktrace -f other -p $reader
echo four >&5
exec 5>&-
wait $reader
is "it reads on, and ends" $? 1
is "records after -c" "$("$ktr" kdump -f trace | wc -l)" "$n"
status 0 "$ktr" ktrace -t n -f trace sh -c "\"$ktr\" ktrace -c -f trace; ls /a/path; exit 0"
"$ktr" kdump -f trace | grep -q '/a/path' && fail "a path after -c -f"

# A file that is full: it goes on.
# shellcheck disable=SC2016
status 0 sh -c 'ulimit -f 8; exec "$0" ktrace -i -t n -f trace sh -c "ls -lR /usr/share/doc >/dev/null 2>&1; echo done"' "$ktr"
is "what it says whose file is full" "$(cat out)" done
await '[ -s err ]'
is "what is said of that" "$(cat err)" "ktr ktrace: trace: File too large: nothing more is traced"

# It ends with its tracer.
"$ktr" ktrace -t n -f trace sleep 1000 &
sleeper=$!
pids="$pids $sleeper"
await 'grep -q sleep /proc/$sleeper/comm && grep -q "^State:.S" /proc/$sleeper/status'
kill -9 "$(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/$sleeper/status)"
wait $sleeper 2>/dev/null
is "of a tracer that is killed" $? 137
exit $failed
