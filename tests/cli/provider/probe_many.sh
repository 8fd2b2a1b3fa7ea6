#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a probe takes does not grow with how many there are: instructions of a program with so many functions, and of
# one with four times as many, all of them switched on at start, as probes and as callers.
. "$(dirname "$0")/../lib.inc"
. "$(dirname "$0")/fbt.inc"
. "$(dirname "$0")/instructions.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
export KTR_CONF= KTR_BUDGET=0

program() { # N
	assembled "$dir/many.s" "$1" many_
	echo 'void first(void); int main(void) { first(); return 0; }' >"$dir/main.c"
	# shellcheck disable=SC2086 # options
	$cc $cflags "$dir/main.c" "$dir/many.s" -o "$dir/many$1" $shared 2>"$dir/err" || fail "$1 functions: $(head -n 3 "$dir/err")"
}
sizes='750 3000'
for n in $sizes; do program "$n"; done
for spec in 'fbt:::' 'fbt_caller:::'; do
	took=
	export KTR_PROBES="$spec"
	for n in $sizes; do
		instructions "$dir/many$n" || exit $failed
		took="$took $count"
	done
	# Where each caller was looked for among all of them it was 4.7 times, and four times as many take 4.0.
	echo "$took" | awk '{ exit !(NF == 2 && $2 > 3 * $1 && $2 < 4.3 * $1) }' ||
		fail "instructions for $spec of $sizes functions:$took"
done
exit $failed
