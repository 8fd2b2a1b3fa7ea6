#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A user's project with all warnings on gets none from our headers: C99 to C++23, gcc and clang, recording, with
# KTR_USDT and with KTR_OFF; each public header also compiles alone. What cannot be without is in ktr(9), "WARNINGS".
. "$(dirname "$0")/../lib.inc"
n=0
strict="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Wshadow -Wredundant-decls -Wformat=2
	-Wdouble-promotion -Wcast-align -Wwrite-strings -Wpointer-arith -Wvla -Wswitch-default -Wnull-dereference -Wfloat-equal -Werror"
in_c="-Wstrict-prototypes -Wmissing-prototypes -Wbad-function-cast -Wnested-externs -Wold-style-definition"
in_cxx="-Wold-style-cast -Wmissing-declarations -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi"
of_gcc="-Wduplicated-cond -Wduplicated-branches -Wlogical-op"
of_clang="-Weverything -Wno-padded -Wno-reserved-identifier -Wno-reserved-macro-identifier -Wno-used-but-marked-unused
	-Wno-missing-variable-declarations -Wno-extra-semi-stmt -Wno-declaration-after-statement -Wno-zero-as-null-pointer-constant
	-Wno-c++98-compat -Wno-c++98-compat-pedantic"

try() { # compiler, standard, further options
	n=$((n + 1))
	# shellcheck disable=SC2086
	"$@" $strict $more -Iinclude || { echo "FAILED: $*"; failed=1; }
}

language() { # language, compiler, standards...
	lang=$1
	compiler=$2
	shift 2
	command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler"; return; }
	case $lang in c) more=$in_c ;; *) more=$in_cxx ;; esac
	case $compiler in clang*) more="$more $of_clang" ;; g++) more="$more $of_gcc -Wzero-as-null-pointer-constant" ;; *)
		more="$more $of_gcc -Wc++-compat -Wjump-misses-init" ;;
	esac
	for std in "$@"; do
		try "$compiler" -x "$lang" "-std=$std" -O2 -c tests/embed/user.c -o "$dir/user.o"
		try "$compiler" -x "$lang" "-std=$std" -O2 -DKTR_USDT -fPIC -c tests/embed/user.c -o "$dir/user.o"
		try "$compiler" -x "$lang" "-std=$std" -O2 -DKTR_OFF tests/embed/user.c -o "$dir/off"
		try "$compiler" -x "$lang" "-std=$std" -fsyntax-only "$dir/all.c"
	done
	for header in include/ktr.h include/ktr/*.h; do
		printf '#include "%s"\nextern int one;\n' "$header" >"$dir/one.c"
		try "$compiler" -x "$lang" "-std=$std" -I. -fsyntax-only "$dir/one.c"
	done
}

{
	for header in include/ktr/*.h; do # but what trace.h includes where it is asked for
		case $header in */usdt.h) ;; *) echo "#include <ktr/$(basename "$header")>" ;; esac
	done
	echo "extern int one;"
} >"$dir/all.c"
language c gcc c99 c11 gnu17 c2x
language c++ g++ c++11 c++14 c++17 c++20 c++23
language c clang c99 c11 gnu17 c2x
language c++ clang++ c++11 c++14 c++17 c++20 c++2b
echo "headers: $n compilations"
exit $failed
