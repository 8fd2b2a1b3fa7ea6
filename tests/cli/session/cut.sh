#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A session's file is cut short under those who have it. A program that records nothing lives on, though it has a
# writer: that says what has happened, and ends its trace. So does ktr record.
. "$(dirname "$0")/../lib.inc"

$cc -O2 -Iinclude tests/programs/session/cut.c -o "$dir/host" -L"$O/lib" -lktr -Wl,-rpath,"$O/lib" -lpthread || exit 1
mkfifo "$dir/in"
session=$KTR_DIR/ktr-$(id -u)/cut.ktr

# cut BYTES WAY: of the file so much remains
cut() {
	rm -rf "$dir/trace" "$dir/out" "$dir/err"
	verbose=
	[ $2 = verbose ] && verbose=1
	file=$dir/trace
	[ $2 = file ] || file=
	KTR_SESSION=cut KTR_MASK=gen KTR_FILE=$file KTR_VERBOSE=$verbose timeout -s KILL 300 "$dir/host" \
		<"$dir/in" >"$dir/out" 2>"$dir/err" &
	host=$!
	exec 7>"$dir/in"
	await 'grep -q ready "$dir/err"'
	if [ $2 = record ]; then
		timeout -s KILL 300 "$ktr" record -s cut -o "$dir/trace" >"$dir/record" 2>&1 7>&- &
		record=$!
		await '[ -e "$dir/trace/metadata" ]'
	fi
	truncate -c -s "$1" "$session"
	[ $2 = record ] || await 'grep -q "cut the session.s file short" "$dir/err"' || cat "$dir/err"
	exec 7>&-
	wait $host
	is "$1, $2: the program's status" $? 0
	is "$1, $2: what it printed" "$(cat "$dir/out")" done
	if [ $2 = record ]; then
		wait $record
		rc=$?
		[ $rc -le 1 ] || fail "$1: ktr record ended with $rc: $(cat "$dir/record")"
	fi
	[ $2 = verbose ] || tail -1 "$dir/trace/ktr/info.jsonl" | grep -q '"kind":"end"' || fail "$1, $2: the trace has no end"
	rm -f "$session"
}

cut 0 file
cut 4096 file
cut 65536 file
cut 0 verbose
cut 0 record
cut 65536 record
exit $failed
