#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Call sites survive compilers and linkers; see tests/link/run.sh. With gcc, points of a shared object go to libktr.so
# without its procedure linkage table.
. "$(dirname "$0")/../lib.inc"

for c in gcc g++; do
	language=c
	[ $c = gcc ] || language=c++
	printf '#include <ktr.h>\nvoid point(int i) { CTR3(KTR_GEN, "%%d %%d %%d", i, i, i); CTR0(KTR_GEN, "none"); }\n' |
		$c -O2 -fPIC -shared -Iinclude -x $language - -x none -L"$O/lib" -lktr -o "$dir/point.so" || { failed=1; continue; }
	readelf -rW "$dir/point.so" >"$dir/relocations"
	is "$c: by the address" "$(grep -c 'GLOB_DAT.*ktr__record[03]' "$dir/relocations")" 2
	is "$c: by the table" "$(grep -c 'JUMP_SLO.*ktr__record' "$dir/relocations")" 0
done
[ "$failed" = 0 ] || exit 1
exec sh "$(dirname "$0")/../../link/run.sh"
