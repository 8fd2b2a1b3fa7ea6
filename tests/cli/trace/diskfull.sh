#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No room for a trace: recording goes on in the rings, writing when there is room again, each event is written or counted
# as lost, and what could not be written at the end stays in the session, which the line at the end tells how to get.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/trace/diskfull.c -o "$dir/diskfull" "$O/lib/libktr.a" -lpthread || exit 1
trace=$dir/trace
export KTR_MASK=gen

# host [VARIABLE=VALUE...] -- STEP...
host() {
	rm -rf "$trace" "$trace".* "${KTR_DIR:?}"/*
	vars=
	while [ "$1" != -- ]; do
		vars="$vars $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	status 0 env KTR_FILE="$trace" KTR_SESSION=full $vars "$dir/diskfull" "$@"
	is "$*: flushes" "$(cat "$dir/out")" ""
}

# events WHAT COUNT SOURCE...: so many, each once
events() {
	what=$1 count=$2
	shift 2
	is "$what: events" "$("$ktr" dump -q "$@" 2>/dev/null | grep -o 'event [0-9]*' | sort -u | wc -l)" "$count"
	is "$what: twice" "$("$ktr" dump -q "$@" 2>/dev/null | grep -o 'event [0-9]*' | sort | uniq -d)" ""
}

sessions() {
	find "$KTR_DIR" -name '*.ktr' | wc -l
}

# what is to be typed next, out of the lines in $dir/err
next() {
	sed -n 's/.*: \(ktr sa*[a-z]* [^;]*\)$/\1/p' "$dir/err" | tail -n 1
}

type_next() {
	type=$(next)
	[ -n "$type" ] || fail "$1: no line says what to type: $(cat "$dir/err")"
	(cd / && PATH=$O/bin:$PATH && timeout 300 $type) >"$dir/out" 2>&1 || fail "$1: $type: $(cat "$dir/out")"
}

for error in ENOSPC EDQUOT EFBIG EIO EFBIG-limit; do
	# Room again: all is there, and nothing was lost.
	host -- $error 100 flush fail 50 stuck 50 stuck work 50 flush
	events "$error, for a while" 250 "$trace"
	is "$error, for a while: lines" "$(grep -c 'goes on in memory' "$dir/err") $(grep -c 'writing again' "$dir/err")" "1 1"
	is "$error, for a while: sessions left" "$(sessions)" 0

	# Overwritten meanwhile: counted where it is missing.
	host KTR_ENTRIES=1024 -- $error 100 flush fail 5000 stuck 5000 work 100 flush
	got=$("$ktr" dump -q "$trace" 2>/dev/null | grep -c 'event [0-9]')
	lost=$("$ktr" json "$trace" 2>/dev/null | grep -o '"lost":[0-9]*' | head -n 1 | cut -d: -f2)
	[ "$got" -lt 10200 ] && [ "$((got + ${lost:-0}))" -ge 10200 ] || fail "$error, overwritten: $got events, ${lost:-none} lost"
	"$ktr" dump -q "$trace" 2>/dev/null | grep -A1 'event 99$' | tail -n 1 | grep -q lost ||
		fail "$error, overwritten: the loss is not where it is: $("$ktr" dump -q "$trace" | grep -A1 'event 99$')"

	# Never again: what is missing can be had, and then the session has gone.
	host -- $error 100 flush fail 50
	events "$error, to the end" 150 "$trace"
	is "$error, to the end: sessions left" "$(sessions)" 1
	type_next "$error, to the end"
	events "$error, salvaged" 150 "$trace"
	is "$error, salvaged: sessions left" "$(sessions)" 0
done

# The real thing, a disk of 4 MiB, for which it takes a superuser.
disk=$dir/disk
mkdir "$disk"
at_exit() {
	umount "$disk" 2>/dev/null
}
if ! mount -t tmpfs -o size=4m ktr-test "$disk" 2>/dev/null; then
	skip "a full disk: mount is not allowed here"
	exit $failed
fi
mkfifo "$dir/in" "$dir/said"
trace=$disk/trace

fill() {
	dd if=/dev/zero of="$disk/fill" bs=64k 2>/dev/null
}

# lives COMMAND...: starts it; the test then takes turns with its steps
lives() {
	rm -rf "$trace" "$trace".* "${KTR_DIR:?}"/*
	timeout 300 "$@" <"$dir/in" >"$dir/said" 2>"$dir/err" &
	pid=$!
	exec 5>"$dir/in" 6<"$dir/said"
	read -r got <&6
	is "$1: begins" "$got" reads
}

# turn: lets it go on, to its next "reads"
turn() {
	echo >&5
	read -r got <&6
	is "turn" "$got" reads
}

# The disk is full for a while; none of what is recorded meanwhile is lost.
lives env KTR_FILE="$trace" KTR_SESSION=full "$dir/diskfull" none 100 flush reads 20000 stuck reads 100 flush reads
fill
turn
rm "$disk/fill"
turn
events "a full disk for a while" 20200 "$trace"
exec 5>&- 6<&-
wait $pid || fail "a full disk for a while: exit status"
is "a full disk for a while: sessions left" "$(sessions)" 0

# To the end: by the program's own writer, under ktr run, and recorded from outside.
for how in env run record; do
	case $how in
	env) set -- env KTR_FILE="$trace" KTR_SESSION=full ;;
	run) set -- "$ktr" run -s full -o "$trace" -- ;;
	record) set -- env KTR_SESSION=full ;;
	esac
	lives "$@" "$dir/diskfull" none 100 reads 20000 reads
	if [ $how = record ]; then
		"$ktr" record -s full -o "$trace" 2>"$dir/err2" 5>&- 6<&- &
		recorder=$!
		await '"$ktr" dump -q "$trace" 2>/dev/null | grep -q "event 99\$"'
	fi
	fill
	turn
	exec 5>&- 6<&-
	wait $pid || fail "a full disk to the end, $how: exit status $?"
	if [ $how = record ]; then
		wait $recorder && fail "a full disk to the end, record: its exit status is 0"
		cp "$dir/err2" "$dir/err"
	fi
	is "a full disk to the end, $how: sessions left" "$(sessions)" 1
	rm "$disk/fill"
	type_next "a full disk to the end, $how"
	events "a full disk to the end, $how" 20100 "$trace"
	is "a full disk to the end, $how, salvaged: sessions left" "$(sessions)" 0
done

# From the start: the trace is begun when there is room.
rm -rf "$trace"
fill
lives "$ktr" run -s full -o "$trace" -- "$dir/diskfull" none 100 reads 100 flush reads
rm "$disk/fill"
turn
events "a full disk at first" 200 "$trace"
exec 5>&- 6<&-
wait $pid || fail "a full disk at first: exit status"
is "a full disk at first: sessions left" "$(sessions)" 0
exit $failed
