#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL of the program that writes its trace, of ktr record, of both, ten times each at random instants:
# the trace reads, and salvage misses nothing but what was overwritten. tests/stress/long.sh has 300 each.
. "$(dirname "$0")/../stress/common.sh"
build_kill_trace
run "$out/kill-trace" -n 10 "$O/bin/ktr" "$work/killed"
