#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What tracing costs programs, in one run: dd with one byte a time, which does nothing but calls; git status of a tree
# of a thousand files; nginx, asked by one client on one connection. Each as it is, under `ktr ktrace`, into a file and
# a trace, under strace -f, and under perf trace where that may be used: the shortest of RUNS (5), and of five times as
# many of git, which ends soon, in turn, so that a busy moment meets all of them. WHAT="dd git nginx" chooses.
set -eu
ktr=$(realpath "${O:-build}/bin/ktr")
here=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 "$here/run.py" "$ktr" "${RUNS:-5}" "${BYTES:-20000}" "${REQUESTS:-2000}" "${WHAT:-dd git nginx}"
