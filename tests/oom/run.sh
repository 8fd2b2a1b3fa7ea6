#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Allocation k fails for k = 0, 1, 2 ...: the traced program does not notice, and the commands say what they
# lack. `make check-oom` tries every k; the quick check every STEP-th, behind the first hundred.
#
#	run.sh [STEP]
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh
step=${1:-1}
build live tests/programs/session/live.c
oom=$O/tests/oom
mkdir -p "$oom"
$CC $flags -shared -fPIC tests/oom/fail.c -o "$oom/fail.so" || exit 1
$CC $flags tests/oom/oom.c -o "$oom/oom" || exit 1
if ! LD_PRELOAD=$oom/fail.so OOM_AT=0 true 2>/dev/null; then
	echo "skipped: the C library has no __libc_malloc, or allocates otherwise"
	exit 0
fi
failed=0
ktr=$O/bin/ktr
live=$out/live
export KTR_CONF= LC_ALL=C
cd "$work" || exit 1

# try OPTIONS -- COMMAND...
try() {
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	# shellcheck disable=SC2086
	"$oom/oom" -s "$step" $options "$oom/fail.so" "$@" || failed=1
}

# ---- the library: start, classes, sites, rings, writer ----
for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	for more in "" -x; do
		try $more -t -- "$live"
		KTR_MASK=all try $more -t -- "$live"
		KTR_MASK=all KTR_FILE=$work/trace try $more -t -- "$live"
		KTR_VERBOSE=1 KTR_MASK=gen try $more -t -- "$live"
		KTR_FOLLOW_FORK=own KTR_MASK=all try $more -t -- "$live"
		rm -rf trace*
	done
done
unset KTR_PATH

# ---- the commands, on a small trace and a dead session ----
"$ktr" rm --dead >/dev/null
"$ktr" run -s kept -o small "$live" kill 2>/dev/null
"$ktr" dump -q small | grep -q 'live 99' || { echo "no trace"; exit 1; }
try -v -- "$ktr" ls
try -v -- "$ktr" ls --json
for command in 'dump small' 'dump --calls small' 'json small' 'report small' 'report --json small' \
	'report --functions small' 'timeline small' 'flame small' \
	'sysctl -s kept -a' 'plot list'; do
	# shellcheck disable=SC2086
	try -- "$ktr" $command
done
# The times of a session are calibrated anew by each look at it.
for command in 'dump -s kept' 'report -s kept' 'timeline small -o x.gp' 'plot rate small -o x.gp' 'plot latency small -o x.gp' \
	'flame small -o x.svg' 'flame small -o x.html' 'flame small --diff small --by-thread' \
	'plot gaps small -o x.gp' 'plot scatter small --y i -o x.gp' 'plot compare small small -o x.gp' \
	'salvage small' 'sysctl -s kept mask=gen' 'snapshot -s kept -o snap' 'rm --dead x' 'help'; do
	# shellcheck disable=SC2086
	try -v -- "$ktr" $command
	rm -rf snap*
done
"$oom/oom" -s "$step" -v "$oom/fail.so" -- "$ktr" run -o again "$live" || failed=1
exit $failed
