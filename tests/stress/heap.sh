#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The provider heap in a storm: THREADS threads get and give back BLOCKS blocks, sampled; and ALL of them, a hundredth as many,
# all told with their stacks, while children are forked, end and become others, and an object is loaded and unloaded. The program
# ends as it does without; samples are near what it counts itself; of those that are all told not one event is lost, for its
# threads nap, and what was got and what is in use are what the program says, to the byte. Prints on what it did how much.
#
#	BLOCKS=N THREADS=N ALL=N PACE=N tests/stress/heap.sh
. "$(dirname "$0")/../cli/lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'memory is of x86-64'; exit 0 ;; esac
blocks=${BLOCKS:-10000000} threads=${THREADS:-8} all=${ALL:-$((${BLOCKS:-10000000} / 100))} pace=${PACE:-500}
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin tests/programs/provider/heap_host.c -o "$dir/host" -lpthread -ldl &&
	$cc -O1 -fPIC -shared tests/programs/provider/heap_plugin.c -o "$dir/plugin.so" || exit 1

storm() { # WHAT BLOCKS [PACE]
	rm -rf "$dir/t"
	LIMIT=3000 status 0 "$ktr" run --agent -e 1m --heap "$1" -o "$dir/t" "$dir/host" storm "$threads" "$2" "$dir/plugin.so" ${3:+"$3"}
	"$ktr" heap --json "$dir/t" >"$dir/heap"
	echo "--heap $1: $2 blocks by $threads threads; $(grep -o '"\(samples\|unknown\|unseen\|lost\)": [0-9]*' "$dir/heap" |
		tr -d '"' | paste -sd' ')"
}
storm 64k "$blocks"
# shellcheck disable=SC2046 # two numbers
is 'samples' "$(python3 tests/cli/provider/heap.py near "$dir/heap" \
	$(sed 's/.* got_bytes=\([0-9]*\) .* live_bytes=\([0-9]*\) .*/\1 \2/' "$dir/out") | uniq)" near
# A busy machine may keep the writer from it for longer than the rings hold.
for try in 1 2 3 4 5; do
	KTR_BUDGET=0 storm all "$all" "$pace"
	grep -q '"lost": 0' "$dir/heap" && break
done
is "all, in $try tries" "$(python3 tests/cli/provider/heap.py sums "$dir/heap" storm_thread)" "$(cat "$dir/out")"
is 'all: nothing else' "$(grep -o '"\(unseen\|lost\)": [0-9]*' "$dir/heap" | tr -d ' "' | paste -sd' ')" 'unseen:0 lost:0'
exit $failed
