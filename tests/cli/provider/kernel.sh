#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the kernel tells of the threads: counts are those of getrusage(2) and /proc, times those of the clocks, on both paths
# and without privileges; from outside too; nothing is open while the class is off; where it is refused, one line
# says so and the rest works.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build kernel_host tests/programs/provider/kernel_host.c
host=$out/kernel_host
export KTR_CONF=
cd "$dir" || exit 1

# Compares a trace with what the program said. Each line: what, and the two numbers.
compare() { # TRACE SAID
	# Faults may be told of user mode alone; those of the kernel for the thread are few.
	"$ktr" dump --raw "$1" 2>/dev/null >"$1.txt"
	awk -v said="$2" '
	function off(what, ours, theirs, few) {
		if (ours < theirs - few || ours > theirs + few) {
			print what " of " tid ": " ours " in the trace, " theirs " in fact"
			bad = 1
		}
	}
	BEGIN {
		while ((getline line <said) > 0) {
			split(line, f, " ")
			theirs[f[1]] = line
		}
	}
	{
		parts = split($3, who, "/")
		tid = who[parts]
		now = $1 * 1e9
	}
	$4 == "gen" && $6 == "begin" { begun[tid] = now; since[tid] = now; open[tid] = 1; state[tid] = "running" }
	open[tid] && $4 == "kswitch" {
		split($0, part, "state:\"")
		new = substr(part[2], 1, index(part[2], "\"") - 1)
		spent[tid, state[tid]] += now - since[tid]
		since[tid] = now
		state[tid] = new
		count[tid, new]++
	}
	open[tid] && $4 == "kfault" { faults[tid]++ }
	$4 == "gen" && open[tid] && state[tid] != "running" { print "an event of " tid " while it was " state[tid]; wrong++ }
	$4 == "gen" && $6 == "end" { spent[tid, state[tid]] += now - since[tid]; wall[tid] = now - begun[tid]; open[tid] = 0 }
	END {
		if (wrong > 1)
			bad = 1
		for (tid in theirs) {
			split(theirs[tid], f, " ")
			n++
			off("voluntary switches", count[tid, "off"], f[2], 2)
			off("involuntary switches", count[tid, "ready"], f[3], 2)
			off("page faults", faults[tid], f[4], 4)
			off("wall time", wall[tid], f[5], f[5] / 100)
			sum = spent[tid, "running"] + spent[tid, "ready"] + spent[tid, "off"]
			off("time on and off the CPU", sum, f[5], f[5] / 100)
			# Where a hypervisor takes the CPU away meanwhile, only the trace counts that.
			off("time on the CPU", spent[tid, "running"], f[6], f[6] + 2e7)
			# What /proc says, where it does.
			if (f[7] >= 0) {
				off("voluntary switches of status", count[tid, "off"], f[7], 2)
				off("involuntary switches of status", count[tid, "ready"], f[8], 2)
			}
			# There too a CPU that is taken away by a hypervisor or an interrupt is not counted, and waiting
			# begins when a thread is woken, which is not seen here.
			if (f[11] > 0) {
				off("times on the CPU of schedstat", count[tid, "running"], f[11], 2)
				if (spent[tid, "running"] < f[9] - f[5] / 100)
					off("time on the CPU of schedstat", spent[tid, "running"], f[9], f[5] / 100)
				if (spent[tid, "ready"] > f[10] + f[5] / 100)
					off("time waiting of schedstat", spent[tid, "ready"], f[10], f[5] / 100)
			}
		}
		if (n != 3) {
			print n + 0 " threads"
			bad = 1
		}
		exit bad
	}' "$1.txt"
}

# The program tells its clocks a moment before or after the events: what comes in between makes a difference, but
# not each time.
busy() { # NAME COMMAND...
	name=$1
	shift
	for try in $(seq 20); do
		rm -rf "$name"
		timeout 300 "$@" "$ktr" run -k -o "$name" "$host" busy >"$name.said" 2>"$name.err" ||
			fail "$name: $(cat "$name.err")"
		compare "$name" "$name.said" >"$name.differs" && return
	done
	fail "$name: $(cat "$name.differs")"
}

if timeout 300 "$host" refused; then
	echo "skipped: the kernel refuses perf_event_open ($(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null))"
	exit 0
fi
for path in $paths; do
	on_path "$path" busy "$path"
done
awk '$7 < 0 { print "skipped: /proc/PID/task/TID/status tells of no switches"; exit }' ./*.said
awk '$11 <= 0 { print "skipped: /proc/PID/task/TID/schedstat tells nothing"; exit }' ./*.said

# Who had the CPU while a span lasted: its parts are the whole, and the other threads are among them.
if [ -e /usr/include/sqlite3.h ]; then
	# shellcheck disable=SC2086 # several words
	$cc -std=gnu11 -O1 -D_GNU_SOURCE -I"$top/include" "$top/tests/programs/provider/one_cpu.c" "$O/lib/libktr.a" -lpthread \
		-o one_cpu || exit 1
	timeout 300 "$ktr" run -k -m all -o shared ./one_cpu >said 2>&1 || fail "one CPU: $(cat said)"
	"$ktr" sql shared --json 'SELECT * FROM who_ran' >who.json || fail "who_ran"
	python3 - <<'END' >said 2>&1 || fail "who_ran: $(tail -n 3 said)"
import collections, json
rows = [json.loads(line) for line in open('who.json')]
spans = collections.defaultdict(dict)
for row in rows:
    spans[row['dur'], row['tid'], row['time']][row['who']] = row['who_dur']
assert len(spans) == 20, len(spans)
tids = {tid for _, tid, _ in spans}
others = 0
for (dur, tid, _), who in spans.items():
    assert sum(who.values()) == dur and min(who.values()) > 0, (dur, who)
    names = {name.rpartition('/')[2] for name in who if name[0] != '('}
    assert str(tid) not in names and '(itself)' in who, (tid, who)
    others += bool(names & {str(t) for t in tids})
assert others >= 10, spans
END
fi

# Without privileges.
if [ "$(id -u)" != 0 ]; then
	:
elif [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	echo "skipped: unprivileged users may not, kernel.perf_event_paranoid is above 2"
elif ! command -v setpriv >/dev/null; then
	echo "skipped: no setpriv to become somebody else"
else
	mkdir nobody "$KTR_DIR/nobody"
	chown 65534:65534 nobody "$KTR_DIR/nobody"
	chmod 755 "$dir" "$KTR_DIR"
	cp "$host" "$ktr" nobody/
	(
		cd nobody || exit 1
		host=./kernel_host ktr=./ktr
		KTR_DIR=$KTR_DIR/nobody
		for try in $(seq 20); do
			rm -rf trace
			timeout 300 setpriv --reuid 65534 --regid 65534 --clear-groups "$ktr" run -k -o trace \
				"$host" busy >said 2>err || fail "unprivileged: $(cat err)"
			chmod 755 trace
			compare trace said >differs && exit $failed
		done
		fail "unprivileged: $(cat differs)"
		exit $failed
	) || failed=1
fi

# The report adds up, the timeline shows it.
timeout 120 "$ktr" report --json rseq 2>/dev/null >report.json || cp /dev/null report.json
[ -d rseq ] && {
	python3 - report.json rseq.said <<-'END' || fail 'report: see above'
		import json, sys
		report = json.load(open(sys.argv[1]))
		said = {int(l.split()[0]): l.split() for l in open(sys.argv[2])}
		bad = 0
		for t in report['time_of_threads']:
		    if t['tid'] in said and (t['unknown_ns'] or t['switches'] < int(said[t['tid']][1])):
		        print(t, said[t['tid']])
		        bad = 1
		longest = report['absences']
		if not longest or any(a['ns'] < b['ns'] for a, b in zip(longest, longest[1:])):
		    print('absences are not there, or not in order')
		    bad = 1
		if not any(a['last'] and 'kernel_host.c' in a['last']['text'] for a in longest):
		    print('no absence has an event before it')
		    bad = 1
		sys.exit(bad)
	END
	timeout 120 "$ktr" report rseq 2>/dev/null | grep -q '^longest absences' || fail 'no absences in the report'
	timeout 120 "$ktr" timeline rseq 2>/dev/null | grep -q 'running' || fail 'the timeline does not show who runs'
}

# Threads that live shortly and record nothing are in it, each with its end.
timeout 120 "$ktr" run -k -o short "$host" short 50 2>err || fail "short: $(cat err)"
n=$("$ktr" dump --raw short 2>/dev/null | grep -c 'state:"finished"')
[ "$n" -eq 50 ] || fail "$n of 50 short threads ended"

# Its probes at start are the knob and the class.
echo 'debug.ktr.probes="vminfo:, nobody::x"' >probes.conf
for how in 'KTR_PROBES=sched:' "KTR_CONF=$dir/probes.conf" 'KTR_PROBES=*:kernel'; do
	rm -rf probes
	env "$how" KTR_FILE=probes timeout 120 "$host" short 5 >said 2>err || fail "$how: $(cat err)"
	"$ktr" dump --raw probes 2>/dev/null | awk '{ n[$4]++ } END { print (n["kswitch"] > 0), (n["kfault"] > 0), (n["gen"] > 0) }' >told
	case $how in
	*sched*) want='1 0 0/' ;;
	*conf) want='0 1 0/ktr: debug.ktr.probes: no probe fits nobody::x' ;;
	*) want='1 1 0/' ;;
	esac
	[ "$(cat told)/$(cat err)" = "$want" ] || fail "$how: $(cat told err)"
done

# Refused: one line, and all else is as ever.
# What refuses has libktr, too, and becomes ktr run: untraced, or its session has the name of that one's.
KTR_DISABLE=1 timeout 120 "$host" refuse "$ktr" run -k -o refused "$host" short 1 2>err
case $? in
77) echo 'skipped: no seccomp' ;;
0)
	[ "$(grep -c 'no events of the kernel' err)" -eq 1 ] && [ "$(wc -l <err)" -eq 2 ] || fail "refused: $(cat err)"
	[ "$("$ktr" dump refused 2>/dev/null | grep -c 'done$')" -eq 1 ] || fail 'refused: the program was not traced'
	;;
*) fail "refused: $(cat err)" ;;
esac

# From outside, and nothing is open before, behind, and while the class is off.
perf_fds() {
	ls -l /proc/"$1"/task/*/fd 2>/dev/null | grep -c perf_event
}
mkfifo in
KTR_MASK=gen KTR_SESSION=outside "$host" wait <in >pid &
exec 3>in
await '[ -s pid ]'
# In the time that is asked for a busy machine may not come to any.
await 'rm -rf outside; timeout 120 "$ktr" record -k -t 300ms -o outside -s outside 2>err || fail "record -k: $(cat err)"
	"$ktr" dump --raw outside 2>/dev/null | grep -q "kswitch .*state:.running"'
[ "$("$ktr" sysctl -n -s outside mask)/$("$ktr" sysctl -n -s outside kernel)" = gen/none ] || fail 'record -k: left something on'
timeout 120 "$ktr" sysctl -s outside kernel=switch >/dev/null 2>err && fail 'a program without writer takes kernel=switch'
grep -q 'ktr record -k' err || fail "what to do about it: $(cat err)"
exec 3>&-
wait
rm -f pid
KTR_MASK=gen,kswitch,kfault KTR_KERNEL=all KTR_SESSION=inside "$host" wait <in >pid &
exec 3>in
await '[ -s pid ]'
pid=$(cat pid)
await '[ "$(perf_fds "$pid")" -gt 0 ]'
await '"$ktr" dump -s inside 2>/dev/null | grep -q kswitch'
"$ktr" sysctl -s inside mask=gen >/dev/null
await '[ "$(perf_fds "$pid")" = 0 ]' || fail 'descriptors are open while the classes are off'
"$ktr" sysctl -s inside mask=gen,kswitch >/dev/null
await '[ "$(perf_fds "$pid")" -gt 0 ]' || fail 'the class was switched on again, to no effect'
exec 3>&-
wait
exit $failed
