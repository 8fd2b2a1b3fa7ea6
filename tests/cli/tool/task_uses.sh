#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# libktr-task's samples by callers who do more than one thing at a time: one pipe from several threads, one number of
# several files or processes, ends within a round, callers that are cancelled, and structures of other sizes.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*) skip "stops of threads are tested on x86-64"; exit 0 ;;
esac
$cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Iinclude tests/programs/tool/task_uses.c -O1 -g -o "$dir/uses" -L"$O/lib" \
	-Wl,-rpath,"$O/lib" -lktr-task -lpthread || exit 1
for what in reuse waits storm many again tail within cancelled; do
	timeout 300 "$dir/uses" $what >"$dir/out" 2>&1
	rc=$?
	if grep -q '^skipped: ' "$dir/out"; then
		skip "$what: $(sed 's/^skipped: //' "$dir/out")"
	elif [ $rc != 0 ]; then
		fail "$what: status $rc: $(head -n 5 "$dir/out")"
	fi
done
exit $failed
