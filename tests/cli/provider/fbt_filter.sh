#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Filters of functions' calls: by how long they took, how deep they are, and within whose calls. As many are recorded as
# the program itself counts, by the compiler's instrumentation, and they nest; through longjmp, tail calls, exceptions;
# with arguments; switched on and off from outside while calls are open; and what cannot be meant.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
cxx=${CXX:-c++}
export KTR_CONF= KTR_BUDGET=0
unset KTR_PROBES
long=2000000 # [ns]

$cc -std=gnu11 -D_GNU_SOURCE -O2 $cflags -finstrument-functions tests/programs/provider/fbt_filter.c -o "$dir/filter" $shared || {
	fail 'fbt_filter'
	exit 1
}
nm "$dir/filter" | awk '{ sub(/^0+/, "0x", $1); print $1, $3 }' >"$dir/names"

# ---- as many as there were ----

# Its own account goes to $dir/own, by name.
run() { # DEPTH OPTIONS...
	depth=$1
	shift
	rm -rf "$dir/t"
	"$ktr" run -e 262144 --fbt '*' "$@" -o "$dir/t" "$dir/filter" $long "$depth" >"$dir/counted" 2>"$dir/err" ||
		fail "$*: exit status $?: $(cat "$dir/err")"
	is "$*: lost" "$("$ktr" dump "$dir/t" | grep -c lost)" 0
	awk 'NR == FNR { name[$1] = $2; next } { $1 = name[$1]; print }' "$dir/names" "$dir/counted" | sort >"$dir/own"
}
ends() { # starts|ends: FUNCTION NUMBER of the trace
	"$ktr" dump --filter 'class == fbt' "$dir/t" | awk -v what="$1" 'NR > 1 && $7 == what { n[$6]++ } END { for (f in n) print f, n[f] }' |
		sort
}
counted() { # WHAT COLUMN: the program's count is that of the beginnings; of the ends, but of what longjmp left
	awk -v c="$2" '$c { print $1, $c }' "$dir/own" >"$dir/wanted"
	[ -s "$dir/wanted" ] || fail "$1: nothing was counted"
	is "$1: begun" "$(ends starts | paste -sd,)" "$(paste -sd, "$dir/wanted")"
	is "$1: ended" "$(ends ends | grep -v '^leaves ' | paste -sd,)" "$(grep -v '^leaves ' "$dir/wanted" | paste -sd,)"
}
for depth in 1 2 3 4 40; do
	run $depth --depth $depth
	counted "depth $depth" 2
done
for path in rseq thread; do
	export KTR_PATH=$path
	run 3 --caller caller
	counted "$path, caller" 3
	run 3 --caller 'call?r' --depth 3
	counted "$path, caller and depth" 4
	run 100000 --depth 100000
	counted "$path, deep" 2
done
unset KTR_PATH

# A caller that ends with a jump is one for what it jumps to, if nobody counts its end.
echo '#define KEEP __attribute__((noinline))
KEEP int last(int n) { __asm__ volatile("" : "+r"(n)); return n; }
KEEP int next(int n) { int k = last(n); __asm__ volatile("" : "+r"(k)); return k + 1; }
KEEP int first(int n) { __asm__ volatile("" : "+r"(n)); return next(n); }
int main(void) { return next(1) + first(2) + last(3) - 8; }' >"$dir/jumps.c"
$cc -O2 $cflags "$dir/jumps.c" -o "$dir/jumps" $shared || fail 'jumps'
for functions in 'next,last' 'first,next,last'; do
	rm -rf "$dir/t"
	"$ktr" run --fbt "$functions" --caller first -o "$dir/t" "$dir/jumps" 2>"$dir/err" || fail "jumps: $(cat "$dir/err")"
	is "jumps, $functions" "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| //p' | grep -v '/\* [a-z]*: ' | sed 1d | paste -sd,)" \
		"$(echo "$functions" | sed -n 's/^first.*/first();,/p')next() {,  last();,} /* next() */"
done

# What the program took for long by its own clock is there; what was not, by a clock around it, is not.
took() { # WHAT
	ends ends >"$dir/got"
	awk -v what="$1" 'NR == FNR { n[$1] = $2; next } { got = n[$1] + 0; delete n[$1]; wanted += $5
		if (got < $5 || got > $6) print "FAILED: " what ": " $1 ": " got " calls, not " $5 " to " $6 }
		END { if (!wanted) print "FAILED: " what ": nothing took long"; for (f in n) print "FAILED: " what ": " f }' \
		"$dir/got" "$dir/own" >"$dir/wrong"
	if [ -s "$dir/wrong" ]; then cat "$dir/wrong"; failed=1; fi
	[ "$(ends starts | paste -sd,)" = "$(paste -sd, "$dir/got")" ] || grep -q '^leaves' "$dir/own" || fail "$1: pairs"
	"$ktr" report --functions --json "$dir/t" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["functions"]:
    if row["calls"] and (row["mean_ns"] < '$long' or row["self_ns"] > row["total_ns"]):
        print("FAILED:", sys.argv[1], row)' "$1" >"$dir/wrong"
	if [ -s "$dir/wrong" ]; then cat "$dir/wrong"; failed=1; fi
}
for path in rseq thread; do
	export KTR_PATH=$path
	run 3 --longer ${long}ns
	took "$path, longer"
	is "$path: within" "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| //p' | sed -n 's/^ *lasts();$/lasts/p' | sort -u)" lasts
done
unset KTR_PATH
# lasts() is called by work(), which is called by starts() or caller(): of these none is without the other.
"$ktr" dump --calls "$dir/t" | awk -F'[|]' '/\|/ { thread = $1; sub(/ *$/, "", thread); sub(/.* /, "", thread)
	name = $2; sub(/[(].*/, "", name); level = match(name, /[a-z]/); sub(/ */, "", name); outer = inner[thread, level - 2]
	if (name == "lasts" && outer != "work") print "FAILED: lasts() in " outer
	if (name == "work" && outer !~ /^(starts|caller)$/) print "FAILED: work() in " outer
	if (name ~ /^[a-z]+$/) { inner[thread, level] = name; n += name == "lasts" } }
	END { if (!n) print "FAILED: no call of lasts()" }' >"$dir/wrong"
if [ -s "$dir/wrong" ]; then head -n 5 "$dir/wrong"; failed=1; fi
run 3 --longer ${long}ns --depth 2
is 'longer and depth' "$(ends ends | awk '{ print $1 }' | paste -sd,)" caller,starts,work
run 3 --longer ${long}ns --caller work
is 'longer and caller' "$(ends ends | grep -vE '^(work|lasts|lands|leaves|again|turns|about|brief) ')" ''

# ---- arguments: the end has its result, the beginning none ----

if [ -e /usr/include/elfutils/libdwfl.h ]; then
	echo '#include <time.h>
	__attribute__((noinline)) int slow(int n) { struct timespec t = { 0, 3000000 }; nanosleep(&t, 0); return n + 1; }
	__attribute__((noinline)) int quick(int n) { __asm__ volatile("" : "+r"(n)); return n + 2; }
	int main(void) { return quick(1) + slow(4) + quick(2) != 12; }' >"$dir/typed.c"
	$cc -g -O1 $cflags "$dir/typed.c" -o "$dir/typed" $shared || fail 'typed'
	rm -rf "$dir/t"
	XDG_CACHE_HOME="$dir/cache" "$ktr" run --fbt 'slow,quick' --args --longer 1ms -o "$dir/t" "$dir/typed" 2>"$dir/err" || fail "typed: $(cat "$dir/err")"
	is 'with arguments' "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| //p' | grep -E '^(slow|quick)' | paste -sd,)" 'slow() = 5;'
	rm -rf "$dir/t"
	XDG_CACHE_HOME="$dir/cache" "$ktr" run --fbt 'slow,quick' --args --depth 1 -o "$dir/t" "$dir/typed" 2>"$dir/err" || fail "typed: $(cat "$dir/err")"
	is 'arguments and depth' "$("$ktr" dump --calls "$dir/t" | sed -n 's/^.*| //p' | grep -E '^(slow|quick)' | paste -sd,)" \
		'quick(n=1) = 3;,slow(n=4) = 5;,quick(n=2) = 4;'
fi

# ---- results are as without ----

$cxx -std=gnu++17 $cflags -O2 tests/programs/provider/fbt_ways.cc -o "$dir/ways" $shared || fail 'fbt_ways'
ways() { # SPEC VARIABLE=VALUE...
	is "$*" "$(KTR_PROBES=$1 && shift && env KTR_PROBES="$KTR_PROBES" "$@" "$dir/ways" 3 20 2>&1)" '60 rounds, 0 wrong'
}
KTR_PROBES=
for spec in fbt::: fbt:::entry fbt:::return 'fbt:::,fbt_caller::throws*:,fbt_caller::fib*:'; do
	ways "$spec" KTR_FBT_DEPTH=2
	ways "$spec" KTR_FBT_LONGER=1us
	ways "$spec" KTR_FBT_LONGER=1h KTR_PATH=thread
	ways "$spec" KTR_FBT_WITHIN=1 KTR_FBT_LONGER=10us KTR_FBT_DEPTH=5
done
unset KTR_PROBES

# ---- from outside, while calls are open ----

mkfifo "$dir/in" "$dir/out"
KTR_PROBES='fbt::serve:,fbt::caller:,fbt::work:' KTR_SESSION=serve KTR_MASK=fbt "$dir/filter" <"$dir/in" >"$dir/out" 2>"$dir/err" &
pid=$!
at_exit() { kill "$pid" 2>/dev/null; }
exec 3>"$dir/in" 4<"$dir/out"
say() { # WORD
	echo "$1" >&3
	[ "$1" = end ] || IFS= read -r answer <&4 || fail "$1: no answer"
}
knob() { # NAME=VALUE WANTED
	is "$1" "$("$ktr" sysctl -s serve "debug.ktr.$1" 2>&1)" "debug.ktr.$2"
}
calls() { # names and ends of the session's calls, from the NUMBERth call on that lies in no other
	"$ktr" dump --calls -s serve | sed -n 's/^.*| //p' | grep -v '/\* [a-z]*: ' | awk -v n="$1" '/^[a-z]/ && NR > 1 { k++ } k > n { sub(/^ */, ""); print }' |
		paste -sd' '
}
all='serve() { caller() { work(); caller() { work(); } /* caller() */ } /* caller() */ } /* serve() */'
say work
is 'without' "$(calls 0)" "$all serve(); /* goes on */"
knob fbt_longer=1h 'fbt_longer: 0s -> 1h'
say work
say work
say work
is 'none so long' "$(calls 0)" "$all serve() { } /* serve() */"
# One begins now, and ends when there is no filter any more.
say within
knob fbt_longer=0 'fbt_longer: 1h -> 0s'
say none
is 'open as it was switched off' "$(calls 2)" 'serve() { serve(); } /* serve() */ serve(); /* goes on */'
knob fbt_depth=2 'fbt_depth: 0 -> 2'
say work
say work
is 'two deep' "$(calls 3)" 'serve() { caller() { work(); caller(); } /* caller() */ } /* serve() */ serve() { caller(); } /* serve() */ serve(); /* goes on */'
knob fbt_depth=0 'fbt_depth: 2 -> 0'
is 'a caller' "$("$ktr" probe enable -s serve 'fbt_caller::caller:' 2>&1)" '1 probe enabled'
say work
say work
is 'within' "$(calls 5)" "$all caller() { work(); caller() { work(); } /* caller() */ } /* caller() */"
is 'none' "$("$ktr" probe disable -s serve 'fbt_caller::caller:' 2>&1)" '1 probe disabled'
say work
say work
is 'and without again' "$(calls 7)" "caller() { work(); caller() { work(); } /* caller() */ } /* caller() */ $all serve(); /* goes on */"
is 'as it is listed' "$("$ktr" probe list -s serve 'fbt_caller::call*:' | awk 'NR > 1 { print $1, $2 }')" 'fbt_caller:filter:caller:within off'
is 'the nearest name' "$("$ktr" probe enable -s serve 'fbt_caller::callre:within' 2>&1)" \
	'ktr probe: unknown probe "fbt_caller::callre:within", the nearest is "fbt_caller::caller:within"'
say end
wait $pid
is 'it ends' $? 0
exec 3>&- 4<&-

# ---- what cannot be meant ----

refused() { # WANTED OPTIONS...
	wanted=$1
	shift
	is "$*" "$("$ktr" run "$@" -o "$dir/no" "$dir/filter" 2>&1 </dev/null | head -n 1)" "ktr run: $wanted"
}
refused '--longer 10: of what unit? 10us, 1ms, 2s' --fbt work --longer 10
refused '--longer 0us: not a duration such as 10us or 1ms' --fbt work --longer 0us
refused '--longer long: not a duration such as 10us or 1ms' --fbt work --longer long
refused '--depth: 0 is not between 1 and 1073741824' --fbt work --depth 0
refused '--longer is for functions: --fbt GLOBS' --longer 10us
refused '--depth is for functions: --fbt GLOBS' --depth 1
refused '--caller is for functions: --fbt GLOBS' --caller work
is 'nobody is such a caller' "$("$ktr" run --fbt work --caller cafler -o "$dir/no" "$dir/filter" 1 1 2>&1 >"$dir/counted" | head -n 1)" \
	'ktr: debug.ktr.probes: no probe fits fbt_caller::cafler:within, the nearest is fbt_caller::caller:within'
is 'and nothing is recorded' "$("$ktr" dump --filter 'class == fbt' "$dir/no" | grep -c ' work ')" 0

exit $failed
