#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Stress, kills and odd lives with library and tests built for a sanitizer:
#
#	O=build/asan tests/stress/sanitize.sh address,undefined
#	O=build/tsan tests/stress/sanitize.sh thread		(the path without restartable sequences only:
#								the sanitizer sees no assembly)
# EVENTS and KILLS shorten it, as .ci/run does.
SAN="-fsanitize=${1:?which sanitizer?} -fno-sanitize-recover=all -fno-omit-frame-pointer"
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh
events=${EVENTS:-2000000}
archives="$O/obj/libktr.a $O/lib/libktr-probe.a"
[ "$1" = thread ] || archives="$archives $O/lib/libktr-provider.a $O/lib/libktr-dtrace.a"
# shellcheck disable=SC2086 # several words
make -j2 O="$O" CFLAGS="-O1 -g $SAN" $archives || exit 1
build_stress
build_kill
build_odd
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:halt_on_error=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1}"
[ "$1" = thread ] && paths=thread KTR_PATH=thread && export KTR_PATH
for path in $paths; do
	run on_path "$path" "$out/stress" -e "$events" -p 4 -t 8 -r 256
	run on_path "$path" "$out/stress" -e "$events" -p 2 -t 2 -r 16384 -P
	run on_path "$path" "$out/stress" -e "$events" -p 4 -t 4 -r 512 -C 2
	run on_path "$path" "$out/kill" -n "${KILLS:-50}"
done
run "$out/odd"
libs="$O/lib/libktr-probe.a $libs"
build probe_race tests/stress/probe_race.c
for path in $paths; do
	run on_path "$path" "$out/probe_race" 2 1000
done
# Providers look at the session's numbers of rings as others set them, which a thread sanitizer takes for a race.
[ "$1" = thread ] && exit $failed
libs="$O/lib/libktr-dtrace.a $O/lib/libktr-provider.a $libs"
build mach_uses tests/programs/provider/mach_uses.c
# Not `fork`: a child of libasan 12 has its allocator's lock for ever if another thread, which begins, had it at that time.
for path in $paths; do
	for what in uses bad kernel ends 'race 2'; do
		# shellcheck disable=SC2086
		run on_path "$path" "$out/mach_uses" $what
	done
done
