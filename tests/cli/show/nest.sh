#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Scopes lie in each other on their thread's track: in the terminal at 80 and 120 columns, and in pictures, whose boxes and
# names are compared with the calls that the program makes. What is deeper than there are levels is cut, and said.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude tests/programs/show/nest.c -o "$dir/nest" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$dir" || exit 1
LC_ALL=C.UTF-8
export LC_ALL
record() { # TRACE ARGUMENT...
	trace=$1
	shift
	KTR_CLOCK_SOURCE=monotonic "$ktr" run -m all -e 16384 -o "$trace" ./nest "$@" >log 2>&1 || fail "run $*: $(cat log)"
}
record known known
record deep31 deep 31
record deep70 deep 70
for trace in known deep31 deep70; do
	for width in 80 120; do
		status 0 "$ktr" timeline --width $width --color never $trace
		cp out $trace.$width
		COLORTERM=truecolor status 0 "$ktr" timeline --width $width --color always $trace
		cp out $trace.$width.rgb
	done
	"$ktr" timeline --rows threads --width 120 --color never $trace >$trace.threads || fail "$trace: rows threads"
	"$ktr" timeline --rows names --width 120 --color never $trace >$trace.names || fail "$trace: rows names"
done
# Half of it: what overlaps the edges is there from edge to edge.
"$ktr" timeline --from 400ms --to 800ms --width 120 --color never known >part.120 || fail "part"
if command -v gnuplot >/dev/null; then
	for trace in known deep31 deep70; do
		"$ktr" timeline -o $trace.svg --size 1200x1400 $trace || fail "$trace: SVG"
	done
	"$ktr" timeline --from 400ms --to 800ms -o part.svg known || fail "part: SVG"
	"$ktr" timeline -o low.svg --size 1200x500 deep31 || fail "low: SVG"
fi
"$ktr" report --functions known | grep -q '^  read_all  *2  *300 ms  *400 ms  *200 ms  *200 ms  *-  *200 ms' || fail "median by function"
python3 "$top/tests/cli/show/nest.py" >log 2>&1 || fail "$(cat log)"
command -v gnuplot >/dev/null || skip "gnuplot is not installed"
exit $failed
