#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make check-long: how long locks were held and waited for, beside what the program takes down itself, in each of ROUNDS=1000
# rounds of 16 kinds: medians of the differences. A machine that others use as well takes more from one clock than from
# the other now and then, so the best of three counts.
. "$(dirname "$0")/../cli/lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O2 -g tests/stress/lock_times.c -o "$dir/lock_times" -lpthread || exit 1
for try in 1 2 3; do
	rm -rf "$dir/t"
	"$ktr" run --agent -e 64k --lock all -o "$dir/t" "$dir/lock_times" "${ROUNDS:-1000}" >"$dir/own" 2>"$dir/err" ||
		fail "$(cat "$dir/err")"
	"$ktr" json "$dir/t" >"$dir/json"
	python3 tests/stress/lock_times.py "$dir/json" "$dir/own" >"$dir/wrong" 2>"$dir/said" || fail "$(cat "$dir/said")"
	[ -s "$dir/wrong" ] || break
done
cat "$dir/said"
is 'times' "$(cat "$dir/wrong")" ''
exit $failed
