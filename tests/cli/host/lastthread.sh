#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A main thread that ends alone, by pthread_exit(3) or by the bare system call: the writer's thread does not keep the
# process alive. Output, the order of what runs at the exit and on which thread, and the exit status are those of the
# program untraced; the trace has all of its events and an end.
. "$(dirname "$0")/../lib.inc"

$cc -O2 -D_GNU_SOURCE -Iinclude tests/programs/host/lastthread.c -o "$dir/host" -L"$O/lib" -lktr -Wl,-rpath,"$O/lib" -lpthread || exit 1

# one WAY PATH HOW EVENTS OPTIONS...: EVENTS of class gen are in the trace
one() {
	way=$1 path=$2 how=$3 events=$4
	shift 4
	what="$way, $path, $*"
	KTR_DISABLE=1 timeout -s KILL 120 "$dir/host" "$@" >"$dir/plain" 2>"$dir/plain.err"
	plain=$?
	rm -rf "$dir/trace"
	case $way in
	run) KTR_PATH=$path timeout -s KILL 120 "$ktr" run -m gen,proc -o "$dir/trace" "$dir/host" "$@" ;;
	file) KTR_PATH=$path KTR_MASK=gen,proc KTR_FILE=$dir/trace timeout -s KILL 120 "$dir/host" "$@" ;;
	verbose) KTR_PATH=$path KTR_MASK=gen KTR_VERBOSE=1 timeout -s KILL 120 "$dir/host" "$@" ;;
	esac >"$dir/out" 2>"$dir/err"
	is "$what: status" $? $plain
	cmp -s "$dir/plain" "$dir/out" || fail "$what: it printed $(cat "$dir/out") instead of $(cat "$dir/plain")"
	[ $way = verbose ] && found=$(grep -c '^cpu[0-9]* [mwh]' "$dir/err") ||
		found=$("$ktr" dump "$dir/trace" 2>/dev/null | grep -cE '(main|worker|handler) [0-9]+$')
	[ "$events" = - ] || is "$what: events ($how)" "$found" "$events"
	[ $way = verbose ] && return
	tail -1 "$dir/trace/ktr/info.jsonl" | grep -q '"kind":"end".*"lost":0' || fail "$what: the trace has no end"
	[ $how = raw ] || "$ktr" dump "$dir/trace" | tail -1 | grep -q "process [0-9]* exits" ||
		fail "$what: the process's end is missing"
}

one file rseq exit 1000
one file thread exit 1002 handled term
one file rseq exit 2000 later
one file thread exit 2002 last handled
one file rseq exit 1002 mute later handled
one file rseq exit 0 mute
one file rseq raw 1000 raw term
one file thread raw 1000 raw
one file rseq raw 2000 raw later
one file thread raw 2000 raw later slow
one run rseq raw 2000 raw last slow
one file thread raw 1000 raw before
one run rseq raw 1000 raw before
one file rseq exit 2002 later slow handled
one file thread exit 1002 before handled
one run rseq exit 1002 handled
one run thread exit 2002 later handled
one run rseq raw 1000 raw
one verbose rseq exit 1002 handled
one verbose thread exit 2002 later handled
one verbose rseq raw - raw
one run rseq exit 1002 fork handled
one file rseq raw 1000 fork raw
one file thread exit 2002 fork later handled
exit $failed
