#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Call sites survive compilers and linkers; see tests/link/run.sh.
exec sh "$(dirname "$0")/../../link/run.sh"
