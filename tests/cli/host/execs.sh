#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A child that has become another program by exec(2) is not in the session any more, however long it lives: a clean exit
# removes the session, one that was killed leaves a dead one, and nobody joins that. One that is told the session's name
# may be about to join it again: that session is kept for it.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/execs.c -o "$dir/execs" "$O/lib/libktr.a" -lpthread || exit 1
mkfifo "$dir/ends"
exec 3<>"$dir/ends" # the other program waits for a line here
pids=
at_exit() {
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill $pids 2>/dev/null
}

# leaves HOW COMMAND...: the child is there and the parent is not
leaves() {
	how=$1
	shift
	timeout 300 "$@" "$dir/execs" "$how" head -n 1 "$dir/ends" >"$dir/pid" 2>"$dir/err"
	pid=$(cat "$dir/pid")
	pids="$pids $pid"
	is "$*, $how: the child's program" "$(cat "/proc/${pid:-none}/comm" 2>&1)" head
}

state() { # SESSION
	"$ktr" ls | awk -v name="$1" '$1 == name { print $2 }'
}

sessions() {
	find "$KTR_DIR" -name '*.ktr' -exec basename {} \; | sort | paste -sd ' '
}

# A clean exit, whatever was recorded, and where to.
for setting in KTR_MASK=none KTR_MASK=all "KTR_FILE=$dir/trace"; do
	leaves exit env "$setting"
	is "$setting: sessions" "$(sessions)" ""
done
leaves exit "$ktr" run -o "$dir/run" --
is "ktr run: sessions" "$(sessions)" ""
is "ktr run: what it says goes on" "$(grep -c 'goes on' "$dir/err")" 0
is "ktr run: its trace" "$("$ktr" dump -q "$dir/run" 2>&1 | grep -c 'of the ')" 2

leaves exit env KTR_MASK=all KTR_KEEP_SESSION=1 KTR_SESSION=kept
is "one asked to stay" "$(sessions)" kept.ktr
status 0 "$ktr" rm kept
is "it is dead, and goes" "$(sessions)" ""

leaves named env KTR_MASK=all KTR_SESSION=named
is "one that may come back" "$(state named)" live
at_exit
pids=
await '[ "$(state named)" != live ]'
status 0 "$ktr" rm named

# Killed: the session stays, is dead, and somebody of the same name makes one of his own.
leaves kill env KTR_MASK=all KTR_SESSION=one
is "killed: sessions" "$(sessions)" one.ktr
is "killed: its state" "$(state one)" dead
leaves kill env KTR_MASK=all KTR_SESSION=one
is "killed twice: sessions" "$(sessions)" "one.ktr one.old.ktr"
is "killed twice: events" "$("$ktr" dump -q -s one 2>&1 | grep -c 'of the ')" 2
status 1 "$ktr" record -s one -o "$dir/record"
is "ktr record of it" "$(grep -c 'its processes have ended' "$dir/err")" 1
exit $failed
