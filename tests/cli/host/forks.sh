#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Forked children are recognised whoever makes them: the events of each are there, once, and say its thread. FORKS=n
# makes n children of each kind instead of a few, HOWS="armed _Fork" those kinds alone, LIMIT=seconds for each kind.
. "$(dirname "$0")/../lib.inc"

n=${FORKS:-15}
entries=256K
[ "$n" -lt 2000 ] || entries=1M
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/forks.c -o "$dir/forks" "$O/lib/libktr.a" -lpthread || exit 1

# run HOW COUNT [VARIABLE=VALUE...]: output in $dir/out, events in $dir/events: thread of the row, thread of the text, rest
run() {
	how=$1 count=$2
	shift 2
	env KTR_MASK=gen KTR_SESSION=forks KTR_KEEP_SESSION=1 KTR_ENTRIES="$entries" "$@" \
		timeout "${LIMIT:-300}" "$dir/forks" "$how" "$count" >"$dir/out" 2>"$dir/err" || fail "$how: $? $(cat "$dir/err")"
	[ -s "$dir/err" ] && fail "$how: $(cat "$dir/err")"
	"$ktr" dump -s forks --filter 'class == gen' | sed -n 's|.* [^ ]*/\([0-9]*\) .* by \([0-9]*\): \([0-9]*\)|\1 \2 \3|p' >"$dir/events"
	"$ktr" rm forks
}

# wrong WHAT: each event is by whom it says
wrong() {
	is "$1: by others" "$(awk '$1 != $2' "$dir/events" | head -n 3)" ""
}

# A child that no handler is told of is recognised by the kernel's emptying a page (Linux 4.14; no emulator passes it on).
KTR_DISABLE=1 "$dir/forks" wiped 2>"$dir/err"
wiped=$?
[ $wiped = 0 ] || skip "children that no handler is told of: MADV_WIPEONFORK does nothing here; they live, and record as their parent"

for path in ${KTR_PATHS:-rseq thread}; do
	for how in ${HOWS:-fork _Fork syscall armed nested thread exit}; do
		[ $wiped != 0 ] && [ $how = exit ] && continue
		run "$how" "$n" KTR_PATH=$path
		case $how in
		fork | armed) ;;
		*) [ $wiped = 0 ] || continue ;;
		esac
		is "$how, $path: events" "$(wc -l <"$dir/events")" "$(tail -n 1 "$dir/out")"
		wrong "$how, $path"
		case $how in
		nested) threads=$((2 * n + 1)) ;;
		thread) threads=$((2 * n)) ;;
		*) threads=$((n + 1)) ;;
		esac
		# Numbers come again where there are many.
		[ "$n" -ge 100 ] || is "$how, $path: threads" "$(cut -d' ' -f1 "$dir/events" | sort -u | wc -l)" $threads
	done
	[ -z "${HOWS:-}" ] || continue
	# The two events that a signal came between know the thread of before.
	run handler "$n" KTR_PATH=$path
	is "handler, $path: threads" "$(cut -d' ' -f1 "$dir/events" | sort -u | wc -l)" $((n + 1))
	strays=$(awk '$1 != $2' "$dir/events" | wc -l)
	[ "$strays" -le $((2 * n)) ] || fail "handler, $path: $strays events by others"
	# In the middle of a thread's first event: both go on with it, and each is a thread of its own from then on.
	run cold 1 KTR_PATH=$path
	children=$((($(tail -n 1 "$dir/out") - 2) / 44))
	[ $children -ge 4 ] || fail "cold, $path: $children children"
	is "cold, $path: events" "$(wc -l <"$dir/events")" "$(tail -n 1 "$dir/out")"
	is "cold, $path: threads" "$(cut -d' ' -f1 "$dir/events" | sort -u | wc -l)" $((2 * children + 1))
	strays=$(awk '$1 != $2' "$dir/events" | wc -l)
	[ "$strays" -le $((2 * children)) ] || fail "cold, $path: $strays events by others"
	[ $wiped = 0 ] || continue
	# With a writer in the parent: nobody waits for it in a child that has none.
	run exit 3 KTR_PATH=$path KTR_FILE="$dir/trace"
	is "trace, $path" "$("$ktr" dump "$dir/trace" | grep -c ' by [0-9]*: ')" "$(tail -n 1 "$dir/out")"
	rm -rf "$dir/trace"
	# Children that are to leave the session cannot without being told: they record nothing.
	for follow in own none; do
		run _Fork 3 KTR_PATH=$path KTR_FOLLOW_FORK=$follow
		is "$follow, $path" "$(cut -d' ' -f1 "$dir/events" | sort -u | wc -l)" 1
		wrong "$follow, $path"
	done
done
exit $failed
