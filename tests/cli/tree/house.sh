#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The checks of the tree itself: each must pass on it, and fail when one of its rules is broken.
. "$(dirname "$0")/../lib.inc"

tree=$dir/tree
mkdir "$tree"
git ls-files -co --exclude-standard -z 2>/dev/null >"$dir/files" && [ -s "$dir/files" ] ||
	{ skip "the tree's checks: this is no clone"; exit 0; }
xargs -0 cp --parents -t "$tree" <"$dir/files" 2>/dev/null
git -C "$tree" init -q && git -C "$tree" add -A || exit 1

# passes CHECK: the tree as it is.
passes() {
	"$tree/scripts/$1" >"$dir/log" 2>&1 || fail "$1 on the tree: $(cat "$dir/log")"
}

# breaks CHECK WHAT FILE LINE: with the line at the file's end the check fails, and names the file.
breaks() {
	cp "$tree/$3" "$dir/kept" 2>/dev/null || : >"$dir/kept"
	printf '%s\n' "$4" >>"$tree/$3"
	"$tree/scripts/$1" >"$dir/log" 2>&1 && fail "$1 passes: $2"
	grep -qF "$5" "$dir/log" || fail "$1 does not say of $2: $(cat "$dir/log")"
	cp "$dir/kept" "$tree/$3"
	[ -s "$dir/kept" ] || rm -f "$tree/$3"
}

passes check-layers.sh
breaks check-layers.sh "a reader includes the recorder" analyze/read/merge.c '#include "ktr/record/ring.h"' analyze/read/merge.c
breaks check-layers.sh "a tool includes the recorder" tools/report/cmd_report.c '#include "ktr/record/record.h"' tools/report/cmd_report.c
breaks check-layers.sh "the writer includes a reader" writer/drain.c '#include "analyze/read/reader.h"' writer/drain.c
breaks check-layers.sh "the knob tree knows of sessions" conf/knob.c '#include "ktr/session/session_map.h"' conf/knob.c
breaks check-layers.sh "the recorder knows a provider" ktr/record/record.c \
	'#include "ktr/provider/probe/registry.h"' ktr/record/record.c
breaks check-layers.sh "a provider knows another" ktr/provider/probe/fire.c \
	'#include "ktr/provider/kernel/perf.h"' ktr/provider/probe/fire.c
breaks check-layers.sh "a reader records" analyze/read/merge.c '#include <ktr.h>' analyze/read/merge.c
breaks check-layers.sh "a tool includes the process's own session" tools/record/cmd_record.c '#include "ktr/record/own.h"' \
	tools/record/cmd_record.c
breaks check-layers.sh "control includes the recorder" ktr/control/mask.c '#include "ktr/record/record.h"' ktr/control/mask.c
breaks check-layers.sh "the recorder includes the start" ktr/record/site.c '#include "ktr/start/start.h"' ktr/record/site.c
breaks check-layers.sh "a folder without a row" analyze/lost.c 'int lost;' 'analyze/'

mkdir "$tree/tests/cli/full" && (cd "$tree/tests/cli/full" && seq -f '%g.sh' 40 | xargs touch) || exit 1
passes check-layers.sh
breaks check-layers.sh "a folder of 41 files" tests/cli/full/41.sh 'exit 0' 'tests/cli/full/ has 41'
rm -r "$tree/tests/cli/full"

sed -i 's|^    ktr/control          conf|& ktr/record|' "$tree/ARCHITECTURE"
"$tree/scripts/check-layers.sh" >"$dir/log" 2>&1 && fail "check-layers.sh passes: a room that names one after it"
git -C "$tree" checkout -q ARCHITECTURE

passes check-names.sh
breaks check-names.sh "twins" analyze/read/merge.c 'int ktr_merge_twin, ktr__merge_twin;' 'ktr_merge_twin'
breaks check-names.sh "two scripts of one name" tests/cli/read/house.sh 'exit 0' house.sh
breaks check-names.sh "a file that is not there" conf/knob.c '/* See conf/knobs_of_old.c. */' conf/knobs_of_old.c
breaks check-names.sh "two invariants of one number" ktr/INVARIANTS ' R1  As before.' 'R1 is not'
breaks check-names.sh "... in a document" ARCHITECTURE 'writer/gone.c writes it.' writer/gone.c

passes check-format.sh
breaks check-format.sh "a line too long" conf/knob.c "/* $(printf '%0120d' 0) */" conf/knob.c
breaks check-format.sh "blanks at a line's end" conf/knob.c 'int x; ' conf/knob.c
breaks check-format.sh "an empty line at the end" conf/knob.c '' conf/knob.c

# What a file defines and its header does not declare.
mkdir -p "$dir/b/obj/conf"
printf 'int ktr__knob_of_nobody;\n' >"$dir/one.c"
cc -c "$dir/one.c" -o "$dir/b/obj/conf/knob.o" || exit 1
"$tree/scripts/check-headers.sh" "$dir/b" >"$dir/log" 2>&1 && fail "check-headers.sh passes: a name that no header declares"
grep -qF "conf/knob.c" "$dir/log" || fail "check-headers.sh does not say of it: $(cat "$dir/log")"

exit "$failed"
