#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A folder is followed: traces that are there, that come, that are rotated, and one whose writer is killed, by one
# shipper. What rotation removed before it was shipped is a loss that says so, and nothing else is missing.
#
#	[AWAY=3600] sh tests/fleet/follow.sh		AWAY: [s] that the server is away for, besides
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
at_exit() { hosts_end; }
$cc -std=gnu11 -O1 -fno-omit-frame-pointer -Iinclude tests/programs/trace/ctf_events.c -o "$dir/events" "$O/lib/libktr.a" \
	-lpthread || exit 1
hosts_build
cd "$dir" || exit 1
mkdir folder
KTR_MASK=all KTR_FILE=folder/first ./flood 5000 >/dev/null || fail "the program failed"
server_start || exit 1
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
follow() {
	"$ktr" ship --to "$url" --state state --host web01 --spans --follow --every 1s --patience 1s folder >log 2>&1 &
	shipper=$!
}
n_events() { "$ktr" report --json "folder/$1" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])'; }
there() { ask "SELECT count() FROM ktr.events WHERE trace = toUUID('$(uuid "folder/$1")')"; }
# all TRACE: is waited for, and there once
all() {
	want=$(n_events "$1")
	await '[ "$(there '"$1"')" = "$want" ]'
	is "events of $1" "$(there "$1")" "$want"
	is "identities of $1" "$(ask "SELECT uniqExact(stream, idx) FROM ktr.events WHERE trace = toUUID('$(uuid "folder/$1")')")" "$want"
}
# lost TRACE: as its losses say
lost() {
	ask "SELECT sum(events) FROM ktr.losses FINAL WHERE trace = toUUID('$(uuid "folder/$1")') AND why IN ('overwritten', 'unshipped')"
}
# whole TRACE: its events and losses are all that its streams have had
whole() {
	is "all of $1" "$(ask "SELECT sum(n) FROM (SELECT max(idx) + 1 AS n FROM ktr.events WHERE trace = toUUID('$(uuid "folder/$1")') GROUP BY stream)")" \
		"$(($(there "$1") + $(lost "$1")))"
}
follow
all first
KTR_MASK=all KTR_FILE=folder/second ./flood 3000 >/dev/null || fail "the program failed"
all second
KTR_MASK=all KTR_FILE=folder/rotated KTR_ROTATE_SIZE=128K KTR_ROTATE_KEEP=100 ./events 3000 || fail "the program failed"
all rotated
[ -e folder/rotated.1 ] || fail "nothing was rotated"
# One that has the name of another, which was moved aside.
KTR_MASK=all KTR_FILE=folder/second ./flood 4000 >/dev/null || fail "the program failed"
all second
# One whose program is killed.
# The server is away for longer than anybody waits: said once, and done when it is back.
server_kill
KTR_MASK=all KTR_FILE=folder/away ./flood 4000 >/dev/null || fail "the program failed"
await 'grep -q "127.0.0.1:[0-9]* cannot be reached" log'
sleep "${AWAY:-0}"
server_start || exit 1
all away
is "a server that is away, lines" "$(grep -c 'cannot be reached' log)" 1
mkfifo in
KTR_MASK=all KTR_FILE=folder/killed ./slow <in &
program=$!
exec 7>in
await '[ -e folder/killed/metadata ] && [ "$(there killed)" -gt 1000 ]'
kill -9 $program
wait $program 2>/dev/null
program=
exec 7>&-
all killed
whole killed
kill $shipper
wait $shipper
is "SIGTERM" $? 0
shipper=
# What is told of one that has been told of as a whole: nothing, and it is not read again.
"$ktr" ship --to "$url" --state state --host web01 --spans folder/first 2>err || fail "again: $(cat err)"
grep -q 'first: 0 events and 0 spans in 0 batches' err || fail "again: $(cat err)"

# Nobody ships while parts are removed.
KTR_MASK=gen KTR_FILE=folder/late KTR_ROTATE_SIZE=64K KTR_ROTATE_KEEP=2 ./slow <in >late.n 2>late.err &
program=$!
exec 7>in
await '[ -e folder/late.5 ] && [ ! -e folder/late.1 ]'
# On one processor from here on: of the other one's stream nothing is left.
if taskset -a -p -c 1 $program >/dev/null 2>&1; then
	n=$(find folder -name 'late.[0-9]*' | sed 's/.*\.//' | sort -n | tail -n 1)
	await '[ -e folder/late.$((n + 5)) ]'
fi
exec 7>&-
wait $program || fail "the program failed"
program=
"$ktr" ship --to "$url" --state state --host web01 folder/late 2>err || fail "late: $(cat err)"
grep -q 'late: [0-9]* events were removed by rotation before they were shipped' err || fail "what is said of what is gone: $(cat err)"
[ "$(ask "SELECT sum(events) FROM ktr.losses FINAL WHERE why = 'unshipped'")" -gt 0 ] || fail "no row says what is gone"
# What is gone may be all that a stream has had: the program's own count tells.
is "all of late" "$(($(there late) + $(lost late)))" "$(cat late.n)"
n=$(ask "SELECT sum(events) FROM ktr.losses FINAL")
"$ktr" ship --to "$url" --state state --host web01 folder/late 2>err || fail "late, again: $(cat err)"
is "losses, again" "$(ask "SELECT sum(events) FROM ktr.losses FINAL")" "$n"
exit $failed
