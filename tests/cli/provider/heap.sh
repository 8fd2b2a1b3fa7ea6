#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The provider heap, under the agent: `ktr heap` counts of a program that knows nothing of ktr what it counts itself, to the
# block and the byte, through malloc, calloc, realloc and the aligned ones, by threads that give back each other's; what the C
# library has in use more is what the blocks add up to; a planted leak is named; calls that get nothing, and children; samples
# are near; another allocator's calls are seen, too.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
case $(uname -m) in
x86_64) ;;
*)
	skip 'memory is of x86-64'
	exit 0
	;;
esac
host=$dir/heap_host
cxx=${CXX:-c++}
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin tests/programs/provider/heap_host.c -o "$host" -lpthread || exit 1
unset LD_PRELOAD

# record WHAT ARGUMENTS...: of the host
record() {
	rm -rf "$dir/t"
	what=$1
	shift
	status 0 "$ktr" run --agent -e 256k --heap "$what" -o "$dir/t" "$host" "$@"
	"$ktr" heap --json "$dir/t" >"$dir/heap"
}
counts() {
	is "$1" "$(python3 tests/cli/provider/heap.py sums "$dir/heap" work)" "$(sed 's/ moved=.*//' "$dir/out")"
	is "$1: nothing else" "$(grep -o '"\(unknown\|unseen\|lost\|failed\)": [0-9]*' "$dir/heap" | tr -d ' "' | paste -sd' ')" \
		'failed:0 unknown:0 unseen:0 lost:0'
}

for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	record all count 4 5000 1
	counts 'with stacks'
done
unset KTR_PATH
# One function gets memory in several places, which are lines of their own.
"$ktr" heap --by got -n 0 --depth 0 "$dir/t" | sed -n 's/^ *[0-9]* .* %  *[0-9]*  //p' >"$dir/places"
is 'in one function' "$(grep -cE '^(get|work_at|work)\+0x[0-9a-f]+ < ' "$dir/places" | awk '{ print ($1 > 4) }')" 1
is 'no two read the same' "$(sort "$dir/places" | uniq -d)" ''
record all leak 300
is 'a planted leak' "$("$ktr" heap --by live -n 1 --depth 2 "$dir/t" | sed -n 's/^ *\(300000 .*\)/\1/p' | tr -s ' ')" \
	'300000 98.7 % 300 planted_leak < leak < ...'
is 'not for a moment: another was got before' "$("$ktr" heap --by brief -n 1 --depth 1 "$dir/t" | grep -c 'tidy')" 0
is 'at the peak' "$("$ktr" heap --by peak -n 0 --depth 1 "$dir/t" | grep -cE '^ *(300000 .* 300  planted_leak|4096 .* 1  _IO_file_doallocate) < ...$')" 2
is 'folded' "$("$ktr" heap --folded --by live "$dir/t" | grep -c ';leak;planted_leak 300000$')" 1
# Drawn: the same bytes, as lines, a picture and a page.
for form in svg html folded; do
	status 0 "$ktr" heap -o "$dir/heap.$form" "$dir/t"
done
is 'drawn: lines' "$(grep -c '^heap_host;.*;main;leak;planted_leak 300000$' "$dir/heap.folded")" 1
is 'drawn: all of it' "$(awk '{ n += $NF } END { print n }' "$dir/heap.folded")" \
	"$("$ktr" heap "$dir/t" | sed -n 's/^\([0-9]*\) bytes in .* are in use at the end$/\1/p')"
is 'drawn: a picture' "$(grep -o 'planted_leak got [0-9.]* % of [0-9,]* bytes in use at the end<' "$dir/heap.svg" |
	sed 's/ [0-9.]* %.*bytes/ bytes/')" 'planted_leak got bytes in use at the end<'
is 'drawn: its box' "$(grep -c '<title>planted_leak: 300,000 bytes, ' "$dir/heap.svg")" 1
is 'drawn: a page' "$(grep -c '"unit":"byte"' "$dir/heap.html")" 1
"$ktr" heap -o "$dir/heap.svg" --by got "$dir/t"
is 'drawn: blocks' "$(grep -c '<title>planted_leak: 300 blocks, ' "$dir/heap.svg")" 1
status 2 "$ktr" heap -o "$dir/heap.png" "$dir/t"
status 2 "$ktr" heap -o "$dir/heap.svg" --json "$dir/t"
status 1 "$ktr" heap -o "$dir/none/heap.svg" "$dir/t"
status 1 "$ktr" heap -o "$dir/none.svg" --by mapped "$dir/t"
[ ! -e "$dir/none.svg" ] || fail 'a file of nothing'
record callers leak 300
is 'by who called' "$("$ktr" heap --by live -n 1 "$dir/t" | sed -n 's/^ *\(300000 .*\)/\1/p' | tr -s ' ')" \
	'300000 98.7 % 300 planted_leak'

# What it maps, by parts, anew, moved, and in vain.
for what in all callers 512k; do
	record "$what" maps
	is "$what: mapped" "$(python3 tests/cli/provider/heap.py mapped "$dir/heap")" "$(cat "$dir/out")"
	is "$what: all that was unmapped was seen mapped" "$(grep -c '"unknown_bytes": 0$' "$dir/heap")" 1
	is "$what: where" "$("$ktr" heap --by mapped --depth 2 "$dir/t" | awk '/ % .*maps/ { n += $1 } END { print n }')" \
		"$(awk '{ print $5 }' "$dir/out")"
done

# What the C library says of itself: of all threads, ktr's own too, which may come between.
for try in 1 2 3 4 5; do
	rm -rf "$dir/t"
	status 0 env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$ktr" run --agent --heap all -o "$dir/t" "$host" arena
	"$ktr" json --filter 'class == heap' "$dir/t" >"$dir/events"
	python3 tests/cli/provider/heap.py arena "$dir/events" 123457 >"$dir/arena"
	cmp -s "$dir/arena" "$dir/out" && break
done
is "as the C library has it, in $try tries" "$(cat "$dir/arena")" "$(cat "$dir/out")"

record all fail
is 'answers' "$(cat "$dir/out")" 'as they should be'
is 'what was not to be had' "$(grep -c '"failed": 4' "$dir/heap")" 1
is 'what could not be moved is there still' "$("$ktr" heap --by live "$dir/t" | grep -c '^ *78 .* 1  main')" 1

# A child has its parent's blocks, of which nobody told it.
rm -rf "$dir/t"
status 0 "$ktr" run --agent --heap all -o "$dir/t" "$host" fork
is 'of both, each at its end' "$("$ktr" heap "$dir/t" | grep -c '^[0-9]* bytes in [0-9]* blocks are in use at the end, those of each process at its own$')" 1
is 'whose' "$("$ktr" heap --by got -n 0 "$dir/t" | grep -cE ' (fork_one|main)\+0x[0-9a-f]* < .*, heap_host \([0-9]+\)$')" 2
is 'a child' "$("$ktr" heap "$dir/t" | grep '^1 blocks were given back that were not seen got')" \
	'1 blocks were given back that were not seen got'

record 16k count 4 20000 7
# shellcheck disable=SC2046 # two numbers
is 'samples' "$(python3 tests/cli/provider/heap.py near "$dir/heap" \
	$(sed 's/.* got_bytes=\([0-9]*\) .* live_bytes=\([0-9]*\) .*/\1 \2/' "$dir/out") | uniq)" near
is 'are said to be some' "$("$ktr" heap "$dir/t" | grep -c 'samples, one in 16384 bytes: these are estimates')" 1

# C++'s operators: libstdc++'s, which call malloc(3), and below those that other allocators bring.
$cxx -std=c++17 -O1 -g -fno-builtin tests/programs/provider/heap_new.cc -o "$dir/heap_new" -lpthread || exit 1
operators() { # NAME REFUSED [OBJECT]
	rm -rf "$dir/t"
	status 0 env ${3:+LD_PRELOAD="$3"} "$ktr" run --agent -e 256k --heap all -o "$dir/t" "$dir/heap_new" "$2"
	"$ktr" heap --json "$dir/t" >"$dir/heap"
	is "$1: operators" "$(python3 tests/cli/provider/heap.py sums "$dir/heap" new_work)" "$(cat "$dir/out")"
	is "$1: what was not to be had" "$(grep -o '^refused=.*' "$dir/err") $(grep -o '"unknown": [0-9]*' "$dir/heap")" \
		"refused=$2 \"unknown\": 0"
}
operators 'libstdc++' 3000

# Another allocator: what stands behind is called.
others='libjemalloc\.so\.2|libtcmalloc_minimal(_debug)?\.so\.4|libmimalloc\.so\.2'
for other in $(ldconfig -p | sed -nE "s,.*=> (.*/($others))\$,\1,p" | sort -u); do
	rm -rf "$dir/t"
	status 0 env LD_PRELOAD="$other" "$ktr" run --agent -e 256k --heap all -o "$dir/t" "$host" count 4 5000 2
	"$ktr" heap --json "$dir/t" >"$dir/heap"
	counts "${other##*/}"
	case $other in
	*mimalloc*) operators "${other##*/}" 0 "$other" ;; # its new ends the program where there is none
	*) operators "${other##*/}" 3000 "$other" ;;
	esac
done

# What these allocators say of themselves.
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-builtin tests/programs/host/heap_stats.c -o "$dir/heap_stats" -ldl || exit 1
for other in $(ldconfig -p | sed -nE 's,.*=> (.*/lib(jemalloc\.so\.2|tcmalloc_minimal\.so\.4))$,\1,p' | sort -u); do
	for try in 1 2 3 4 5; do
		rm -rf "$dir/t"
		KTR_BUDGET=0 MALLOC_CONF=tcache:false status 0 env LD_PRELOAD="$other" "$ktr" run --agent -e 256k --heap all -o "$dir/t" \
			"$dir/heap_stats" 123457
		"$ktr" json --filter 'class == heap' "$dir/t" >"$dir/events"
		python3 tests/cli/provider/heap.py between "$dir/events" 123457 >"$dir/between"
		cmp -s "$dir/between" "$dir/out" && break
	done
	is "as ${other##*/} has it, in $try tries" "$(cat "$dir/between")" "$(cat "$dir/out")"
done

# Who has an allocator of its own is told, and keeps it to itself; a sandbox does not mind.
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/provider/heap_own.c -o "$dir/sandbox" -lpthread &&
	$cc -std=gnu11 -D_GNU_SOURCE -DOWN_MALLOC -O1 -g -fno-builtin tests/programs/provider/heap_own.c -o "$dir/own" \
		-lpthread || exit 1
for program in sandbox own; do
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent --heap all --fbt 'own_*' -o "$dir/t" "$dir/$program"
	is "$program" "$(cat "$dir/out")" 'as without'
	cp "$dir/err" "$dir/$program.err"
	"$ktr" dump --filter 'class == heap' "$dir/t" | grep -c 'alloc-stack' >"$dir/$program.n"
done
is 'in a sandbox' "$(awk '{ print ($1 > 100) }' "$dir/sandbox.n")" 1
is 'another allocator' "$(cat "$dir/own.n")" 0
grep -q 'the program gets its memory of another object' "$dir/own.err" || fail "told: $(cat "$dir/own.err")"

# Off it is not there, and who asks is told.
rm -rf "$dir/t"
status 0 "$ktr" run --agent -o "$dir/t" "$host" leak 10
is 'off' "$("$ktr" dump "$dir/t" | grep -c ' heap ')" 0
status 1 "$ktr" heap "$dir/t"
is 'nothing recorded' "$(sed 's/.*: nothing/nothing/' "$dir/err")" 'nothing of memory was recorded: ktr run --agent --heap all'
status 2 "$ktr" run --agent --heap some "$host"
status 2 "$ktr" run --heap all "$host"
status 2 "$ktr" heap --by size "$dir/t"
status 2 "$ktr" heap --sample 1k "$dir/t"
status 2 "$ktr" heap -p 1 -- "$host"

top=$PWD
heap() {
	(cd "$dir" && rm -rf ktr.out && case $ktr in /*) "$ktr" heap "$@" ;; *) "$top/$ktr" heap "$@" ;; esac)
}
is 'one command' "$(heap --by live -- "$host" leak 20 2>"$dir/err" | grep -c '^leaked\|^ *20000 .* 20  planted_leak < leak')" 2
is 'sampled' "$(heap --sample 1k -- "$host" leak 200 2>"$dir/err" | grep -c 'one in 1024 bytes')" 1
status 1 "$ktr" heap -- "$dir/no_such_program"
exit $failed
