#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A peer writes random and chosen words into every page of a session, and its host does not mind: four kinds of hosts
# on both paths, a fixed number of writes. The long campaign is `make check-peer`; single words are tests/unit/ktr/test_peer.c.
. "$(dirname "$0")/../lib.inc"

COUNT="${COUNT:-300}" timeout "${LIMIT:-300}" sh tests/stress/peer.sh || failed=1

# Numbers that lead to where nothing is, in a file system that is full.
if unshare -rm true 2>/dev/null; then
	$cc -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Iinclude tests/programs/session/peer_full.c -o "$dir/peer_full" \
		"$O/lib/libktr.a" -lurcu-bp -lpthread || exit 1
	# Whoever may not have the kernel's events is told so, which is no fault here.
	refused='no events of the kernel: perf_event_open:'
	for path in rseq thread; do
		for case in count rows threads strings modules feed; do
			file= kernel=
			[ $case = feed ] && file=$dir/full.trace kernel=all
			out=$(KTR_FILE=$file KTR_KERNEL=$kernel KTR_PATH=$path KTR_MASK=all KTR_ENTRIES=256 \
				timeout "${LIMIT:-300}" unshare -rm sh -c \
				"mount -t tmpfs -o size=16m none $KTR_DIR && exec $dir/peer_full $case" 2>&1)
			case $out in *"$refused"*) skip "$path, a full file system, $case: $(echo "$out" | grep -F "$refused")" ;; esac
			is "$path, a full file system, $case" "$(echo "$out" | grep -vF "$refused")" well
		done
	done
else
	skip "a full file system: no mount namespace of our own"
fi
exit $failed
