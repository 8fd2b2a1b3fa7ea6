#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a program notices of a profiler that the kernel takes samples for. Its table of descriptors: it sees none of ours, closes
# none, gives its children none, and nothing of its own stays open by us; with no descriptor left; with another user's rights.
# Threads that can have no event, or no further one, have timers, which is said once, and the sum of each is its time; so it is of
# one that ends before it has its event.
# Filters of system calls that end the process: known before, or given later. A message queue that is to notify. The main thread
# ends first. Threads with the smallest stacks, met by timers that begin later.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'ktr profile is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent, or no glibc'; exit 0; }
export KTR_CONF=
trap '' PIPE # some of its programs read less than they are told
prog=$dir/perf_host
host=
at_exit() { [ -z "$host" ] || kill -9 "$host" 2>/dev/null; }
$cc -O2 -o "$prog" tests/programs/profile/perf_host.c -lpthread -lrt && $cc -O2 -Wl,-z,now -o "$dir/small" tests/profile/small_stacks.c -lpthread &&
	$cc -O2 -o "$dir/refused" tests/programs/profile/refused.c &&
	$cc -O2 -fPIC -shared -o "$dir/shim.so" tests/programs/profile/perf_shim.c || { fail 'programs'; exit 1; }

profile() { # TRACE OPTIONS... PROGRAM...: its exit status
	trace=$dir/$1
	shift
	rm -rf "$trace"
	timeout 300 "$ktr" profile -o "$trace" "$@" >"$dir/out" 2>"$dir/err"
}
# Of each thread that said so its time, to NS and a fiftieth; and of all of them, that share came while they ran [percent].
agree() { # TRACE WHAT NS SHARE
	"$ktr" report --profile --json "$dir/$1" >"$dir/json" || fail "$2: report"
	python3 - "$dir/out" "$dir/json" "$3" "$4" >"$dir/log" 2>&1 <<-'END2' || fail "$2: $(tail -n 1 "$dir/log") $(cat "$dir/err")"
		import json, sys
		threads = json.load(open(sys.argv[2]))["profile"]["threads"]
		lines = [line.split() for line in open(sys.argv[1])]
		said = [(int(l[0]), int(l[1])) for l in lines if len(l) == 2 and l[0].isdigit()]
		assert said, "the program said nothing"
		seen = 0
		for tid, ns in said:
		    mine = [t for t in threads if t["tid"] == tid]
		    got = sum(t[of + "_ns"] for t in mine for of in ("user", "kernel", "blocked", "missed", "lost"))
		    seen += got - sum(t["missed_ns"] + t["lost_ns"] for t in mine)
		    assert abs(got - ns) < int(sys.argv[3]) + ns / 50, f"thread {tid}: {got} ns instead of {ns}"
		all = sum(ns for tid, ns in said)
		assert seen * 100 >= all * int(sys.argv[4]), f"{seen} of {all} ns came"
	END2
}
told() { # WHAT TEXT: once
	[ "$(grep -c "$2" "$dir/err")" = 1 ] || fail "$1: not said once, \"$2\": $(cat "$dir/err")"
}

# ---- by timers ----

profile s --source timers "$dir/small" takes || fail "its signal is taken: $? $(cat "$dir/err")"
attaches=
case $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0) in 0) attaches=1 ;; *) skip 'ptrace_scope' ;; esac

# attached MODE OPTIONS...: the program runs, is attached to, gets a line, says something into $dir/said, gets another one
attached() {
	program=$1 mode=$2
	shift 2
	rm -rf "$dir/p" "$dir/go"
	mkfifo "$dir/go"
	"$program" "$mode" <"$dir/go" >"$dir/said" &
	host=$!
	exec 9>"$dir/go"
	await 'became $host "$program"'
	: >"$dir/err"
	"$ktr" profile -p $host "$@" -o "$dir/p" 2>"$dir/err" &
	profiler=$!
	await 'grep -q "system calls" "$dir/err" || ! kill -0 $profiler 2>/dev/null'
	echo >&9 2>/dev/null
	await '[ -s "$dir/said" ] || ! kill -0 $host 2>/dev/null'
	kill -INT $profiler 2>/dev/null
	wait $profiler || fail "attached, $mode: $(cat "$dir/err")"
	echo >&9 2>/dev/null
	exec 9>&-
	wait $host || fail "attached, $mode: $?"
	host=
}
[ -z "$attaches" ] || attached "$dir/small" runs --source timers

# ---- where perf events end the process ----

profile k "$dir/refused" perf_event_open=kill "$prog" another || fail "a filter that it inherits ends it: $? $(cat "$dir/err")"
timeout 300 "$dir/refused" perf_event_open=kill "$ktr" profile -o "$dir/k2" "$prog" another >"$dir/out" 2>"$dir/err" ||
	fail "a filter that ktr has: $? $(cat "$dir/err")"
told 'a filter that ktr has' 'by timers of threads, for perf events cannot be had (the program has a filter of system calls'
agree k2 'a filter that ktr has' 8000000 70
timeout 300 "$dir/refused" perf_event_open=kill "$ktr" profile --source perf -o "$dir/k3" "$prog" another >"$dir/out" 2>"$dir/err" ||
	fail "a filter, perf alone: $? $(cat "$dir/err")"
told 'a filter, perf alone' 'the program has a filter of system calls'

# ---- by perf events ----

profile t "$prog" another || fail "another: $(cat "$dir/err")"
if ! grep -q 'by perf events' "$dir/err"; then
	skip "perf events: $(grep perf_event_open "$dir/err")"
	exit $failed
fi
agree t another 8000000 70
is 'timers' "$(grep timers "$dir/out")" 'timers 0'

profile t "$prog" table || fail "its table: $? $(cat "$dir/err")"
is "its table" "$(sed "s/lost [0-9]* //" "$dir/out")" "seen 0 inherited 0"
profile t "$prog" files || fail "no descriptor is left: $? $(cat "$dir/err")"
is 'no descriptor is left' "$(grep -c 'timers 0' "$dir/out")" 2
agree t 'no descriptor is left' 8000000 70
profile t "$prog" leaves || fail "the main thread ends first: $? $(cat "$dir/err")"
profile t "$prog" filters || fail "a filter that it gives itself: $? $(cat "$dir/err")"
agree t 'a filter that it gives itself' 8000000 70
if [ -n "$attaches" ]; then
	attached "$prog" holds
	is 'what it had open' "$(cat "$dir/said")" 'pipe ends name is free'
	grep -q 'by perf events' "$dir/err" || fail "attached: $(cat "$dir/err")"
fi

# Who is to be notified by a message queue is forgotten when the process closes a descriptor of it, in whatever table.
name=ktr-profile-host-$$
mkfifo "$dir/line"
"$ktr" profile -s "$name" -o "$dir/q" "$prog" queue <"$dir/line" >"$dir/said" 2>"$dir/err" &
host=$!
exec 9>"$dir/line"
await '[ "$("$ktr" sysctl -n -s "$name" debug.ktr.profile.used 2>/dev/null)" = 1 ]' || fail 'a queue: no perf events'
await '"$ktr" probe disable -s "$name" "profile:::" >"$dir/log" 2>&1' || fail "a queue: $(cat "$dir/log")"
await '[ "$("$ktr" sysctl -n -s "$name" debug.ktr.profile.used)" = 0 ]' || fail 'a queue: the probe stays on'
echo >&9
await 'grep -q open "$dir/said"'
if grep -q 'is not' "$dir/said"; then
	skip 'message queues'
else
	"$ktr" probe enable -s "$name" 'profile:::profile-99' >"$dir/log" 2>&1 || fail "a queue: $(cat "$dir/log")"
	is 'a queue: timers' "$("$ktr" sysctl -n -s "$name" debug.ktr.profile.used)" 2
	echo >&9
	await 'grep -q notified "$dir/said"'
	is 'a queue' "$(grep notified "$dir/said")" 'notified 1'
fi
exec 9>&-
wait $host || fail "a queue: $?"
host=
# To attach would be such a table, too: it is refused, and said.
if [ -n "$attaches" ] && grep -q 'is open' "$dir/said"; then
	"$prog" queue <"$dir/line" >"$dir/said" &
	host=$!
	exec 9>"$dir/line"
	echo >&9
	await 'grep -q open "$dir/said"'
	status 1 "$ktr" profile -p $host -d 100ms -o "$dir/q2"
	grep -q 'a message queue is to notify it (mq_notify(3)), which would end: .*: -f attaches all the same' "$dir/err" ||
		fail "attached, a queue: $(cat "$dir/err")"
	echo >&9
	exec 9>&-
	wait $host || fail "attached, a queue: $?"
	host=
	is 'attached, a queue' "$(grep notified "$dir/said")" 'notified 1'
fi

# ---- no event for some ----

for how in 0 3 steady once; do
	rm -rf "$dir/t"
	LD_PRELOAD=$dir/shim.so PERF_SHIM=$how timeout 300 "$ktr" profile -o "$dir/t" "$prog" many 4 2500 \
		>"$dir/out" 2>"$dir/err" || fail "refused, $how: $? $(cat "$dir/err")"
	agree t "refused, $how" 8000000 70
	[ $how = once ] || told "refused, $how" 'some threads can have no perf event (Too many open files), and have timers'
done

# For none of very many, of which many are told so at once: what each has run until it has its timer is its, too.
rm -rf "$dir/t"
LD_PRELOAD=$dir/shim.so PERF_SHIM=crowd timeout 300 "$ktr" profile -o "$dir/t" "$prog" many 200 10 >"$dir/out" 2>"$dir/err" ||
	fail "refused, a crowd: $? $(cat "$dir/err")"
agree t 'refused, a crowd' 8000000 0
# None yet, before they end: their time is told; also of one that is found before it has told of itself.
for how in late found; do
	rm -rf "$dir/t"
	LD_PRELOAD=$dir/shim.so PERF_SHIM=$how timeout 300 "$ktr" profile -o "$dir/t" "$prog" another >"$dir/out" 2>"$dir/err" ||
		fail "an event comes too late, $how: $? $(cat "$dir/err")"
	agree t "an event comes too late, $how" 8000000 0
	is "an event comes too late, $how: timers" "$(grep timers "$dir/out")" 'timers 0'
done

# It comes when the thread has told of its end, and is there yet: what it has run is told once.
rm -rf "$dir/t"
LD_PRELOAD=$dir/shim.so PERF_SHIM=end timeout 300 "$ktr" profile -o "$dir/t" "$prog" lingers >"$dir/out" 2>"$dir/err" ||
	fail "an event comes after the end: $? $(cat "$dir/err")"
agree t 'an event comes after the end' 8000000 0

# What a thread has run before it has its event is told first, as not seen.
rm -rf "$dir/t"
LD_PRELOAD=$dir/shim.so PERF_SHIM=slow timeout 300 "$ktr" profile -o "$dir/t" "$prog" many 4 60 >"$dir/out" 2>"$dir/err" ||
	fail "events come slowly: $? $(cat "$dir/err")"
agree t 'events come slowly' 8000000 30
"$ktr" export speedscope -o "$dir/speedscope" "$dir/t" 2>"$dir/err" || fail "events come slowly: $(cat "$dir/err")"
python3 - "$dir/out" "$dir/speedscope" >"$dir/log" 2>&1 <<-'END2' || fail "events come slowly: $(tail -n 1 "$dir/log")"
	import json, sys
	said = {line.split()[0] for line in open(sys.argv[1]) if line.split()[0].isdigit()}
	trace = json.load(open(sys.argv[2]))
	names = [frame["name"] for frame in trace["shared"]["frames"]]
	threads = [t for t in trace["profiles"] if t["name"].rsplit(" ", 1)[1] in said]
	assert len(threads) == 4, len(threads)
	for t in threads:
	    first = [names[i] for i in t["samples"][0]]
	    assert "[not seen]" in first and t["weights"][0] > 15e6, (first, t["weights"][:3])
END2

# A user other than root: little memory, and less is told.
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
	{ skip 'another user: not root, or no setpriv'; exit $failed; }
profile t "$prog" drops || fail "drops: $? $(cat "$dir/err")"
agree t 'it gives up being root' 8000000 70
is 'it gives up being root: timers' "$(grep timers "$dir/out")" 'timers 0'
chmod 755 "$dir"
mkdir "$dir/nobody"
chmod 777 "$dir/nobody"
as_nobody() { # TRACE PROGRAM...
	rm -rf "$dir/nobody/$1" "$dir/$1"
	trace=$dir/nobody/$1 copy=$dir/$1
	shift
	(ulimit -l 0 && KTR_DIR='' exec setpriv --reuid=65534 --regid=65534 --clear-groups timeout 300 "$ktr" profile -F 997 \
		-o "$trace" "$@") >"$dir/out" 2>"$dir/err" || fail "another user: $* $? $(cat "$dir/err")"
	cp -r "$trace" "$copy"
}
if (cd "$dir/nobody" && KTR_DIR='' setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$prog"); then
	as_nobody n "$prog" many 16 100
	agree n 'rings of one sample' 8000000 30
	as_nobody n "$prog" many 200 10
	agree n '200 threads' 8000000 0
	as_nobody n "$prog" later 40 2500
	agree n 'room for events comes later' 8000000 50
else
	skip 'another user cannot come here'
fi
exit $failed
