#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A peer writes into every page of a session: four kinds of hosts, on each path (tests/stress/peer.c).
#
#	SECONDS=150 tests/stress/peer.sh			make check-peer: ten minutes on each path
#	O=build/asan tests/stress/peer.sh address,undefined	with instrumented hosts and libraries, made before
#	tests/stress/peer.sh valgrind				on the path without restartable sequences
#	tests/stress/peer.sh truncate				the file is cut, too: SIGBUS is an answer then
#
# COUNT, SEED, KINDS and KTR_PATHS choose; SECONDS are for each host on each path.
mode=${1:-}
case $mode in
address*)
	SAN="-fsanitize=$mode -fno-sanitize-recover=all -fno-omit-frame-pointer"
	export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0:halt_on_error=1}"
	WEDGE=${WEDGE:-60}
	;;
valgrind)
	WRAP="valgrind -q --error-exitcode=99 --trace-children=yes --sim-hints=lax-ioctls"
	KTR_PATHS=thread
	COUNT=${COUNT:-500}
	WEDGE=${WEDGE:-120}
	export WRAP
	;;
truncate)
	export TRUNCATE=1
	;;
esac
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh
export COUNT="${COUNT:-8000}" SEED="${SEED:-1}" SECONDS="${SECONDS:-0}" WEDGE="${WEDGE:-60}"
ulimit -c 0
flags="$flags -fno-omit-frame-pointer"
build peer tests/stress/peer.c
$CC $flags -fPIC -shared -DPLUGIN=peer tests/stress/plugin.c -o "$out/plugin-peer.so" || exit 1
libs="$O/lib/libktr-probe.a $libs"
build peer_host tests/stress/peer_host.c -- -rdynamic
cd "$work" || exit 1
for kind in ${KINDS:-threads forks control probes}; do
	for path in $paths; do
		echo "$path: $kind"
		KTR_DISABLE= on_path "$path" "$out/peer" "$kind" "$out/peer_host" "$out/plugin-peer.so" "$ktr" || exit 1
	done
done
