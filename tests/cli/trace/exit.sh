#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A clean exit: the process's end is the last that its trace tells, as an event and in its row, and the trace
# says that it is complete.
. "$(dirname "$0")/../lib.inc"

timeout 300 "$O/bin/ktr" run -m all -o "$dir/trace" "$O/examples/indexer" -j 2 conf >/dev/null 2>&1 || fail "ktr run: $?"
"$O/bin/ktr" dump "$dir/trace" | tail -1 | grep -q "process [0-9]* exits" || fail "the last event is another"
tail -1 "$dir/trace/ktr/procs.jsonl" | grep -q '"exit_ns":[1-9]' || fail "the process's row does not say when it ended"
tail -1 "$dir/trace/ktr/info.jsonl" | grep -q '"kind":"end".*"lost":0,' || fail "the trace does not end"
exit $failed
