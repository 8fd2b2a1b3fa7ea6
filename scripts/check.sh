#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All quick tests: floors, each script under tests/cli/, as many at a time as there are CPUs but two at
# most, then the unit tests (CUnit). Prints what ran. With names, the scripts of these names alone.
#
#	scripts/check.sh [build-directory [NAME...]]
set -u
cd "$(dirname "$0")/.." || exit 1

# one SCRIPT: runs it; its output in one piece, if it fails. None takes a minute here: one that waits for ever is ended.
if [ "${1:-}" = --one ]; then
	start=$(date +%s)
	if out=$(timeout -k 5 600 sh "$2" 2>&1); then
		echo "ok   $2 ($(($(date +%s) - start)) s)"
		exit 0
	fi
	printf '%s\nFAIL %s\n' "$out" "$2"
	exit 1
fi

O=${1:-build}
export O
[ $# -eq 0 ] || shift
failed=0
at_once=2
[ "$(getconf _NPROCESSORS_ONLN)" -gt 1 ] || at_once=1

# script NAME: where it is
script() {
	find tests/cli -name "$1.sh" | grep . || { echo "there is no $1.sh" >&2; return 1; }
}

# Runs those whose paths it reads.
run_scripts() {
	xargs -P $at_once -n 1 scripts/check.sh --one
}

if [ $# -gt 0 ]; then
	for name; do script "$name" >/dev/null || exit 2; done
	for name; do script "$name"; done | run_scripts
	exit
fi

scripts/check-layers.sh || { echo "FAIL floors"; failed=1; }
scripts/check-headers.sh "$O" || { echo "FAIL headers"; failed=1; }
scripts/check-names.sh || { echo "FAIL names"; failed=1; }
# Those that take long come first.
first="one oom embed sessions usdt probes link odd"
{
	for name in $first; do script "$name"; done
	find tests/cli -name '*.sh' | sort | while read -r t; do
		name=$(basename "$t" .sh)
		case " $first " in *" $name "*) ;; *) echo "$t" ;; esac
	done
} | run_scripts || failed=1
# The recorder's tests once more, without restartable sequences.
if out=$(KTR_PATH=thread "$O/tests/unit" record record_text 2>&1); then
	echo "ok   unit tests of the recorder on the path without rseq"
else
	echo "$out"
	failed=1
fi
# Last, so that the CUnit summary closes the output.
"$O/tests/unit" || failed=1
exit $failed
