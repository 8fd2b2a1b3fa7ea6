#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A span that takes too long stops the rings, without a word in the program: ktr run --trigger, with and without
# --after, and ktr record --trigger of a program that runs. What they hold then is that span, and what was around it.
. "$(dirname "$0")/../lib.inc"

says() {
	grep -qE -e "$1" "$dir/err" || fail "no \"$1\" in: $(cat "$dir/err")"
}

$cc -std=gnu11 -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude tests/programs/control/long.c -o "$dir/long" \
	"$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1

# long_ones WHAT ARGUMENT...: the three events of each span that took long, of which there is one at least, and no others.
# On a busy machine there may be more than the one that is meant to.
long_ones() {
	what=$1
	shift
	n=$("$ktr" sql "$@" --csv 'SELECT count(*) FROM spans WHERE grp = "request" AND dur > 20000000' | tail -n 1)
	status 0 "$ktr" json --events --filter 'span request > 20ms' "$@"
	is "$what" "$(wc -l <out)" $((3 * n))
	[ "$n" -gt 0 ] || fail "$what: none took long"
}

# The program waits for the rings to stop. The session stays, and has the long one; so has the trace.
for after in '' '--after 30'; do
	# shellcheck disable=SC2086 # two words, or none
	status 0 "$ktr" run -s stops -o stops.ktr $after --trigger 'span request > 20ms and class == net' -- ./long
	says '^ktr run: --trigger: request GET took [0-9.]+ m?s; the rings stopped [0-9.]+ [mu]?s after its end$'
	is "who stopped them" "$("$ktr" sysctl -n -s stops frozen_by)" asked
	long_ones "the session" -s stops
	long_ones "the trace" stops.ktr
	# After it: at least what was asked for, a third of which are these.
	n=$("$ktr" sql -s stops --csv 'SELECT count(*) FROM events WHERE format = "request %d" AND time >
		(SELECT min(until) FROM spans WHERE dur > 20000000)' | tail -n 1)
	[ -z "$after" ] || [ "$n" -ge 9 ] || fail "$after: $n requests after the long one"
	status 0 "$ktr" rm stops
done

# None that long, one that is the last thing a program does, and names that there are none of.
status 0 "$ktr" run -o none.ktr --trigger 'span request > 1000s' -- ./long quick
says '^ktr run: --trigger: it never held$'
status 0 "$ktr" run -s late -o late.ktr --trigger 'span request > 20ms' -- ./long last
says '^ktr run: --trigger: request GET took [0-9.]+ m?s; the rings stopped [0-9.]+ [mu]?s after its end$'
status 0 "$ktr" rm late
status 0 "$ktr" run -o none.ktr --trigger 'span requst > 20ms' -- ./long quick
says '^ktr run: --trigger: column 6: unknown span "requst", the nearest is "request"$'
status 2 "$ktr" run -o none.ktr --trigger 'span request >' -- ./long quick
says 'column 15'

# A program that runs.
mkfifo out.fifo
KTR_SESSION=runs KTR_MASK=net ./long >out.fifo &
pid=$!
exec 3<out.fifo
read -r _ <&3
"$ktr" sysctl -s runs debug.ktr.mask >/dev/null || fail "no session"
status 0 "$ktr" record -s runs -o runs.ktr --trigger 'span request > 20ms'
says '^ktr record: --trigger: request GET took [0-9.]+ m?s; the rings stopped'
wait $pid || fail "the program has not seen that the rings stopped: $?"
exec 3<&-
long_ones "what was recorded" runs.ktr
status 0 "$ktr" rm runs
status 2 "$ktr" record -s runs -o runs.ktr --trigger 'n > 5'
says 'span NAME'
# sysctl has nobody who would watch.
KTR_SESSION=kept KTR_KEEP_SESSION=1 KTR_MASK=net ./long quick
"$ktr" sysctl -s kept 'debug.ktr.trigger=span request > 5ms' 2>err && fail "a trigger by sysctl is taken"
says 'ktr run and ktr record'
exit $failed
