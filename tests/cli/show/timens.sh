#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Times of a program in another time namespace are the same for all who look, inside and outside, and nobody claims that
# a clock was set.
. "$(dirname "$0")/../lib.inc"

unshare -T --monotonic 100000 --boottime 200000 --fork true 2>"$dir/err" || {
	skip "no time namespace: $(head -n 1 "$dir/err")"
	exit 0
}
cat >"$dir/ticks.c" <<'END'
#include <ktr.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	KTR_STATE0(KTR_GEN, "life", argc > 1 ? argv[1] : "program", "running");
	for (int i = 0; access("stop", F_OK) != 0 && i < 30000; i++) {
		CTR1(KTR_GEN, "tick %d", i);
		usleep(10000);
	}
	_exit(0);
}
END
# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -Iinclude "$dir/ticks.c" "$O/lib/libktr.a" -lpthread -o "$dir/ticks" || exit 1
cd "$dir" || exit 1
at_exit() { touch "$dir/stop"; }

# near WHAT TIME-OF-DAY...: not further than a minute from now
near() {
	what=$1
	shift
	python3 - "$@" >"$dir/out" 2>&1 <<'END' || fail "$what: $(cat "$dir/out")"
import datetime, sys
now = datetime.datetime.utcnow()
for text in sys.argv[1:]:
    then = datetime.datetime.strptime(text[:19], '%Y-%m-%dT%H:%M:%S')
    if abs((now - then).total_seconds()) > 60:
        sys.exit('%s, now %s' % (text, now))
sys.exit(0 if len(sys.argv) > 1 else 'no times')
END
}
days() { timeout 300 "$ktr" dump -q --time utc -t "$@" 2>"$dir/err" | tail -n 3 | cut -d' ' -f1; }
# quiet WHAT: nothing was said of clocks
quiet() {
	grep -i clock "$dir/err" && fail "$1: $(cat "$dir/err")"
}
# Of the machine's own clock, and of the one that is another in each namespace.
for offset in 100000 -3000 monotonic; do
	rm -rf stop t
	unset KTR_CLOCK_SOURCE
	[ $offset != monotonic ] || { export KTR_CLOCK_SOURCE=monotonic; offset=100000; }
	"$ktr" rm --dead >"$dir/out" 2>&1
	unshare -T --monotonic $offset --boottime 200000 --fork env KTR_SESSION=ns KTR_MASK=all "$dir/ticks" &
	outer=$!
	await '"$ktr" dump -q -s ns 2>/dev/null | grep -q "tick 9"'
	# shellcheck disable=SC2046 # several words
	near "$offset: its rings, from outside" $(days -s ns)
	quiet "$offset: its rings, from outside"
	timeout 300 "$ktr" record -s ns -o t >"$dir/record" 2>&1 &
	record=$!
	await '"$ktr" dump -q t 2>/dev/null | grep -q "tick 9"'
	touch stop
	wait $record || fail "$offset: ktr record: $? $(cat "$dir/record")"
	wait $outer
	# shellcheck disable=SC2046
	near "$offset: the trace made outside" $(days t)
	quiet "$offset: the trace made outside"
	status 0 "$ktr" report t
	quiet "$offset: the report"
	# The process called _exit: its end is found out outside, and is one of its own time.
	status 0 "$ktr" sql --csv t "select (max(exited) - (select max(time) from events)) / 1e9 from threads"
	python3 -c 'import sys; t = float(sys.argv[1]); sys.exit(not -1 < t < 60)' "$(sed -n 2p "$dir/out")" ||
		fail "$offset: ended $(sed -n 2p "$dir/out") s behind the last event"
done

# Processes of one session in several namespaces: what one of them outside writes.
rm -f stop
KTR_SESSION=both KTR_FILE=u KTR_MASK=all "$dir/ticks" outside &
outer=$!
await '"$ktr" dump -q -s both 2>/dev/null | grep -q "tick 9"'
unshare -T --monotonic 100000 --boottime 200000 --fork env KTR_SESSION=both KTR_MASK=all "$dir/ticks" inside &
inner=$!
await '"$ktr" dump -q -s both 2>/dev/null | grep -q inside'
touch stop
wait $inner
wait $outer
status 0 "$ktr" salvage u
status 0 "$ktr" sql --csv u "select max(abs(started - (select min(time) from events))) / 1e9 from threads"
python3 -c 'import sys; t = float(sys.argv[1]); sys.exit(not t < 60)' "$(sed -n 2p "$dir/out")" ||
	fail "a process of another namespace began $(sed -n 2p "$dir/out") s away"
exit $failed
