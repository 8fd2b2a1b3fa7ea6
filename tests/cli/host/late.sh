#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What threads record while their process ends, however it does, is in the trace, or is said to be lost, or lies in a
# session that stays for it. Counted outside of ktr.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/late.c -o "$dir/late" "$O/lib/libktr.a" -lpthread -Wl,--wrap=pthread_join || exit 1
trace=$dir/trace

begin() {
	rm -rf "$trace" "$trace".* "${KTR_DIR:?}"/*
	head -c 4096 /dev/zero >"$dir/count"
}

# judge WHAT TRACE: events and losses against what has been counted
judge() {
	"$ktr" report --json "$2" >"$dir/report" 2>"$dir/err2" || fail "$1: $(cat "$dir/err2")"
	python3 - "$1" "$dir/count" "$dir/report" <<'END' || failed=1
import json, struct, sys
what, counts, report = sys.argv[1:]
numbers = struct.unpack('<24Q', open(counts, 'rb').read(192))
begun, done = sum(numbers[0::8]), sum(numbers[1::8])
r = json.load(open(report))
dropped = r['losses'].get('dropped', {})
seen = r['events'] + r['losses']['events'] + sum(dropped.values())
if not done or not done <= seen <= begun:
    sys.exit('FAILED: %s: %d events and %d lost, %s dropped; recorded were %d to %d: %d are missing' % (what, r['events'],
             r['losses']['events'], dropped, done, begun, done - seen))
END
}

sessions() {
	find "$KTR_DIR" -name '*.ktr' | wc -l
}

# over: all is in the trace, behind ktr run
over() {
	await '[ "$(sessions)" = 0 ]' || fail "$what: the session stays"
}

for path in rseq thread; do
	export KTR_PATH=$path
	for pace in '' slow; do
		hows='return exit quick _exit kill child one joined other-first other-last'
		[ -z "$pace" ] || hows='return exit'
		for how in $hows; do
			what="$path, $pace $how"
			# Under ktr run all is in the trace when that has ended.
			begin
			# shellcheck disable=SC2086
			timeout 300 "$ktr" run -m gen -e 4k -s one -o "$trace" "$dir/late" "$dir/count" $how $pace 2>"$dir/err"
			[ $how != other-last ] || over
			rm -rf "${KTR_DIR:?}"/*
			judge "ktr run: $what" "$trace"
			# Without it, what is not is read with the trace, and ktr salvage writes it; but for what is recorded
			# behind the library's last look: nobody is there who could tell.
			case $how in return | exit | one) continue ;; esac
			begin
			# shellcheck disable=SC2086
			(KTR_MASK=gen KTR_ENTRIES=4k KTR_SESSION=one KTR_FILE="$trace" timeout 300 "$dir/late" "$dir/count" $how $pace
				:) 2>&1 | cat >"$dir/err" # until nobody is left
			judge "$what" "$trace"
			[ "$(sessions)" = 0 ] || status 0 "$ktr" salvage "$trace"
			case $how in
			joined | child | other-*) is "$what: sessions left" "$(sessions)" 0 ;;
			esac
			rm -rf "${KTR_DIR:?}"/*
			judge "$what, salvaged" "$trace"
		done
	done
done
exit $failed
