#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What fuzzing has found worth keeping (tests/corpus/NAME and NAME.tar.gz) goes through the parsers once more,
# without libFuzzer.
. "$(dirname "$0")/lib.inc"
for name in loader value; do
	mkdir "$dir/$name.in"
	[ ! -d "tests/corpus/$name" ] || cp "tests/corpus/$name"/* "$dir/$name.in"
	tar -xzf "tests/corpus/$name.tar.gz" -C "$dir/$name.in" || failed=1
	${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude -I. "tests/fuzz/fuzz_$name.c" tests/fuzz/replay.c \
		-o "$dir/$name" "$O/lib/libktrread.a" -ljansson -lm || exit 1
	find "$dir/$name.in" -type f -print0 | xargs -0 timeout 60 "$dir/$name" || failed=1
done
exit $failed
