#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A running program of eight threads is switched from outside: a class on, off, on; the size of its rings; it
# gets no thread for that. A rare class in the keep rings outlives a busy one: RARE events of it (5,000,000;
# make check-long: 100,000,000).
. "$(dirname "$0")/knobs.inc"
${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -I"$here/include" "$here/tests/programs/control/live_host.c" -o live \
	"$O/lib/libktr.a" -lpthread || exit 1

# ---- A rare class among a busy one ----
rare=${RARE:-5000000}
KTR_MASK=gen,init KTR_SESSION=rare KTR_KEEP_SESSION=1 ./live "$rare" || fail "live $rare"
$ktr dump -q -s rare >rare
is "rare events" "$(grep -c ' rare [0-9]*$' rare)" 1000
is "their order and number" "$(awk '/ rare [0-9]+$/ { print $NF }' rare | cksum)" \
	"$(seq 0 $((rare / 1000)) $((rare - 1)) | head -n 1000 | cksum)"
is "all events" "$($ktr sysctl -n -s rare recorded)" $((rare + 1000))
grep -q "busy $((rare - 1))\$" rare || fail "the last busy event is missing"
$ktr rm rare >/dev/null

# ---- On, off, on ----
mkfifo in out
./live <in >out 2>err &
host=$!
exec 3>in 4<out
rm in out
read -r answer <&4
tasks() { ls "/proc/$host/task" | wc -l; }

# events: how many there are in the rings of each of the eight threads, at least
least() {
	$ktr dump -q -p "$host" 2>/dev/null | sed -n 's/.* thread \([0-7]\) does .*/\1/p' | sort | uniq -c |
		awk '{ n++; if (!least || $1 < least) least = $1 } END { print n == 8 ? least : 0 }'
}

# each N: until each thread has recorded N events
each() {
	wanted=$1
	await '[ "$(least)" -ge "$wanted" ]'
}

is "tasks" "$(tasks)" 9
is "events before" "$(value recorded)" 0
sysctl mask=rx >/dev/null
each 20
is "tasks, on" "$(tasks)" 9
sysctl mask=none >/dev/null
first=$(value recorded)
for _ in $(seq 20); do value recorded >/dev/null; done
# An event that had passed the gate is finished: one of each thread at most.
[ $(($(value recorded) - first)) -le 8 ] || fail "events are recorded while the class is off"
off=$(value recorded)
is "tasks, off" "$(tasks)" 9
sysctl mask=+rx >/dev/null
await '[ "$(value recorded)" -gt $((off + 100)) ]'
each 40
sysctl mask=none >/dev/null
for _ in $(seq 20); do value recorded >/dev/null; done
# The trace has both stretches whole, and nothing between: each thread's numbers jump once.
$ktr snapshot -p "$host" -o stretches >/dev/null 2>&1 || fail "no snapshot"
is "jumps of each thread" "$($ktr dump -q stretches | awk '/ does [0-9]+$/ {
	t = $(NF - 2); if (t in last && $NF != last[t] + 1) n[t]++; last[t] = $NF }
	END { for (t in last) print n[t] }' | sort | uniq -c | tr -s ' ')" ' 8 1'

# ---- Other sizes keep what fits ----
before=$($ktr dump -q -p "$host" | grep -c does)
all=$(value recorded)
sysctl entries=128K >/dev/null || fail "larger rings are refused"
is "events in larger rings" "$($ktr dump -q -p "$host" | grep -c does)" "$before"
sysctl entries=256 >/dev/null || fail "smaller rings are refused"
is "events altogether" "$(value recorded)" "$all"
kept=$($ktr dump -q -p "$host" | grep -c does)
lost=$(sysctl cpu | awk '/\.lost: / { n += $2 } END { print n + 0 }')
is "events kept and lost" $((kept + lost)) "$all"
[ "$kept" -ge 150 ] || fail "only $kept events were kept"
# Where the CPU of a ring may not be entered: EBUSY, and all stays as it was.
cat >pin.c <<'END'
#include <errno.h>
int sched_setaffinity(int pid, unsigned long size, const void *set);
int sched_setaffinity(int pid, unsigned long size, const void *set)
{
	(void)pid, (void)size, (void)set;
	errno = EINVAL; /* as the kernel says where a cpuset leaves the CPU out */
	return -1;
}
END
if ${CC:-cc} -shared -fPIC pin.c -o pin.so; then
	out=$(LD_PRELOAD=./pin.so $ktr sysctl -p "$host" entries=4096 2>&1) && fail "a CPU that may not be entered"
	has "a CPU that may not be entered" "$out" 'all rings keep their size: Device or resource busy'
	is "events after that" "$($ktr dump -q -p "$host" | grep -c does)" "$kept"
fi
# CPUs left out and sizes changed by two at a time, while all record; in the end all CPUs record again.
sysctl mask=rx >/dev/null
controllers=
for i in 1 2; do
	for n in $(seq 15); do
		sysctl cpumask=$((n % 2)) entries=$((256 << (n % 5))) >/dev/null
		sysctl cpumask=all entries=$((512 << (n % 3))) >/dev/null
	done &
	controllers="$controllers $!"
done
# shellcheck disable=SC2086
wait $controllers
sysctl cpumask=all >/dev/null || sysctl cpumask=all >/dev/null || fail "cpumask=all is refused"
for cpu in $(seq 0 $(($(getconf _NPROCESSORS_ONLN) - 1))); do
	taskset -pac "$cpu" "$host" >/dev/null 2>&1 || continue
	was=$(value "cpu.$cpu.recorded")
	await '[ "$(value "cpu.$cpu.recorded")" -gt "$was" ]' || fail "CPU $cpu does not record any more"
done
exec 3>&-
wait "$host" || fail "the program"
host=
is "complaints" "$(cat err)" ""

# ---- Whatever a knob prints, it reads back: random values of every kind, in a real tree. ----
start KTR_MASK=all
is "random settings" "$(tell random 1 3000)" ok
stop
exit $failed
