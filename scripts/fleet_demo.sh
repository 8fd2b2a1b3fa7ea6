#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A fleet in small: three "hosts" trace and ship to a ClickHouse server that is started on loopback, in a folder of its own; one
# is killed, one loses events. Prints what is asked about them, draws two answers, fetches the slowest request and draws its
# timeline; the server is gone in the end. What is drawn stays in fleet-out/.
#
#	O=build scripts/fleet_demo.sh
out=$PWD/fleet-out
. "$(dirname "$0")/../tests/cli/lib.inc"
. tests/fleet/server.inc
program=
at_exit() {
	[ -z "$program" ] || kill -9 "$program" 2>/dev/null
	servers_end
}
show() {
	printf '\n$ %s\n' "$*"
	shift
	"$ktr" "$@" || fail "$*"
}

mkdir -p "$out"
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/server" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=web01 KTR_ENTRIES=1048576 ./server 40000 >/dev/null || fail "web01"
KTR_MASK=all KTR_FILE=web02 KTR_ENTRIES=65536 ./server 4000000 >/dev/null &
program=$!
await '[ -e web02/metadata ] && [ "$(du -sk web02 | cut -f1)" -gt 2000 ]'
kill -9 $program
wait $program 2>/dev/null
program=
KTR_MASK=all KTR_FILE=web03 KTR_ENTRIES=256 ./server 20000 >/dev/null || fail "web03"
server_start || exit 1
for host in web01 web02 web03; do
	show ktr ship --to "$url" --state state --create --spans --host $host --build "$([ $host = web03 ] && echo 2 || echo 1)" $host
done
rm -rf "$out"/*.png "$out"/near.*
show ktr fleet hosts "$url"
show ktr fleet losses -o "$out/losses.png" "$url"
show ktr fleet top "$url"
show ktr fleet slow "$url"
show ktr fleet span request "$url"
show ktr fleet diff web01 web02 -o "$out/diff.png" "$url"
show ktr fetch --around 'slowest request' -o "$out/near.ktr" "$url"
show ktr timeline -o "$out/near.png" "$out/near.ktr"
show ktr timeline -o "$out/near.html" "$out/near.ktr"
server_kill
printf '\nThe server is stopped; fleet-out/ has losses.png, diff.png, near.png, near.html and the trace near.ktr.\n'
exit $failed
