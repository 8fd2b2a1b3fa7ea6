#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A user's project with all warnings on gets none from our headers: C11 to C++20, gcc and clang, recording
# and KTR_OFF; each public header also compiles alone.
. "$(dirname "$0")/lib.inc"
n=0
strict="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Werror"

try() { # compiler, standard, further options
	n=$((n + 1))
	# shellcheck disable=SC2086
	"$@" $strict -Iinclude || { echo "FAILED: $*"; failed=1; }
}

language() { # language, compiler, standards...
	lang=$1
	compiler=$2
	shift 2
	command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler"; return; }
	for std in "$@"; do
		try "$compiler" -x "$lang" "-std=$std" -O2 -c tests/embed/user.c -o "$dir/user.o"
		try "$compiler" -x "$lang" "-std=$std" -O2 -DKTR_OFF tests/embed/user.c -o "$dir/off"
	done
	for header in include/ktr.h include/ktr/*.h; do
		printf '#include "%s"\nextern int one;\n' "$header" >"$dir/one.c"
		try "$compiler" -x "$lang" "-std=$std" -I. -fsyntax-only "$dir/one.c"
	done
}

language c gcc c11 gnu11 c17
language c++ g++ c++17 c++20
language c clang c11 c17
language c++ clang++ c++17 c++20
echo "headers: $n compilations"
exit $failed
