#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Two programs at the same time, and one name for their traces: the second one is refused before it runs, unless it is
# of the same session. And what ktr heap and ktr lockstat could not run: the trace of another run is not shown for it.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build live tests/programs/session/live.c
live=$out/live
export KTR_CONF=
cd "$work" || exit 1
at_exit() {
	exec 3>&- # what waits for the end of its input
}

mkfifo in said
"$ktr" run -m gen -s first "$live" wait <in >said 2>first.err &
exec 3>in
read -r _ <said
until [ -e ktr.out ] || ! kill -0 $!; do sleep 0.01; done

taken='another program is being recorded into this trace: -o names another one'
for command in run profile 'heap --' 'lockstat --'; do
	# shellcheck disable=SC2086 # its words
	status 1 "$ktr" $command sh -c 'touch ran'
	is "ktr $command says" "$(sed 's/^ktr [a-z]*: //' err)" "ktr.out: $taken"
	[ ! -e ran ] || fail "ktr $command: it ran"
	[ ! -s out ] || fail "ktr $command: $(cat out)"
done
status 0 "$ktr" run -m gen -s first "$live"
status 0 "$ktr" run -m gen -o other "$live"
exec 3>&-
wait $! || fail "the first: exit status $?: $(cat first.err)"
is 'events of both' "$("$ktr" dump -q ktr.out | grep -c 'live [0-9]*$')" 200
is 'traces' "$(ls -d ktr.out*)" ktr.out
status 0 "$ktr" run -m gen "$live"

# What is refused, or not there, shows nothing.
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit $failed; }
status 0 "$ktr" heap -- "$live"
printf 'int main(void) { return 0; }\n' >still.c
$cc -static still.c -o still || { skip 'no static program'; exit $failed; }
for command in heap lockstat; do
	for program in ./still ./nothing; do
		status 1 "$ktr" $command -- $program
		[ ! -s out ] || fail "ktr $command -- $program: $(cat out)"
		is "ktr $command -- $program: lines" "$(wc -l <err)" 1
	done
done
exit $failed
