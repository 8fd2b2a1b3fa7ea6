#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A sample of `make check-oom`.
out=$(sh "$(dirname "$0")/../../oom/run.sh" 499 2>&1)
status=$?
[ $status = 0 ] || echo "$out"
exit $status
