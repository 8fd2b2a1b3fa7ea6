#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What check-foreign's judge says of events that no trace has: those of threads that ran past their process's last look
# it calls that, where nobody was there to write them; all others are missing.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude -Itests/foreign tests/programs/tree/judge.c -o "$dir/judge" "$O/lib/libktr.a" -lpthread || exit 1

# run HOW [COMMAND...]: a trace of it, counted
run() {
	how=$1
	shift
	rm -rf "$dir/trace" "${KTR_DIR:?}"/*
	head -c 32768 /dev/zero >"$dir/oracle"
	status 0 env ORACLE="$dir/oracle" KTR_MASK=gen KTR_FILE="$dir/trace" "$@" "$dir/judge" "$how"
	# Nothing was to be written when the library looked.
	is "$how: sessions left" "$(find "$KTR_DIR" -name '*.ktr' | wc -l)" 0
}

# judged WANTED TEXT [OPTION]
judged() {
	want=$1 text=$2
	shift 2
	timeout 300 python3 tests/foreign/judge.py "$@" "$ktr" "$dir/oracle" "$dir/trace" >"$dir/said" 2>&1
	is "$how, $*: the judge's status" $? "$want"
	tail -n 1 "$dir/said" | grep -q "done$text" || fail "$how, $*: $(cat "$dir/said")"
}

run thread
judged 0 ': 5 of threads that ran past .* last look, as 1 of the processes had$' --without-run
judged 1 ': 5 NEITHER IN A TRACE NOR LOST$'
run main
judged 1 ': 5 NEITHER IN A TRACE NOR LOST$' --without-run
# One who runs it has them all.
for how in thread main; do
	run $how "$ktr" run -m gen -o "$dir/trace" --
	judged 0 '$'
done
exit $failed
