#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All quick tests: floors, unit tests (CUnit), then each script under tests/cli/. Prints what ran.
#
#	scripts/check.sh [build-directory]
set -u
cd "$(dirname "$0")/.." || exit 1
O=${1:-build}
failed=0

scripts/check-layers.sh || { echo "FAIL floors"; failed=1; }
for t in tests/cli/*.sh; do
	[ -e "$t" ] || continue
	start=$(date +%s)
	if out=$(O="$O" sh "$t" 2>&1); then
		echo "ok   $t ($(($(date +%s) - start)) s)"
	else
		echo "$out"
		echo "FAIL $t"
		failed=1
	fi
done
# The recorder's tests once more, without restartable sequences.
if out=$(KTR_PATH=thread "$O/tests/unit" record 2>&1); then
	echo "ok   unit tests of the recorder on the path without rseq"
else
	echo "$out"
	failed=1
fi
# Last, so that the CUnit summary closes the output.
"$O/tests/unit" || failed=1
exit $failed
