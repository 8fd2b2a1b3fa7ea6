#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No test: what ktr ship costs. CPU seconds and memory of the shipper, bytes sent, beside ktr export csv of the same trace, which
# decodes the same arguments; then questions.
#
#	REQUESTS=400000 sh tests/fleet/cost.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=trace KTR_ENTRIES=4194304 ./flood "${REQUESTS:-400000}" >/dev/null || fail "the program failed"
server_start || exit 1
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
cost() { python3 - "$@" <<'PY'
import os, resource, subprocess, sys, time
before = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print('%s: %.2f s of CPU, %.2f s, %d MB' % (' '.join(sys.argv[2:4]), used.ru_utime + used.ru_stime, time.monotonic() - before,
                                            used.ru_maxrss / 1024))
PY
}
cost "$ktr" ship --to "$url" --state state --host web01 trace
cost "$ktr" ship --to "$url" --state state2 --again --host web02 --spans trace
cost "$ktr" export csv -o - trace
"$ktr" report --json trace 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"], "events")'
ask "SELECT table, sum(rows), sum(bytes) FROM system.parts WHERE active AND database = 'ktr' GROUP BY table ORDER BY table"
for question in top slow losses hosts "span request" "diff web01 web02"; do
	# shellcheck disable=SC2086
	cost "$ktr" fleet $question "$url"
done
exit $failed
