#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make fuzz: each fuzzer under tests/fuzz with its corpus under tests/corpus, coverage-guided (libFuzzer),
# under ASan and UBSan. SECONDS_EACH (60) says how long; FUZZ names one fuzzer. New inputs stay under the
# build directory; what fails is left there as crash-*.
#
#	scripts/fuzz.sh [build-directory]
set -eu
cd "$(dirname "$0")/.."
O=${1:-build}/fuzz
if ! command -v clang >/dev/null 2>&1; then
	echo "fuzz: needs clang and its runtime (Debian: clang libclang-rt-14-dev)" >&2
	exit 1
fi
san="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
make CC=clang O="$O" CFLAGS="$san" "$O/obj/libktr.a" "$O/obj/libktrread.a"
dw=
[ -e /usr/include/elfutils/libdwfl.h ] && dw="-ldw -lelf"
[ -e /usr/include/libiberty/demangle.h ] && dw="-liberty $dw"
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	short=${name#fuzz_}
	[ -z "${FUZZ:-}" ] || [ "$FUZZ" = "$short" ] || continue
	mkdir -p "$O/corpus/$short"
	# shellcheck disable=SC2086
	clang $san -fsanitize=fuzzer -std=gnu11 -D_GNU_SOURCE -Iinclude -I. "$source" -o "$O/$name" \
		"$O/obj/libktrread.a" "$O/obj/libktr.a" -ljansson -lm $dw -lpthread
	seeds=
	[ ! -e "tests/corpus/$short.tar.gz" ] || tar -xzf "tests/corpus/$short.tar.gz" -C "$O/corpus/$short"
	[ -d "tests/corpus/$short" ] && seeds="tests/corpus/$short"
	echo "fuzz: $short for ${SECONDS_EACH:-60} s"
	# shellcheck disable=SC2086
	"$O/$name" -max_total_time="${SECONDS_EACH:-60}" -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$O/" "$O/corpus/$short" $seeds
done
