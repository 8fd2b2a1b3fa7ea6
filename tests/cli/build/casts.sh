#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A cast is no part of an argument's name, in C and C++: not in what is shown, not in what filters and triggers ask
# for, not in the metadata that foreign readers take.
. "$(dirname "$0")/../lib.inc"

for language in c c++; do
	c=gcc
	[ $language = c ] || c=g++
	command -v $c >/dev/null || { skip "there is no $c"; continue; }
	$c -O1 -Wall -Wextra -Werror -Iinclude -x $language tests/programs/build/casts.c -x none -o "$dir/casts" "$O/lib/libktr.a" \
		-lpthread || exit 1
	status 0 "$ktr" run -m casts -o "$dir/$language" "$dir/casts"
	status 0 "$ktr" json --events "$dir/$language"
	is "$language: names" "$(sed -n 's/.*"args": *{\([^}]*\)}.*/\1/p' "$dir/out" | sed 's/": *[0-9]*//g; s/[", ]//g' | sort -u)" \
		"$(printf 'abcdesum+1')"
	is "$language: names in the metadata" "$(grep -a 'name = "casts:' "$dir/$language/metadata" |
		sed 's/.*struct { //; s/[a-z]*[0-9]* \([a-z0-9_]*\);/\1/g; s/ }.*//')" "a b c d e sum_1"
	for name in a b c d e; do
		status 0 "$ktr" dump -q --filter "$name == 7" "$dir/$language"
		is "$language: filter by $name" "$(sed -n 's/.*six \([0-9]*\) .*/\1/p' "$dir/out")" 7
		[ $language$name != c++e ] || continue # int(e): see ktr/record/trigger.c
		status 0 "$ktr" run -s "t_$name" -m casts -o "$dir/trigger" --trigger "$name == 4" "$dir/casts"
		status 0 "$ktr" dump -q "$dir/trigger"
		is "$language: trigger by $name" "$(sed -n 's/.*six \([0-9]*\) .*/\1/p' "$dir/out" | tail -n 1)" 4
		status 0 "$ktr" rm "t_$name"
		rm -rf "$dir/trigger"
	done
done
exit $failed
