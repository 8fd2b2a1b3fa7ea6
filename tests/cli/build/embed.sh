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
cp -r examples/embed "$dir/src"
cp "$O/one/ktr.c" "$O/one/ktr.h" "$dir/src"
# What is installed is what "installed" means: without the two files near.
cp -r examples/embed "$dir/plain"

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

for way in installed files off; do
	src=$dir/plain
	[ $way = files ] && src=$dir/src
	(cd "$src" && rm -f main && make -s KTR=$way) >"$dir/log" 2>&1 || fail "make KTR=$way"
	built "$src/main" $way
	if command -v cmake >/dev/null; then
		{ cmake -S "$src" -B "$dir/cmake.$way" -DKTR=$way && cmake --build "$dir/cmake.$way"; } \
			>"$dir/log" 2>&1 || fail "cmake -DKTR=$way"
		built "$dir/cmake.$way/main" $way
	fi
	if command -v meson >/dev/null; then
		{ meson setup -Dktr=$way "$dir/meson.$way" "$src" && meson compile -C "$dir/meson.$way"; } \
			>"$dir/log" 2>&1 || fail "meson -Dktr=$way"
		built "$dir/meson.$way/main" $way
	fi
done
for tool in cmake meson; do
	command -v $tool >/dev/null || echo "skipped: there is no $tool"
done
exit $failed
