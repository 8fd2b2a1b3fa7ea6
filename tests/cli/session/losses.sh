#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Events that went into no ring are said to be lost, with the reason, by everything that says how many are: what the
# program has made is what was recorded and what is lost, whoever took it, and however the program ended.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Iinclude tests/programs/session/losses.c -o "$dir/losses" "$O/lib/libktr.a" \
	-lpthread || exit 1

# judge WHAT TRACE-OR-OPTIONS... : what readers say of $made events, $nowhere of which (if not 0) went nowhere, $why.
judge() {
	what=$1
	shift
	n=$("$ktr" dump -q "$@" 2>"$dir/err" | grep -c made)
	lost=$((made - n))
	[ "$nowhere" = 0 ] || is "$what: lost" $lost "$nowhere"
	[ $lost -gt 0 ] || fail "$what: nothing is missing"
	is "$what: dump" "$(grep -c ": $lost events* w[^ ]* not recorded $why" "$dir/err")" 1
	is "$what: json" "$("$ktr" json "$@" 2>/dev/null | grep -o '"lost":[0-9]*' | head -n 1)" "\"lost\":$lost"
	"$ktr" report "$@" >"$dir/report" 2>/dev/null
	grep -q "$lost events lost.*$why" "$dir/report" || fail "$what: report: $(grep lost "$dir/report")"
	is "$what: report --json" "$("$ktr" report --json "$@" 2>/dev/null | tr -d ' \n' |
		grep -o '"losses":{"events":[0-9]*')" "\"losses\":{\"events\":$lost"
	"$ktr" dump --count "$@" >/dev/null 2>"$dir/err"
	is "$what: dump --count" "$(grep -c ": $lost more were lost" "$dir/err")" 1
}

# lives PATH MODE WHY
lives() {
	path=$1 mode=$2 why=$3
	for end in "" killed; do
		what="$mode, $path${end:+, $end}"
		rm -rf "$dir/trace" "$dir/merged" "$KTR_DIR"/ktr-*
		KTR_PATH=$path timeout 300 "$ktr" run -m gen -o "$dir/trace" "$dir/losses" $mode $end >"$dir/said" 2>"$dir/run"
		got=$?
		[ $got = 77 ] && { skip "$what"; continue; }
		[ $got = $((${#end} ? 137 : 0)) ] || fail "$what: exit status $got: $(cat "$dir/run")"
		read -r made nowhere <"$dir/said" || fail "$what: nothing said"
		judge "$what, run" "$dir/trace"
		grep -q ", $lost lost ($lost $why" "$dir/run" || fail "$what: the last line: $(cat "$dir/run")"
		"$ktr" fsck "$dir/trace" >"$dir/out" 2>&1 || fail "$what: fsck: $(cat "$dir/out")"
	done
	"$ktr" merge -o "$dir/merged" "$dir/trace" "$dir/trace" >/dev/null 2>"$dir/err"
	is "$what, merged with itself" "$("$ktr" json "$dir/merged" 2>/dev/null | grep -o '"lost":[0-9]*' | head -n 1)" \
		"\"lost\":$((2 * lost))"
	# The session of a killed program, saved, and read as it is.
	rm -rf "$dir/trace" "$KTR_DIR"/ktr-*
	KTR_PATH=$path KTR_SESSION=l KTR_MASK=gen timeout 300 "$dir/losses" $mode killed >"$dir/said" 2>/dev/null
	read -r made nowhere <"$dir/said" || fail "$mode, $path: nothing said"
	judge "$mode, $path, session" -s l
	"$ktr" snapshot -s l -o "$dir/trace" 2>"$dir/err" || fail "$mode, $path: snapshot: $(cat "$dir/err")"
	grep -q ", $lost lost" "$dir/err" || fail "$mode, $path: snapshot says $(cat "$dir/err")"
	judge "$mode, $path, snapshot" "$dir/trace"
	# A trace whose writer was killed: as it lies, and salvaged.
	rm -rf "$dir/trace" "$KTR_DIR"/ktr-*
	KTR_PATH=$path KTR_SESSION=l KTR_MASK=gen KTR_FILE=$dir/trace timeout 300 "$dir/losses" $mode killed >"$dir/said" 2>/dev/null
	read -r made nowhere <"$dir/said" || fail "$mode, $path: nothing said"
	judge "$mode, $path, trace and session" "$dir/trace"
	for i in once twice; do
		"$ktr" salvage "$dir/trace" >"$dir/out" 2>&1 || fail "$mode, $path: salvage: $(cat "$dir/out")"
		judge "$mode, $path, salvaged $i" "$dir/trace"
	done
}

for path in ${KTR_PATHS:-rseq thread}; do
	[ -n "${KTR_EMULATED:-}" ] || lives $path vfork "in a vfork child"
	lives $path closed "while rings were closed"
	[ $path = rseq ] || lives $path no_ring "without a ring"
done
exit $failed
