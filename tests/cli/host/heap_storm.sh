#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The provider heap where programs end in the middle of an allocation, by exit(3) in a handler, at a moment of chance: with what
# they would end with without, and a trace that can be read. And a short storm of tests/stress/heap.sh, whose long one has 10^8
# blocks: threads, children that end in all ways, such ends among them, and an object that comes and goes.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'memory is of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin tests/programs/provider/heap_host.c -o "$dir/host" -lpthread -ldl || exit 1
n=0
for us in $(seq 1000 "${STEP:-1733}" 30000); do
	for what in all callers 16k; do
		rm -rf "$dir/t"
		LIMIT=120 status 7 "$ktr" run --agent --heap $what -o "$dir/t" "$dir/host" exit "$us"
		status 0 "$ktr" heap --json "$dir/t"
		grep -q '"blocks": [1-9]' "$dir/out" || fail "$what, after $us us: nothing"
		n=$((n + 1))
	done
done
echo "$n ends in handlers"
BLOCKS=${BLOCKS:-2000000} O=$O sh tests/stress/heap.sh || failed=1
exit $failed
