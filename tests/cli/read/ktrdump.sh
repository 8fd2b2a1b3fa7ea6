#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktrdump prints what FreeBSD's does: its columns, widths, order and numbers; and for -ct what schedgraph.py
# takes, of states, of spans and of plain points alike.
. "$(dirname "$0")/../lib.inc"
ktrdump=$O/bin/ktrdump

# Every line but the first two is like that.
lines() { # expression
	n=$(sed 1,2d out | grep -vcE -e "^$1\$")
	is "lines unlike $1" "$n" 0
	is "lines" "$(wc -l <out)" 102
}

cat >"$dir/program.c" <<'END'
#include <ktr.h>
#include <unistd.h>
/* What is recorded: s states, c counters, n points, f spans, p plain points. */
static void record(const char *what, int i)
{
	for (; *what; what++)
		switch (*what) {
		case 's':
			KTR_STATE1(KTR_SCHED, "thread", i % 2 ? "odd" : "even", i % 3 ? "running" : "idle", "prio:%d", i);
			break;
		case 'c':
			KTR_COUNTER0(KTR_GEN, "load", "depth", i - 10);
			break;
		case 'n':
			KTR_POINT0(KTR_SCHED, "thread", i % 2 ? "odd" : "even", "wokeup");
			break;
		case 'f':
			KTR_START1(KTR_VFS, "syscall", "open \"it\"", i, "pid:%d", 7);
			KTR_STOP0(KTR_VFS, "syscall", "open \"it\"", i);
			break;
		default:
			CTR2(KTR_NET, "got %d of \"%s\"", i, "a, b: c\n");
		}
}
/* A hundred rounds; with a second argument another one for each byte from stdin. */
int main(int argc, char **argv)
{
	char byte;

	for (int i = 0; i < 100; i++)
		record(argv[1], i);
	for (int i = 100; argc > 2 && read(0, &byte, 1) == 1; i++)
		record(argv[1], i);
	return 0;
}
END
$cc -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/program.c" -o "$dir/program" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$dir" || exit 1

# Without the classes of the library's own events.
classes=sched,gen,vfs,net
keep() { # session, arguments of the program
	name=$1
	shift
	KTR_KEEP_SESSION=1 KTR_SESSION=$name KTR_MASK=$classes ./program "$@" || fail "program $*"
}
keep plain p

# Columns and their headings.
status 0 "$ktrdump" -N plain
is "heading" "$(sed 2q out)" "$(printf 'index  trace\n------ ----- ')"
is "last line" "$(tail -n 1 out)" '     0 got 0 of "a, b: c\n"'
is "first line" "$(sed -n 3p out)" '    99 got 99 of "a, b: c\n"'
lines ' {4,5}[0-9]+ got [0-9]+ of .*'
status 0 "$ktrdump" -N plain -cHtf
is "heading of -cHtf" "$(sed 2q out)" \
	"$(printf '%-6s %-3s %-16s %-40s %-18s %s\n' index cpu timestamp 'file and line' tid trace
	printf '%s ' ------ --- ---------------- ---------------------------------------- ------------------ -----)"
at=$(grep -n 'CTR2(' program.c | cut -d: -f1)
lines "[ 0-9]{6} [ 0-9]{3} [ 0-9]{16} [^ ]*/program.c:$at +[0-9]+ +got [0-9]+ of .*"
# With FreeBSD's own formats.
"$ktrdump" -N plain -ctHq | awk '{ at = sprintf("%6d %3d %16s %-18s ", $1, $2, $3, $4)
	if (substr($0, 1, length(at)) != at) { print "unlike FreeBSD: " $0; exit 1 } }' || failed=1

# Newest first, and the time to the line above.
status 0 "$ktrdump" -N plain -tq
sed 's/^ *//; s/ .*//' out >numbers
seq 99 -1 0 | cmp -s - numbers || fail "numbers of a session"
awk '{ print $2 }' out >times
sort -rn times | cmp -s - times || fail "a session is not newest first"
# Each look maps the clock of a session anew, by some nanoseconds: what is compared is of one look.
status 0 "$ktrdump" -N plain -trq
awk 'NR == 1 && $2 != 0 || $2 < 0 || $2 > 1e12 { wrong++ } END { exit wrong > 0 }' out || fail "-tr of a session"
status 0 "$ktrdump" -N plain -q
"$ktrdump" -N plain -rq | cmp -s - out || fail "-r without -t"
for same in "-e plain" "-s plain"; do
	# shellcheck disable=SC2086
	"$ktrdump" $same -q | cmp -s - out || fail "$same"
done
"$ktrdump" -N plain -l -q | tac | cmp -s - out || fail "-l is not oldest first"
status 0 "$ktrdump" -N plain -o file
"$ktrdump" -N plain | cmp -s - file || fail "-o"

# A trace, oldest first.
status 0 "$ktr" run -s traced -o plain.out -m $classes ./program p
status 0 "$ktrdump" -i plain.out -tf
sed 1,2d out | awk '{ print $1 }' >numbers
seq 0 99 | cmp -s - numbers || fail "numbers of a trace"
sed 1,2d out | awk '{ print $2 }' >times
sort -n times | cmp -s - times || fail "a trace is not oldest first"
status 0 "$ktrdump" -i plain.out -l -N whatever -trq
awk 'NR == FNR { at[NR] = $1; next } $2 != (FNR > 1 ? at[FNR] - at[FNR - 1] : 0) { wrong++ } END { exit wrong > 0 }' \
	times out || fail "-tr of a trace"
status 0 "$ktrdump" -i plain.out -q --filter 'arg0 >= 98'
is "--filter" "$(cat out)" "$(printf '     0 got 98 of "a, b: c\\n"\n     1 got 99 of "a, b: c\\n"')"

# -ct: each kind of events alone, and all together.
takes() { # what: is `file` what schedgraph.py takes, of the events in `told`?
	python3 "$top/tests/page/exports.py" schedgraph file told >log 2>&1 || fail "$1: $(tail -n 1 log)"
}
for what in s c n f p scnfp; do
	status 0 "$ktr" run -s "as_$what" -o "$what.out" -m $classes ./program $what
	"$ktr" json "$what.out" >told || fail json
	"$ktr" export schedgraph "$what.out" -o file || fail "export of $what"
	takes "export of $what"
	status 0 "$ktrdump" -ctq -i "$what.out"
	tac out >file
	takes "-ct -i $what"
	keep "of_$what" $what
	"$ktr" json -s "of_$what" >told || fail json
	status 0 "$ktrdump" -ct -N "of_$what"
	is "heading of -ct" "$(head -n 1 out)" 'index  cpu timestamp        trace'
	sed 1,2d out >file
	takes "-ct of $what"
done
# Any other columns: the events' own texts.
for columns in -ctf -ctr -c -t; do
	"$ktrdump" $columns -q -N of_p | grep -q KTRGRAPH && fail "$columns of plain points"
done

# Followed, line by line, until the program ends.
mkfifo in
KTR_SESSION=live KTR_MASK=net ./program p wait <in &
program=$!
exec 4>in
await '"$ktr" dump -s live -q -n 1 >out 2>/dev/null && [ -s out ] || ! kill -0 $program'
"$ktrdump" -l -N live -q >out 2>err 4>&- &
tail=$!
for i in 100 101 102; do
	printf x >&4
	await 'grep -q "got $i of" out'
done
exec 4>&-
wait $program
wait $tail || fail "-l ends with $?: $(cat err)"
is "lines of -l" "$(awk '{ print $1 }' out | tr '\n' ' ')" "$(seq 0 102 | tr '\n' ' ')"

# What goes wrong.
status 2 "$ktrdump" -x
status 2 "$ktrdump" plain
status 2 "$ktrdump" -M a -i b
status 2 "$ktrdump" -i plain.out -s plain
status 1 "$ktrdump" -i nothing
status 1 "$ktrdump" -N nothing
status 1 "$ktrdump" -M "$dir/program"
grep -q 'nor a core' err || fail "not a core: $(cat err)"
status 1 "$ktrdump" -i plain.out -o /dev/full
status 1 "$ktrdump" -ct -N plain -o /dev/full
status 0 "$ktrdump" --help
is "a reader that leaves" "$("$ktrdump" -i plain.out | head -n 1)" "index  trace"
exit $failed
