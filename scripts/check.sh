#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All quick tests: floors, each script under tests/cli/ and the unit tests (CUnit), as many at a time as there are CPUs but
# two at most. Prints what ran, and in the end what the unit tests said. With names, the scripts of these names alone.
#
# A script that fails is run once more, by itself, when all others have ended, and passes if it does then: on a machine that
# is busy or slow one that waits too shortly is no fault of the product's. The last lines tell of each: it wants mending.
#
#	scripts/check.sh [build-directory [NAME...]]
set -u
cd "$(dirname "$0")/.." || exit 1

# --one SCRIPT: runs it; its output in one piece, if it fails, and then it is a line of $CHECK_LISTS/failed. None takes
# a minute here: one that waits for ever is ended. Some are no scripts of tests/cli.
if [ "${1:-}" = --one ]; then
	what=$2
	case $what in
	unit) set -- "$O/tests/unit" ;;
	# The recorder's tests once more, without restartable sequences.
	recorder) set -- env KTR_PATH=thread "$O/tests/unit" record record_text ;;
	layers | names) set -- "scripts/check-$what.sh" ;;
	headers) set -- scripts/check-headers.sh "$O" ;;
	*) set -- sh "$what" ;;
	esac
	start=$(date +%s)
	out=$(timeout -k 5 600 "$@" 2>&1)
	status=$?
	[ "$what" != unit ] || printf '%s\n' "$out" >"$CHECK_LISTS/unit"
	if [ $status = 0 ]; then
		echo "ok   $what ($(($(date +%s) - start)) s)"
		exit 0
	fi
	printf '%s\nFAIL %s\n' "$out" "$what"
	echo "$what" >>"$CHECK_LISTS/failed"
	exit 1
fi

case ${1:-} in
-*)
	sed -n 's/^# \{0,1\}//; 3,9p' "$0"
	exit 2
	;;
esac
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

lists=$(mktemp -d) || exit 1
trap 'rm -rf "$lists"' EXIT
trap 'exit 1' INT TERM
export CHECK_LISTS="$lists"

# Runs those whose paths it reads, and those that failed once more.
run_scripts() {
	: >"$lists/failed"
	xargs -P $at_once -n 1 scripts/check.sh --one
	case $? in 0 | 123) ;; *) return 1 ;; esac # 123: some failed
	mv "$lists/failed" "$lists/again"
	while read -r t; do
		echo "once more, alone: $t"
		scripts/check.sh --one "$t" </dev/null && echo "$t" >>"$lists/unsteady"
	done <"$lists/again"
	[ ! -e "$lists/failed" ]
}

# The last lines: which of them passed only then.
closing() {
	[ -e "$lists/unsteady" ] || return
	echo '-----------------------------------------------------------------------------------------------'
	while read -r t; do
		echo "passed only when run alone again: $(basename "$t" .sh): not steady, to be mended: $t"
	done <"$lists/unsteady"
	echo '-----------------------------------------------------------------------------------------------'
}

if [ $# -gt 0 ]; then
	for name; do script "$name" >/dev/null || exit 2; done
	for name; do script "$name"; done | run_scripts || failed=1
	closing
	exit $failed
fi

# Those that take long come first.
first="fbt oom kill_trace fbt_own builds strangers embed headers fsck odd peer"
{
	printf '%s\n' layers headers names unit recorder
	for name in $first; do script "$name"; done
	find tests/cli -name '*.sh' | sort | while read -r t; do
		name=$(basename "$t" .sh)
		case " $first " in *" $name "*) ;; *) echo "$t" ;; esac
	done
} | run_scripts || failed=1
# So that the CUnit summary closes the output, but for what is unsteady.
cat "$lists/unit" || failed=1
closing
exit $failed
