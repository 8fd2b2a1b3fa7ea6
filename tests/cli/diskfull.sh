#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# No room for a trace: recording goes on in the rings, writing when there is room again, each event is written or counted
# as lost, and what could not be written at the end stays in the session, which the line at the end tells how to get.
. "$(dirname "$0")/lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/cli/diskfull.c -o "$dir/diskfull" "$O/lib/libktr.a" -lpthread || exit 1
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
	sed -n 's/.*: \(ktr s[a-z]* [^;]*\)$/\1/p' "$dir/err" | tail -n 1
}

type_next() {
	type=$(next)
	[ -n "$type" ] || fail "$1: no line says what to type: $(cat "$dir/err")"
	(cd / && PATH=$O/bin:$PATH && timeout 60 $type) >"$dir/out" 2>&1 || fail "$1: $type: $(cat "$dir/out")"
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
exit $failed
