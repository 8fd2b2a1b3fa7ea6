#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions of C++ and Rust have the names of their sources wherever a stack or a pointer is shown: dump, JSON, flame
# graphs, exports.
. "$(dirname "$0")/../lib.inc"
[ -e /usr/include/libiberty/demangle.h ] || { skip "no libiberty"; exit 0; }
[ -e /usr/include/elfutils/libdwfl.h ] || { skip "no libdw"; exit 0; }

"${CXX:-c++}" -std=gnu++17 -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -Iinclude \
	tests/programs/show/demangle.cc -o "$dir/demangle" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
"$ktr" run -m all -o t ./demangle >log 2>&1 || fail "run: $(cat log)"

# What is shown, in a file, has each name and nothing that is mangled, but for what only looks so.
shown() { # how < and > are written, file
	for name in '(anonymous namespace)::leaf' 'shop::basket<int, 4u>::add' 'demo::parser::next' 'demo::parser::token' _Rubbish; do
		name=$(printf %s "$name" | sed "s/</$1/g; s/>/$2/g")
		grep -qF -e "$name" "$3" || fail "$3 has no $name"
	done
	if grep -E '_ZN|_RNv|17h0123' "$3" >found; then
		fail "$3 has mangled names: $(cut -c1-200 found)"
	fi
}

"$ktr" dump t >dump || fail "dump"
"$ktr" json t >json || fail "json"
"$ktr" flame --least 0 t >flame || fail "flame"
"$ktr" flame -o flame.svg t || fail "flame.svg"
"$ktr" flame -o flame.html t || fail "flame.html"
for format in folded csv chrome; do
	"$ktr" export $format t -o export.$format || fail "export $format"
done
for file in dump json export.folded export.csv export.chrome; do
	shown '<' '>' $file
done
shown '\\u003c' '\\u003e' flame.html
shown '\&#60;' '\&#62;' flame.svg
# A terminal cuts long names, and mangles none.
! grep -E '_ZN|_RNv' flame || fail "flame has mangled names"
grep -q 'demo::parser::next' flame || fail "flame has no name of Rust"
grep -q 'a pointer 0x[0-9a-f]* ((anonymous namespace)::leaf+0x0)' dump || fail "a pointer has no name: $(cat dump)"
exit $failed
