#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The profiler in earnest: tests/profile/campaign.sh [truth|libktr|attach|masked|storm|eintr...], all of them without a word.
#
#	truth	shares of 100, 33, 10 and 1 %, and 200 threads that live for a moment, at RATES, with SEEDS, MS of CPU time
#		of the busiest: time by their clocks, places by chi-square (truth.py)
#	libktr	the same of a program that has libktr itself
#	attach	the same of a program that ktr profile -p attaches to before it makes them
#	masked	the same, with all signals blocked in all of them
#	storm	dlopen, malloc, fork, exceptions, threads, for SECONDS at 4,999 Hz: no deadlock, no crash
#	eintr	how many calls of each kind, all at once, end with EINTR in SECONDS
#
# SOURCE: any, perf, timers, as of ktr profile --source; any, its default, is perf where the kernel allows it.
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}
ktr=$PWD/$O/bin/ktr
RATES=${RATES:-99 997 4999} SEEDS=${SEEDS:-1 2 3} MS=${MS:-10000} SECONDS_EACH=${SECONDS:-20} SOURCE=${SOURCE:-any}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export KTR_CONF=
failed=0
[ $# -gt 0 ] || set -- truth libktr attach masked storm eintr
for what; do
	case $what in
	truth | libktr)
		# shellcheck disable=SC2046 # none, or words
		${CC:-cc} -O2 -o "$dir/truth" tests/profile/truth.c -lpthread \
			$([ $what = libktr ] && echo "-Wl,--no-as-needed -L$O/lib -lktr -Wl,-rpath,$PWD/$O/lib") || exit 1
		for rate in $RATES; do
			for seed in $SEEDS; do
				rm -rf "$dir/t"
				"$ktr" profile --source "$SOURCE" -F "$rate" -o "$dir/t" "$dir/truth" "$seed" "$MS" \
					>"$dir/said" 2>"$dir/err" ||
					{ cat "$dir/err"; failed=1; }
				printf '%s Hz, seed %s, %s: ' "$rate" "$seed" $what
				"$ktr" export speedscope -o "$dir/speedscope" "$dir/t" 2>"$dir/log" || cat "$dir/log"
				python3 tests/profile/truth.py "$dir/said" "$rate" "$dir/speedscope" ||
					{ tail -n 1 "$dir/err"; failed=1; }
			done
		done
		;;
	attach | masked)
		${CC:-cc} -O2 -o "$dir/truth" tests/profile/truth.c -lpthread || exit 1
		rm -f "$dir/go"
		mkfifo "$dir/go"
		for rate in $RATES; do
			for seed in $SEEDS; do
				rm -rf "$dir/t"
				# shellcheck disable=SC2046 # none, or a word
				"$dir/truth" "$seed" "$MS" wait $([ $what = masked ] && echo masked) <"$dir/go" >"$dir/said" &
				pid=$!
				exec 9>"$dir/go"
				until [ "$(readlink /proc/$pid/exe)" = "$dir/truth" ] || ! kill -0 $pid; do sleep 0.1; done
				: >"$dir/err" # what it said before is not of this one
				"$ktr" profile --source "$SOURCE" -p $pid -F "$rate" -o "$dir/t" 2>"$dir/err" &
				profiler=$!
				until grep -q 'system calls' "$dir/err" || ! kill -0 $profiler; do sleep 0.1; done
				echo go >&9
				exec 9>&-
				wait $pid
				wait $profiler || { cat "$dir/err"; failed=1; }
				printf '%s Hz, seed %s, %s: ' "$rate" "$seed" $what
				"$ktr" export speedscope -o "$dir/speedscope" "$dir/t" 2>"$dir/log" || cat "$dir/log"
				python3 tests/profile/truth.py "$dir/said" "$rate" "$dir/speedscope" ||
					{ tail -n 1 "$dir/err"; failed=1; }
			done
		done
		;;
	storm)
		${CXX:-c++} -std=c++17 -O2 -o "$dir/storm" tests/profile/storm.cc -lpthread -ldl || exit 1
		timeout $((SECONDS_EACH * 4 + 60)) "$ktr" profile --source "$SOURCE" -F 4999 -o "$dir/t" "$dir/storm" "$SECONDS_EACH" ||
			{ echo "FAILED: storm: $?"; failed=1; }
		"$ktr" report --profile "$dir/t" | sed -n '/^CPU time/,/^$/p'
		;;
	eintr)
		${CC:-cc} -O2 -o "$dir/eintr" tests/profile/eintr.c -lpthread || exit 1
		"$ktr" profile --source "$SOURCE" -F 4999 -o "$dir/t" "$dir/eintr" "$SECONDS_EACH" ||
			{ echo "FAILED: eintr: $?"; failed=1; }
		;;
	*)
		echo "usage: $0 [truth|libktr|attach|masked|storm|eintr...]" >&2
		exit 2
		;;
	esac
done
exit $failed
