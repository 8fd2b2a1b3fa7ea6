#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Odd lives of traced programs: children, threads in masses, handlers everywhere, plugins, classes.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
build_odd
run "$out/odd"
