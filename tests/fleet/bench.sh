#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No test of make check-fleet: fifteen questions on EVENTS events of four hosts, one of which loses some, each timed, best of
# three; what they count, sum and find the least and the greatest of is what ktr sql says of the same traces, and quantiles are
# within 1 %. The exit status tells.
#
#	EVENTS=20000000 sh tests/fleet/bench.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
EVENTS=${EVENTS:-20000000}
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/fleet_host.c -o "$dir/host" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
n=$((EVENTS / 58))
KTR_MASK=all KTR_FILE=web01 KTR_ENTRIES=4194304 ./host $n 1 || fail "web01"
KTR_MASK=all KTR_FILE=web02 KTR_ENTRIES=4194304 ./host $n 1 || fail "web02"
KTR_MASK=all KTR_FILE=web03 KTR_ENTRIES=4194304 ./host $n 3 || fail "web03"
KTR_MASK=all KTR_FILE=web04 KTR_ENTRIES=256 ./host $n 3 2>/dev/null || fail "web04"
server_start || exit 1
for host in web01 web02 web03 web04; do
	"$ktr" ship --to "$url" --state state --create --spans --host $host --build "$(case $host in web01 | web02) echo 1 ;; *) echo 2 ;; esac)" $host 2>err ||
		{ fail "$host: $(cat err)"; exit 1; }
done
python3 "$top/tests/fleet/bench.py" "$url" "$ktr" web01 web02 web03 web04 || failed=1
exit $failed
