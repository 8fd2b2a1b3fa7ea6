#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What tracing costs a program that does nothing but system calls, dd with one byte a time: as it is, under `ktr ktrace`
# and under strace -f, the shortest of RUNS (5) each, in turn, so that a busy moment meets all of them.
set -eu
ktr=$(realpath "${O:-build}/bin/ktr")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 - "$ktr" "${RUNS:-5}" "${BYTES:-20000}" <<'END'
import shutil
import subprocess
import sys
import time

ktr, runs, n = sys.argv[1], int(sys.argv[2]), sys.argv[3]
dd = ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=' + n, 'status=none']
ways = {'dd': [], 'ktr ktrace': [ktr, 'ktrace', '-f', 'k.out'], 'ktr ktrace -t c': [ktr, 'ktrace', '-t', 'c', '-f', 'c.out']}
if shutil.which('strace'):
    ways['strace -f -o FILE'] = ['strace', '-f', '-o', 's.out']
best = dict.fromkeys(ways, 1e9)
for _ in range(runs):
    for name, way in ways.items():
        begin = time.monotonic()
        subprocess.run(way + dd, check=True)
        best[name] = min(best[name], time.monotonic() - begin)
for name, seconds in best.items():
    print('%-18s %7.3f s %8.2f us/call' % (name, seconds, seconds / (2 * int(n)) * 1e6), end='')
    print('  %.2f of strace' % (seconds / best['strace -f -o FILE']) if 'strace -f -o FILE' in best else '')
END
