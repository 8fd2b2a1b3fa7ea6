#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Hosts that live odd lives (host.c), on each path, whoever takes their events: none of them may notice, and none of
# their events be lost, be it that it is counted. cell.c judges each.
#
#	matrix.sh [quick] [LIFE...]
#
# quick: of each life four cells, such that it is seen on each path and with each taker, and none twice. KTR_PATHS
# and TAKERS choose among paths and takers (off rings writer run record), LINKS among libktr.a (static, by default)
# and libktr.so (shared); JOBS says how many cells live at once.
if [ "${1:-}" = --one ]; then # LIFE PATH TAKER LINK: in a directory of its own, which holds its sessions
	own=$STRANGERS_DIR/$2.$3.$4.$5
	mkdir "$own" || exit 1
	timeout $((500 * ${STRANGERS_SLACK:-1})) "$STRANGERS_BIN/strangers-cell" "$STRANGERS_KTR" "$STRANGERS_BIN/strangers-$5" \
		"$STRANGERS_BIN/strangers-off" "$own" "$2" "$3" "$4"
	status=$?
	[ $status -lt 2 ] || echo "FAILED: $2, $3, $4: exit status $status"
	rm -rf "$own"
	exit $status
fi
. "$(dirname "$0")/../cli/lib.inc"
. tests/stress/common.sh

quick=
[ "${1:-}" = quick ] && { quick=1; shift; }
takers=${TAKERS:-off rings writer run record}
links=${LINKS:-static}
parts=
for name in host oracle born ends moved sandbox; do
	parts="$parts tests/strangers/$name.c"
done
flags="$flags -Itests/strangers"
ready=
grep -q ktr_sandbox include/ktr/ctl.h && ready=-DSTRANGERS_SANDBOX
build strangers-cell tests/strangers/cell.c tests/strangers/launch.c tests/strangers/look.c
# shellcheck disable=SC2086 # several words
build strangers-off $parts -- -DKTR_OFF
# shellcheck disable=SC2086 # several words
build strangers-static $parts -- $ready
case $links in *shared*)
	libs="-L$O/lib -lktr -Wl,-rpath,$O/lib -lpthread"
	# shellcheck disable=SC2086 # several words
	build strangers-shared $parts -- $ready
	;;
esac
STRANGERS_DIR=$KTR_DIR/cells STRANGERS_KTR=$ktr STRANGERS_BIN=$out
mkdir "$STRANGERS_DIR" || exit 1
export STRANGERS_DIR STRANGERS_KTR STRANGERS_BIN

# LIFE: its cells.
n=0
cells() {
	n=$((n + 1))
	if [ "$quick" ]; then
		if [ $((n % 2)) = 0 ]; then
			set -- "$1 rseq rings" "$1 thread writer" "$1 rseq run" "$1 thread record"
		else
			set -- "$1 thread rings" "$1 rseq writer" "$1 thread run" "$1 rseq record"
		fi
		printf '%s static\n' "$@"
		return
	fi
	for path in $paths; do
		for taker in $takers; do
			for link in $links; do
				echo "$1 $path $taker $link"
			done
		done
	done
}

: >"$dir/oracle"
truncate -s 65536 "$dir/oracle"
STRANGERS_ORACLE=$dir/oracle "$out/strangers-off" -l >"$dir/lives" || { echo "no lives"; exit 1; }
while read -r life root; do
	[ $# = 0 ] || case " $* " in *" $life "*) ;; *) continue ;; esac
	if [ "$root" ] && [ "$(id -u)" != 0 ]; then
		skip "$life: this needs root" >&2
		continue
	fi
	cells "$life"
done <"$dir/lives" >"$dir/cells"
[ -s "$dir/cells" ] || { echo "no such life"; exit 1; }
# Most of a cell's time is waiting.
xargs -P "${JOBS:-4}" -n 4 sh tests/strangers/matrix.sh --one <"$dir/cells" || failed=1
echo "$(wc -l <"$dir/cells") cells"
exit $failed
