#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What fuzzing has found worth keeping (tests/corpus/NAME and NAME.tar.gz) goes through the parsers once more,
# without libFuzzer.
. "$(dirname "$0")/../lib.inc"
dw=
[ -e /usr/include/elfutils/libdwfl.h ] && dw="-ldw -lelf"
[ -e /usr/include/libiberty/demangle.h ] && dw="-liberty $dw"
for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	name=${name%.c}
	mkdir "$dir/$name.in"
	[ ! -d "tests/corpus/$name" ] || cp "tests/corpus/$name"/* "$dir/$name.in"
	[ ! -e "tests/corpus/$name.tar.gz" ] || tar -xzf "tests/corpus/$name.tar.gz" -C "$dir/$name.in" || failed=1
	${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude -I. "$source" tests/fuzz/replay.c \
		-o "$dir/$name" "$O/obj/libktrread.a" "$O/obj/libktr.a" -lpthread -ljansson -lm $dw || exit 1
	find "$dir/$name.in" -type f -print0 | xargs -0 timeout 300 "$dir/$name" || fail "$name"
done
exit $failed
