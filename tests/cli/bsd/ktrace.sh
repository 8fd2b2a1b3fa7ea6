#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr ktrace of a program that it starts: the program is as without, and the file is as FreeBSD's, for its owner alone,
# whole records whatever happens to the disk and to the tracer.
. "$(dirname "$0")/../lib.inc"

$cc -Iinclude -O1 -w tests/programs/bsd/lives.c -o "$dir/lives" -lpthread || exit 1
$cc -Iinclude -D_GNU_SOURCE -O1 -w tests/programs/bsd/calling.c "$O/lib/libktr-provider.a" "$O/lib/libktr.a" -o "$dir/calling" \
	-lpthread || exit 1
tests=$top/tests/cli/bsd
cd "$dir" || exit 1
pids=
at_exit() {
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
}

records() { # FILE: how many there are, all of them whole
	PYTHONPATH=$tests python3 -c 'import ktrace, sys; print(len(ktrace.read(sys.argv[1])))' "$1" 2>&1
}

# What it is to its caller.
status 7 "$ktr" ktrace -f trace sh -c 'echo said; exit 7'
is "its output" "$(cat out)" said
# shellcheck disable=SC2016
pid=$("$ktr" ktrace -f trace sh -c 'echo $PPID')
is "its parent" "$pid" $$
# shellcheck disable=SC2016
status 143 "$ktr" ktrace -f trace sh -c 'kill -TERM $$'
echo read | "$ktr" ktrace -f trace cat >out
is "its input" "$(cat out)" read
status 0 "$ktr" ktrace -f trace sh -c 'ls /proc/self/fd | wc -l'
is "files that it has open" "$(cat out)" "$(sh -c 'ls /proc/self/fd | wc -l' 2>/dev/null)"
status 0 "$ktr" ktrace -f trace grep 'Sig[PBIC]' /proc/self/status
is "signals it begins with" "$(cat out)" "$(grep 'Sig[PBIC]' /proc/self/status)"
# shellcheck disable=SC2016
status 0 sh -c 'exec "$0" ktrace -f trace ls /proc/self/fd <&- 2>&-' "$ktr"
is "files of one that has two closed" "$(tr '\n' ' ' <out)" "$(sh -c 'ls /proc/self/fd <&- 2>&-' | tr '\n' ' ')"
[ "$(records trace)" -gt 10 ] || fail "its records: $(records trace)"
status 1 "$ktr" ktrace -f trace ./nothing
is "no program" "$(cat err)" "ktr ktrace: exec of './nothing' failed: No such file or directory"
grep -q 'RET   execve -1 errno 2' <<END || fail "no record of it"
$("$ktr" kdump -f trace)
END

# The file.
is "its mode" "$(stat -c %a trace)" 600
echo mine >kept
ln -s kept link
status 0 "$ktr" ktrace -f link true
is "what a link leads to" "$(cat kept)" mine
[ ! -L link ] || fail "the file is a link"
status 0 "$ktr" ktrace true
[ -s ktrace.out ] || fail "no ktrace.out"
n=$(records ktrace.out)
status 0 "$ktr" ktrace -a true
is "records after -a" "$(records ktrace.out)" $((2 * n))
ln -sf kept link
status 1 "$ktr" ktrace -a -f link true
is "-a to a link" "$(cat err)" "ktr ktrace: link: Too many levels of symbolic links"
status 1 "$ktr" ktrace -a -f /dev/null true
is "-a to a device" "$(cat err)" "ktr ktrace: /dev/null not regular file"
status 1 "$ktr" ktrace -f no/such true
is "a folder that is not there" "$(cat err)" "ktr ktrace: no/such: No such file or directory"
status 1 "$ktr" ktrace -f . true

# Usage.
for words in '-c -C' '-C -p 1' '-p 1 -g 1' '' '-p 1 true' '-t x true' '-t w true' '-t f true'; do
	# shellcheck disable=SC2086
	status 2 "$ktr" ktrace $words
	is "lines about $words" "$(wc -l <err)" 2
done

# What is asked for.
only() { # LETTERS TYPES
	status 0 "$ktr" ktrace -t "$1" -f trace ./lives vectors
	is "records of -t $1" "$("$ktr" kdump -s -f trace | awk '{ print $3 }' | sort -u | tr '\n' ' ')" "$2"
}
only c "CALL RET "
only n "NAMI "
only i "GIO "
only t "STRU "
only ni "GIO NAMI "
status 0 "$ktr" ktrace -t s -f trace ./lives signals 3
is "signals" "$("$ktr" kdump -f trace | sed 's/.*PSIG/PSIG/; s/0x[0-9a-f]*/N/g' | sort | uniq -c | sed 's/^ *//')" \
	"3 PSIG  SIGUSR1 caught handler=N mask=N code=SI_LWP
3 PSIG  SIGUSR2 caught handler=N mask=N code=SI_USER"
status 0 "$ktr" ktrace -t i -f trace ./lives vectors
"$ktr" kdump -f trace | grep -A 3 'wrote 14 bytes' | head -n 4 | cut -c1-40 >lines
is "a vector" "$(sed -n 2p lines)" '       "one two three'
status 0 "$ktr" ktrace -t i -f trace python3 -c '
import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.send(b"x" * 100)
print(len(b.recv(10, socket.MSG_TRUNC)))'
"$ktr" kdump -s -f trace | grep -q 'GIO   fd [0-9]* read 10 bytes' || fail "a message that was cut: $("$ktr" kdump -s -f trace | tail -n 4)"
# What a program wants recorded, traced or not.
status 0 ./lives utrace
status 0 "$ktr" ktrace -t u -f trace ./lives utrace
is "records of its own" "$("$ktr" kdump -f trace | sed 's/.*USER/USER/; s/ *$//' | cut -c1-50)" "USER  10  70 68 61 73 65 20 74 77 6f 0a
USER  0
USER  2048  00 00 00 00 00 00 00 00 00 00 00 00 00"
# The same as a call.
: >called
mkdir bin
ln -s "$ktr" bin/ktr
status 0 env PATH="$dir/bin:$PATH" ./calling called 4194303
cat out
"$ktr" kdump -s -f called >lines
grep -q 'CALL  getppid' lines || fail "a call of its own: $(head -n 5 lines)"
grep -q 'USER  6  69 74 73 65 6c 66' lines || fail "a record of its own: $(head -n 5 lines)"
grep -q 'CALL  getpgrp' lines && fail "a call after KTROP_CLEAR"
# Children, or not.
status 0 "$ktr" ktrace -f trace ./lives forks 3
is "processes without -i" "$("$ktr" kdump -f trace | awk '$3 == "CALL" { print $1 }' | sort -u | wc -l)" 1
status 0 "$ktr" ktrace -i -f trace ./lives forks 3
is "processes with -i" "$("$ktr" kdump -f trace | awk '$3 == "CALL" { print $1 }' | sort -u | wc -l)" 4
status 0 "$ktr" ktrace -f trace ./lives threads 3
is "names of threads" "$("$ktr" kdump -f trace -t c | awk '{ print $2 }' | grep worker | sort -u | tr '\n' ' ')" "worker-0 worker-1 worker-2 "
# Every call that ends has begun, in each thread.
status 0 "$ktr" ktrace -i -f trace sh -c 'ls / | sort | wc -l'
"$ktr" kdump -H -t c -f trace | awk '$4 == "CALL" { sub(/\(.*/, "", $5); open[$2] = $5 }
	$4 == "RET" && open[$2] != $5 && $5 !~ /fork|clone/ { print "FAILED: " $0 }' | grep . && failed=1

# Stopped and continued, as by ^Z and fg: its parent is told.
status 0 python3 -c '
import os, signal, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "ktrace", "-f", "trace", "sleep", "1000"])
while open("/proc/%d/comm" % pid).read() != "sleep\n":
    pass
for number, what in (signal.SIGSTOP, os.WIFSTOPPED), (signal.SIGCONT, os.WIFCONTINUED), (signal.SIGTSTP, os.WIFSTOPPED), \
        (signal.SIGCONT, os.WIFCONTINUED), (signal.SIGTERM, os.WIFSIGNALED):
    os.kill(pid, number)
    got, status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)
    assert what(status), (number, status)' "$ktr"

# One that ends its tracer, nicely.
"$ktr" ktrace -f trace sleep 1000 &
sleeper=$!
pids="$pids $sleeper"
await 'grep -q sleep /proc/$sleeper/comm'
tracer=$(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/$sleeper/status)
[ "$tracer" != 0 ] || fail "it is not traced any more"
kill -TERM "$tracer"
await 'grep -q "^TracerPid:[[:space:]]*0$" /proc/$sleeper/status'
kill $sleeper
wait $sleeper 2>/dev/null
is "what it dies of" $? 143

# No room: the program does not notice, one line says so, and the file holds whole records.
full() { # WHAT TEXT COMMAND...
	what=$1 text=$2
	shift 2
	status 0 "$@"
	is "$what: the program's output" "$(cat out)" done
	await '[ -s err ]'
	is "$what: said" "$(cat err)" "ktr ktrace: $text: nothing more is traced"
}
full "a limit" "trace: File too large" sh -c 'ulimit -f 8; exec "$0" ktrace -i -f trace sh -c "ls -lR /usr/share/doc >/dev/null 2>&1; echo done"' "$ktr"
[ "$(records trace)" -gt 10 ] || fail "a limit: $(records trace)"
mkdir small
if unshare -m sh -c 'mount -t tmpfs -o size=64k none small' 2>/dev/null; then
	# shellcheck disable=SC2016
	full "a full disk" "small/trace: No space left on device" unshare -m sh -c 'mount -t tmpfs -o size=64k none small &&
		"$0" ktrace -i -f small/trace sh -c "ls -lR /usr/share/doc >/dev/null 2>&1; echo done" && cp small/trace full' "$ktr"
	[ "$(records full)" -gt 10 ] || fail "a full disk: $(records full)"
else
	skip "a full disk: nothing may be mounted"
fi
exit $failed
