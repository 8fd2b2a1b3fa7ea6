#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Signals of a program behind ktr's handlers (debug.ktr.freeze_on, debug.ktr.alq_crash): each flag and default is as
# without ktr. What the program prints, and how it ends, is compared with its untraced run.
. "$(dirname "$0")/../lib.inc"
ulimit -c 0

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Iinclude tests/programs/host/signals.c -o "$dir/signals" "$O/lib/libktr.a" \
	-lurcu-bp -lpthread || exit 1

one() { # mode how: its output and exit status go to mode.how
	case $2 in
	freeze) set -- "$@" KTR_MASK=gen ;;
	crash) set -- "$@" KTR_MASK=gen KTR_ALQ_CRASH=1 "KTR_FILE=$dir/$1.trace" ;;
	none) set -- "$@" KTR_DISABLE=1 ;;
	esac
	name=$1.$2 mode=$1 how=$2
	shift 2
	env "$@" timeout -s KILL "${LIMIT:-300}" "$dir/signals" "$mode" "$how" >"$dir/$name" 2>"$dir/$name.err"
	echo "exit status $?" >>"$dir/$name"
}

modes="reset reset_sent again leftover defer nodefer mask stack onstack restart norestart ignore default fault abort sys
	recursion info plain chain"
n=0
for mode in $modes; do
	for how in none freeze crash; do
		one $mode $how &
	done
	n=$((n + 1))
	[ $((n % 5)) != 0 ] || wait
done
wait
for mode in $modes; do
	grep -q 'exit status 77' "$dir/$mode.none" && { skip "$mode: no ptrace or seccomp"; continue; }
	grep -qE 'exit status (9|1[0-2]|124)$' "$dir/$mode.none" && fail "$mode, untraced: $(cat "$dir/$mode.none")"
	for how in freeze crash; do
		cmp -s "$dir/$mode.none" "$dir/$mode.$how" ||
			fail "$mode, $how: $(head -c 500 "$dir/$mode.$how" "$dir/$mode.$how.err") instead of $(cat "$dir/$mode.none")"
	done
done
exit $failed
