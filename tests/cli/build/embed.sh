#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The build files of examples/embed, each in each of its three ways: make, CMake and Meson, where they are.
. "$(dirname "$0")/../lib.inc"

fail() {
	cat "$dir/log"
	echo "FAILED: $*"
	failed=1
}

MAKEFLAGS='' make -s --no-print-directory O="$O" PREFIX="$dir/installed" install "$O/one/ktr.c" >"$dir/log" 2>&1 ||
	fail "install"
ktr=$dir/installed/bin/ktr
PKG_CONFIG_PATH=$dir/installed/lib/pkgconfig
LD_LIBRARY_PATH=$dir/installed/lib
MAKEFLAGS=
export PKG_CONFIG_PATH LD_LIBRARY_PATH MAKEFLAGS
src=$dir/src
cp -r examples/embed "$src"

built() { # program, way
	out=$("$ktr" run -o "$dir/trace" "$1" 2>"$dir/log") && [ "$out" = done ] || fail "$1 does not run"
	n=0
	[ "$2" = off ] || n=$("$ktr" dump -q "$dir/trace" | grep -c 'step [0-9]* of ten')
	case $2 in
	off) [ "$n" = 0 ] || fail "$1: KTR_OFF leaves events" ;;
	*) [ "$n" = 10 ] || fail "$1: $n of 10 events" ;;
	esac
	rm -rf "$dir/trace" "$dir"/trace.*
}

# What is installed is what "installed" means: without the two files near, which come last.
for way in installed off files; do
	[ $way != files ] || cp "$O/one/ktr.c" "$O/one/ktr.h" "$src"
	(cd "$src" && rm -f main && make -s KTR=$way) >"$dir/log" 2>&1 || fail "make KTR=$way"
	built "$src/main" $way
	# What they find out of the compiler, which takes longest, holds for the next way.
	if command -v cmake >/dev/null; then
		{ cmake -S "$src" -B "$src/cmake" -DKTR=$way && cmake --build "$src/cmake"; } \
			>"$dir/log" 2>&1 || fail "cmake -DKTR=$way"
		built "$src/cmake/main" $way
	fi
	if command -v meson >/dev/null; then
		again=
		[ ! -d "$src/meson" ] || again=--reconfigure
		{ meson setup $again -Dktr=$way "$src/meson" "$src" && meson compile -C "$src/meson"; } \
			>"$dir/log" 2>&1 || fail "meson -Dktr=$way"
		built "$src/meson/main" $way
	fi
done
for tool in cmake meson; do
	command -v $tool >/dev/null || echo "skipped: there is no $tool"
done
exit $failed
