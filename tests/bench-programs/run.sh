#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What points cost in a real program: memcached with those of tests/foreign, compiled out, with ktr, and with the least
# they could cost (tests/bench/peer.h). run.py tells what is measured, and what may be set. Its source comes from Debian.
. "$(dirname "$0")/../cli/lib.inc"
programs=$top/tests/foreign
points=$top/tests/bench-programs
home=$O/bench-programs
installed=$home/installed
mkdir -p "$home/sources"

say() {
	echo "$name: $*"
}

not_here() {
	skip "$name: $*"
	exit 77
}

wrap() { :; } # for its tests alone

. "$programs/source.inc"
name=ktr
say "installing it as a stranger would"
make -s O="$O" CC="$cc" PREFIX="$installed" install one >"$dir/log" 2>&1 || { tail "$dir/log"; exit 1; }
export PKG_CONFIG_PATH="$installed/lib/pkgconfig" LD_LIBRARY_PATH="$installed/lib"
name=memcached
. "$programs/$name/steps"
packages
source_
for form in off peer pkg; do
	build_form $form
done
[ $failed = 0 ] || exit 1
$cc -O2 "$points/client.c" -o "$home/client" || exit 1
python3 "$points/run.py" "$home/client" "$installed/bin/ktr" "$home/memcached/off" "$home/memcached/peer" "$home/memcached/pkg"
