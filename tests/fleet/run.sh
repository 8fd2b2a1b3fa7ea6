#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# All tests of the fleet, one after the other; those that lack what they need say so and count as neither.
#
#	O=build tests/fleet/run.sh [NAME...]
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
# The newer engine, 167 MB, for engine.sh; where it cannot be had that test says so.
engine() {
	folder=${O:-build}/fleet
	[ ! -e "$folder/libchdb.so" ] && command -v npm >/dev/null || return 0
	echo "fetching @chdb/lib-linux-x64-gnu by npm into $folder"
	mkdir -p "$folder"
	(cd "$folder" && timeout 300 npm pack --silent @chdb/lib-linux-x64-gnu >/dev/null && tar -xzf chdb-lib-*.tgz package/libchdb.so &&
		mv package/libchdb.so . && rm -rf package chdb-lib-*.tgz) || echo "it cannot be had"
}
[ $# -gt 0 ] || set -- ship fetch questions follow late faults fuzz views cluster engine kills replicated grow spool
for name; do
	[ $name != engine ] || engine
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
