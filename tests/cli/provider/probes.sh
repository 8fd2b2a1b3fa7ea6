#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run-time probes: each use of ktr/probe.h, on both paths, linked either way; what is
# asked for wrongly; removal under fire for SECONDS (2; make check-long: 60).
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
libs="$O/lib/libktr-probe.a $libs"
build probe_uses tests/programs/provider/probe_uses.c
build probe_race tests/stress/probe_race.c
export KTR_CONF=

for path in $paths; do
	for what in uses bad files; do
		on_path "$path" timeout 300 "$out/probe_uses" "$what" || fail "$what on the path of $path"
	done
	on_path "$path" timeout 300 "$out/probe_race" "${SECONDS_EACH:-1}" >"$dir/race" || fail "race: $(cat "$dir/race")"
done

# The shared libraries.
$CC $flags tests/programs/provider/probe_uses.c -o "$dir/uses" -L"$O/lib" -lktr-probe -lktr "-Wl,-rpath,$O/lib" -lpthread ||
	fail 'not linked with libktr-probe.so'
timeout 300 "$dir/uses" uses || fail 'uses, shared'

# A handler traces: what it records is there, and that of the handler that it has called.
KTR_CONF='' timeout 300 "$ktr" run -o "$dir/bad" "$out/probe_uses" bad >/dev/null 2>"$dir/err" || fail "bad: $(cat "$dir/err")"
[ "$("$ktr" dump "$dir/bad" | grep -c 'gen .*a handler traces$')" -eq 2 ] || fail 'what handlers trace is not in the trace'

# Events of probes are events like others: by class, place and text.
KTR_CONF='' timeout 300 "$ktr" run -o "$dir/trace" "$out/probe_uses" >/dev/null 2>"$dir/err" || fail "$(cat "$dir/err")"
[ "$("$ktr" dump "$dir/trace" | grep -c 'probe .*probe_uses.c:.*custom 0x1 0x2 0x3 0x4 0x5 ')" -eq 2 ] ||
	fail 'the trace has not the two events of probe "custom"'
exit $failed
