#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# KTR_ENABLED(class) is the gate of the macros and nothing else, in C and C++: preparations are made where the class is
# recorded, and leave no code where it is compiled out.
. "$(dirname "$0")/../lib.inc"
strict="-Wall -Wextra -Wpedantic -Werror"

# build FLAGS...
build() {
	# shellcheck disable=SC2086
	"$c" $std $level "$@" $strict -Iinclude -x "$language" tests/programs/build/enabled.c -x none -o "$dir/enabled" \
		"$O/lib/libktr.a" -lpthread 2>"$dir/log" || fail "$c $level $*: $(head -n 3 "$dir/log")"
}

for c in gcc clang g++ clang++; do
	command -v $c >/dev/null || { skip "there is no $c"; continue; }
	language=c std=-std=c11
	case $c in *++) language=c++ std=-std=c++11 ;; esac
	for level in -O0 -O2; do
		build
		is "$c $level: off" "$("$dir/enabled")" "0 0"
		is "$c $level: own" "$(KTR_MASK=own "$dir/enabled")" "10 0"
		is "$c $level: one of two" "$(KTR_MASK=vfs "$dir/enabled" 2>/dev/null)" "0 5"
		is "$c $level: others" "$(KTR_MASK=gen,lock "$dir/enabled" 2>/dev/null)" "0 0"
		build -DABSENT '-DKTR_COMPILE=KTR_ALL & ~KTR_NET & ~KTR_VFS'
		is "$c $level: compiled out" "$(KTR_MASK=all "$dir/enabled")" "10 0"
		build -DABSENT -DKTR_OFF
		is "$c $level: KTR_OFF" "$(KTR_MASK=all "$dir/enabled")" "0 0"
	done
done
exit $failed
