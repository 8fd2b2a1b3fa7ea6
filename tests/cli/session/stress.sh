#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Many writers, small rings, signals, concurrent readers: a few million events on both paths. The long
# campaign is tests/stress/long.sh.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build_stress
for path in $paths; do
	run on_path "$path" "$out/stress" -e 1500000 -p 4 -t 8 -r 256
	run on_path "$path" "$out/stress" -e 700000 -p 4 -t 2 -r 4096 -P
	run on_path "$path" "$out/stress" -e 400000 -p 4 -t 4 -r 512 -P -C 2
done
