#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL at random instants, 50 times, on both paths. tests/stress/long.sh has a thousand.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build_kill
for path in $paths; do
	run on_path "$path" "$out/kill" -n 15 -r 256
	run on_path "$path" "$out/kill" -n 10 -r 65536
done
