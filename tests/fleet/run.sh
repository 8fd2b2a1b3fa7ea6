#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All tests of the fleet, one after the other; those that lack what they need say so and count as neither.
#
#	O=build tests/fleet/run.sh [NAME...]
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
[ $# -gt 0 ] || set -- ship fetch questions follow late faults fuzz views cluster kills replicated grow
for name; do
	case $name in
	replicated) REPLICATED=1 sh tests/fleet/kills.sh ;;
	*) sh "tests/fleet/$name.sh" ;;
	esac
	case $? in
	0) echo "ok   $name" ;;
	77) echo "skip $name" ;;
	*) echo "FAIL $name"; failed=1 ;;
	esac
done
exit $failed
