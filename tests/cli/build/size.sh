#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The library stays small: what a program that records carries, libktr.so, has at most 64 KiB of text. What packs
# traces is in libktr-writer.so, which is loaded when one is to be written.
. "$(dirname "$0")/../lib.inc"

text() {
	strip -o "$dir/stripped" "$1" && size -A "$dir/stripped" | awk '$1 == ".text" { print $2 }'
}

n=$(text "$O/lib/libktr.so")
echo "libktr.so: $n bytes of text; libktr-writer.so: $(text "$O/lib/libktr-writer.so")"
# The flags that keep it small are gcc's (Makefile: SMALL_BEST).
$cc --version | grep -q clang && { skip "its size, which is measured with gcc"; exit 0; }
[ "$n" -gt 10000 ] && [ "$n" -le 65536 ] && exit 0
echo "FAILED: 65536 are allowed; the largest parts:"
find "$O/pic/conf" "$O/pic/ktr" -name "*.o" | xargs size | sort -rn | awk 'NR <= 20 { print $1, $6 }'
exit 1
