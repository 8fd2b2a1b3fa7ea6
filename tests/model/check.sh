#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# check.sh: lets spin check the models of ktr's ring. One line per run: what spin is expected to
# say, what it said. A run is expected to hold ("holds": every property, in every state), or to
# break one property by name, because a rule is broken on purpose (-DBREAK_x), because the reader
# has to get into some situation (-DWITNESS_x), or because the environment does not keep what ktr
# asks of it. Exits 1 when a run says anything else, 2 when it cannot be run at all.
#
# usage: check.sh [-k] [PATTERN]    only runs whose line contains PATTERN; -k keeps the output and
#                                   the trails, and says where
# environment: CC (cc), SPIN (spin), TMPDIR

set -u
cd "$(dirname "$0")" || exit 2
models=$(pwd)
cc=${CC:-cc}
spin=${SPIN:-spin}
keep=no
if [ "${1:-}" = -k ]; then
	keep=yes
	shift
fi
pattern=${1:-}

command -v "$spin" >/dev/null || {
	echo "check.sh: $spin not found; on Debian: apt-get install spin" >&2
	exit 2
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ktr-model.XXXXXX") || exit 2
[ $keep = yes ] || trap 'rm -rf "$dir"' EXIT
trap 'exit 2' HUP INT TERM PIPE
bad=0
runs=0

# verdict OUTPUT: holds, the name of the broken property, or what went wrong.
verdict()
{
	if grep -q 'max search depth too small\|reached -DMEMLIM\|out of memory' "$1"; then
		echo "search cut short"
	elif grep -q 'assertion violated' "$1"; then
		sed -n 's/.*assertion violated *\([^ ]*\).*/\1/p' "$1" | head -1
	elif grep -q '^pan:[0-9]*: invalid end state' "$1"; then
		echo "stuck"
	elif grep -q 'errors: 0$' "$1"; then
		echo "holds"
	else
		echo "no verdict"
	fi
}

# run EXPECTED TITLE MODEL [-Dx...]
run()
{
	expected=$1
	title=$2
	model=$3
	shift 3
	case "$title $model $*" in
	*"$pattern"*) ;;
	*) return ;;
	esac
	runs=$((runs + 1))
	where=$dir/$runs
	mkdir "$where" && cd "$where" || exit 2
	"$spin" -a "$@" "$models/$model.pml" >spin.out 2>&1 &&
	    "$cc" -O1 -w -DSAFETY -DMEMLIM=3000 -o pan pan.c >cc.out 2>&1 &&
	    timeout 600 ./pan -m1000000 >pan.out 2>&1
	found=$(verdict pan.out 2>/dev/null)
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.out 2>/dev/null)
	if [ "$found" = "$expected" ]; then
		mark=ok
	else
		mark=BAD
		bad=$((bad + 1))
	fi
	printf '%-4s%-48s %s: expected %s, found %s (%s states)\n' "$mark" "$title" "$model" \
	    "$expected" "$found" "${states:-0}"
	if [ $mark = BAD ]; then
		printf '    run again: %s -a %s %s.pml; output:\n' "$spin" "$*" "$model"
		cat spin.out cc.out pan.out 2>/dev/null | head -20 | sed 's/^/    /'
	fi
	cd "$models" || exit 2
	[ $keep = yes ] || rm -rf "$where"
}

torn=no_torn_entry_is_accepted
exact=losses_are_exact
landed=no_store_lands_in_a_closed_area
frozen=nothing_is_recorded_when_frozen
time=time_never_goes_back
turn=time_is_of_this_turn
asked=settled_events_do_as_asked
never=this_never_happens

sc=-DMM=0
tso=-DMM=1
arm=-DMM=2

# The protocol as it is: rseq path.
run holds "rseq, sequential" record $sc -DLAST=7
run holds "rseq, sequential, entries of two words" record $sc -DLAST=6 -DN_WORDS=2
run holds "rseq, sequential, events up to 3 slots" record $sc -DLAST=6 -DMAX=3
run holds "rseq, sequential, clear" record $sc -DLAST=5 -DCLEAR
run holds "rseq, x86-64 store buffer" record $tso -DLAST=5
run holds "rseq, arm64 store buffer" record $arm -DLAST=6
run holds "rseq, arm64, cont[t] read twice" record $arm -DLAST=5 -DCONT_TWICE
# Thread path.
run holds "thread, x86-64 store buffer" record $tso -DTHREAD -DLAST=8
run holds "thread, arm64 store buffer" record $arm -DTHREAD -DLAST=9
run holds "thread, arm64, 8 slots, events up to 3" record $arm -DTHREAD -DCAP=8 -DMAX=3 -DLAST=9
run holds "thread, arm64, cont[t] read twice" record $arm -DTHREAD -DLAST=8 -DCONT_TWICE
run holds "thread, arm64, clear" record $arm -DTHREAD -DLAST=6 -DCLEAR
# The situations that make all this interesting do come about.
run $never "a torn word is loaded and refused" record $sc -DLAST=6 -DWITNESS_REFUSED
run $never "a reader starts in the middle of an event" record $sc -DLAST=6 -DWITNESS_SKIP
run $never "losses are known from cont[t] alone" record $sc -DLAST=6 -DWITNESS_CONT_T
run $never "others record after a kill" record $sc -DLAST=6 -DWITNESS_AFTER_KILL
run $never "entries of the new area are accepted" resize $sc -DLAST=4 -DN_WRITERS=1 -DWITNESS_KEPT

# Rules of recording, broken.
run $torn "no restart after preemption" record $sc -DBREAK_NO_RESTART
run $torn "commit before the payload" record $sc -DBREAK_COMMIT_FIRST
run $time "clock read before the sequence" record $sc -DBREAK_CLOCK_OUTSIDE
run $exact "cont[t] in place, t not flipped" record $sc -DBREAK_CONT_IN_PLACE
run $exact "ordinals count within the event" record $sc -DBREAK_ORDINAL
run $torn "rseq, arm64: head not read by LDAR" record $arm -DBREAK_NO_LDAR
run $torn "thread, arm64: head not read by LDAR" record $arm -DTHREAD -DBREAK_NO_LDAR
run $torn "rseq, arm64: head not stored by STLR" record $arm -DBREAK_NO_STLR
run $torn "thread, arm64: head not stored by STLR" record $arm -DTHREAD -DBREAK_NO_STLR
run $torn "thread: two writers on one ring" record $sc -DTHREAD -DN_WRITERS=2 -DBREAK_SHARED
# Rules of reading, broken.
run $torn "no margin of MAX_SLOTS" record $sc -DBREAK_NO_MARGIN
run $torn "margin one slot too small" record $sc -DBREAK_SMALL_MARGIN
run nothing_is_given_up_too_early "margin too big" record $sc -DCAP=8 -DBREAK_WIDE_MARGIN
run $torn "h2 not read" record $sc -DBREAK_NO_H2
run $torn "h2 read before the copy" record $sc -DBREAK_EARLY_H2
run $torn "h1 read after the copy" record $sc -DBREAK_LATE_H1
run head_never_goes_back "head read in two halves" record $sc -DBREAK_HEAD_HALVES
run no_continuation_is_taken_for_an_event "continuation not skipped" record $sc -DBREAK_NO_SKIP
run $exact "losses counted in slots" record $sc -DBREAK_COUNT_SLOTS
run $exact "cont[t] without reading head again" record $sc -DBREAK_NO_REREAD
run $torn "clear resets head" record $sc -DLAST=5 -DBREAK_CLEAR_RESET

# Changes of geom.
run holds "resize" resize $sc -DLAST=3
run holds "resize to 8 slots" resize $sc -DLAST=4 -DN_WRITERS=1 -DCAP1=8
run holds "resize, x86-64 store buffer" resize $tso -DLAST=3 -DN_WRITERS=1
run holds "resize, arm64 store buffer" resize $arm -DLAST=4 -DN_WRITERS=1
run holds "resize twice, arm64, two processes" resize $arm -DLAST=4 -DN_CHANGES=2 -DNO_READER
run holds "resize, close, arm64, one process" resize $arm -DLAST=4 -DN_CHANGES=2 -DCLOSE \
    -DNO_READER -DONE_PROCESS
run holds "close" resize $sc -DLAST=4 -DCLOSE
run holds "freeze, arm64" resize $arm -DLAST=4 -DN_WRITERS=1 -DFREEZE
run holds "thread: the owner resizes, twice, arm64" resize $arm -DTHREAD -DLAST=4 -DN_CHANGES=2
run holds "thread: the owner resizes, freezes, arm64" resize $arm -DTHREAD -DLAST=4 -DN_CHANGES=2 \
    -DFREEZE
run $landed "resizer not pinned" resize $sc -DLAST=4 -DBREAK_UNPINNED
run $frozen "freezer not pinned" resize $sc -DLAST=4 -DFREEZE -DBREAK_UNPINNED
run $landed "thread: not the owner resizes" resize $arm -DTHREAD -DLAST=4 -DBREAK_UNPINNED
run $landed "geom not compared in the sequence" resize $sc -DLAST=4 -DBREAK_GEOM_OUTSIDE
run $torn "head not checked by the resizer" resize $sc -DLAST=4 -DBREAK_NO_HEAD_CHECK
run $torn "first raised after geom" resize $sc -DLAST=4 -DBREAK_LATE_FIRST
run $landed "closed bit ignored" resize $sc -DLAST=4 -DCLOSE -DBREAK_IGNORE_CLOSED
run $frozen "closed bit of a frozen ring ignored" resize $sc -DLAST=4 -DFREEZE -DBREAK_IGNORE_CLOSED
run $landed "private copy of two words" resize $sc -DLAST=3 -DN_CHANGES=2 -DONE_PROCESS \
    -DNO_READER -DBREAK_SPLIT_COPY
run $landed "arm64: geom stored by a plain store" resize $arm -DLAST=3 -DNO_READER \
    -DBREAK_PLAIN_GEOM
run $torn "geom not read again by the reader" resize $sc -DLAST=4 -DBREAK_GEOM_ONCE
run $torn "first read before geom" resize $sc -DLAST=4 -DBREAK_EARLY_FIRST

# The clock, read at every k-th event.
run holds "every 3rd" clock -DLAST=9
run holds "every 3rd, new kernel" clock -DLAST=9 -DKERNEL_V2
run $time "every 3rd, time kept by the thread, new kernel" clock -DOWN_TIME -DKERNEL_V2
run $time "every 3rd, a continuation is passed over, new kernel" clock -DBREAK_CONTINUED -DKERNEL_V2
run $turn "every 3rd, no test for a switch" clock -DBREAK_NO_TEST
run $turn "every 3rd, rseq_cs tested before the sequence" clock -DBREAK_TEST_OUTSIDE
run $turn "every 3rd, any rseq_cs will do" clock -DBREAK_ANY_CS
# A site that is ready.
run holds "one number instead of what decides" ready
run holds "one number, three changes each" ready -DCHANGES=3 -DRECORDERS=1
run $never "a ready site's event after all changes" ready -DCHANGES=2 -DWITNESS_USUAL
run $asked "changes are counted before them alone" ready -DBREAK_NOT_AFTER
run $asked "who changes derives once" ready -DCHANGES=2 -DBREAK_ONCE
run $asked "the number is read after what decides" ready -DBREAK_LATE_NUMBER

[ $keep = no ] || echo "output kept in $dir"
if [ $runs -eq 0 ]; then
	echo "check.sh: no run matches '$pattern'" >&2
	exit 2
fi
echo "$runs runs, $bad unexpected"
[ $bad -eq 0 ]
