#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The provider heap in a storm: THREADS threads get and give back BLOCKS blocks, sampled and, a hundredth of it, all told with
# their stacks, while children are forked, end and become others, and an object is loaded and unloaded. The program ends as it
# does without, samples are near what it counts itself, and nobody gives back what nobody got. Prints on what it did how much.
#
#	BLOCKS=N THREADS=N tests/stress/heap.sh
. "$(dirname "$0")/../cli/lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'memory is of x86-64'; exit 0 ;; esac
blocks=${BLOCKS:-10000000} threads=${THREADS:-8}
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin tests/programs/provider/heap_host.c -o "$dir/host" -lpthread -ldl &&
	$cc -O1 -fPIC -shared tests/programs/provider/heap_plugin.c -o "$dir/plugin.so" || exit 1

storm() { # WHAT BLOCKS
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent -e 1m --heap "$1" -o "$dir/t" "$dir/host" storm "$threads" "$2" "$dir/plugin.so"
	"$ktr" heap --json "$dir/t" >"$dir/heap"
	echo "--heap $1: $2 blocks by $threads threads; $(grep -o '"\(samples\|unknown\|unseen\|lost\)": [0-9]*' "$dir/heap" |
		tr -d '"' | paste -sd' ')"
}
storm 64k "$blocks"
is 'samples' "$(python3 tests/cli/provider/heap.py near "$dir/heap" "$(sed 's/got_bytes=//' "$dir/out")" 0 | uniq)" near
storm all $((blocks / 100))
if grep -q '"lost": 0' "$dir/heap"; then
	is 'all' "$(python3 tests/cli/provider/heap.py sums "$dir/heap" storm_thread | sed 's/.*\(got_bytes=[0-9]*\).*/\1/')" "$(cat "$dir/out")"
fi
exit $failed
