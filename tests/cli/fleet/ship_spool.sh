#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What rotation removes while a server does not answer is kept by ktr ship --follow, and shipped when it does; up to so many
# bytes, and nothing is left of it in the end. The server is one that only takes what comes, and is stopped for a while.
. "$(dirname "$0")/../lib.inc"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
fake= shipper= program=
at_exit() {
	for pid in $fake $shipper $program; do
		kill -CONT "$pid" 2>/dev/null
		kill -9 "$pid" 2>/dev/null
	done
}
cat >"$dir/host.c" <<'C'
#define _GNU_SOURCE
#include <ktr.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static int other;
/* Goes on on another processor. */
static void move(int signal)
{
	cpu_set_t one;

	(void)signal;
	CPU_ZERO(&one);
	CPU_SET(other, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
int main(int argc, char **argv)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	int i = 0, n;

	other = argc > 1 ? atoi(argv[1]) : 0;
	signal(SIGUSR1, move);
	while ((n = poll(&in, 1, 5)) == 0 || (n < 0 && errno == EINTR))
		for (int end = i + 50; i < end; i++)
			CTR2(KTR_GEN, "%d %s", i, "some text that takes its room in a trace, which is to be rotated");
	printf("%d\n", i);
	return 0;
}
C
$cc -std=gnu11 -O2 -Iinclude "$dir/host.c" -o "$dir/host" "$O/lib/libktr.a" -lpthread || exit 1
"$ktr" ship --to http://127.0.0.1:1 --patience 0 x 2>&1 | grep -q 'built without libcurl\|libcurl is needed' && { skip "no libcurl"; exit $failed; }
cd "$dir" || exit 1
mkdir bodies
python3 "$top/tests/fleet/fake.py" sink bodies >port &
fake=$!
await '[ -s port ]'
to=http://127.0.0.1:$(cat port)
mkfifo in
# The first processor that we may use, and the last.
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
other=$(taskset -cp $$ | sed 's/.*[^0-9]//')

keep=4 moves=
# away FOLDER OPTION...: a program is traced into FOLDER/live, of which rotation keeps $keep pieces, while what follows
# FOLDER waits for an answer; it moves to the other processor meanwhile, if $moves
away() {
	folder=$1
	shift
	mkdir "$folder"
	KTR_MASK=gen KTR_FILE=$folder/live KTR_ROTATE_SIZE=64K KTR_ROTATE_KEEP=$keep taskset -c "$cpu" ./host "$other" <in >n 2>host.err &
	program=$!
	exec 7>in
	await "[ -e $folder/live/ktr/info.jsonl ]"
	"$ktr" ship --to "$to" --state "state.$folder" --host web01 --follow --every 1s "$@" "$folder" 2>log 7>&- &
	shipper=$!
	await "[ -n \"\$(ls bodies)\" ]"
	kill -STOP $fake
	last=$(find "$folder" -maxdepth 1 -name 'live.*' | sed 's/.*\.//' | sort -n | tail -n 1)
	if [ -n "$moves" ]; then
		await "[ -e $folder/live.$((${last:-0} + 5)) ]"
		kill -USR1 $program
	fi
	await "[ -e $folder/live.$((${last:-0} + 16 + keep)) ]"
}
# back: the server answers, and the program ends; $events that were shipped, and $gone that were not, as it says
back() {
	kill -CONT $fake
	exec 7>&-
	wait $program || fail "the program failed: $(cat host.err)"
	program=
	await 'grep -q "live: [0-9]* events and" log'
	kill $shipper
	wait $shipper || fail "SIGTERM: $?"
	shipper=
	events=$(sed -n 's/.*live: \([0-9]*\) events and.*/\1/p' log)
	gone=$(sed -n 's/.*live: \([0-9]*\) events were removed by rotation.*/\1/p' log)
	lost=$(sed -n "s/.*MB; \([0-9]*\) lost/\1/p" log)
	rm -f bodies/*
}
kept() { find "$1/.ktr-ship" -mindepth 2 -maxdepth 2 -name '[1-9]*-*' 2>/dev/null | wc -l; }

# Where nothing may be gone a busy machine is to have the time to link what there is.
keep=16
away all
keep=4
[ "$(kept all)" -ge 15 ] || fail "$(kept all) pieces are kept"
[ ! -e "all/live.$((${last:-0} + 10))" ] || fail "nothing was removed"
back
is "events" "$events" "$(cat n)"
is "what is gone" "$gone" ""
is "what is kept in the end" "$(find all -name .ktr-ship)" ""

away some --spool 300000
await '[ "$(kept some)" -lt 12 ]'
back
[ "${gone:-0}" -gt 0 ] || fail "nothing is gone: $(cat log)"
is "events, and what is gone" "$((events + gone + lost))" "$(cat n)"
is "what is kept in the end" "$(find some -name .ktr-ship)" ""

away none --spool 0
is "nothing is kept" "$(find none -name .ktr-ship)" ""
back
is "events, and what is gone" "$((events + ${gone:-0} + lost))" "$(cat n)"

# The stream of one processor ends in pieces that are gone; what it lacks is told, and once.
if [ "$cpu" = "$other" ]; then
	skip "one processor alone: no stream is left behind"
else
	moves=1
	away behind --spool 0
	# Who waits for what the silent stream still has would wait in vain.
	kill -CONT $fake
	n=$(ls bodies | wc -l)
	await '[ "$(ls bodies | wc -l)" -ge $((n + 12)) ]'
	back
	[ "${gone:-0}" -gt 0 ] || fail "nothing is gone: $(cat log)"
	is "events, and what is gone" "$((events + ${gone:-0} + lost))" "$(cat n)"
	"$ktr" ship --to "$to" --state state.behind --host web01 behind 2>log || fail "again: $(cat log)"
	grep -q 'removed by rotation' log && fail "it is said again: $(cat log)"
	rm -f bodies/*
	moves=
fi

# Kept by one that was killed, and shipped by another.
keep=16
away left
kill -9 $shipper
wait $shipper 2>/dev/null
shipper=
kill -CONT $fake
exec 7>&-
wait $program
program=
"$ktr" ship --to "$to" --state state.left --host web01 left 2>log || fail "another: $(cat log)"
grep -q 'removed by rotation' log && fail "what was kept is gone: $(cat log)"
is "what is kept in the end" "$(find left -name .ktr-ship)" ""
exit $failed
