#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The commands under valgrind, on traces that are always the same (tests/golden): nothing is read that was not written,
# nothing beyond its end. A part of .ci/run.
. "$(dirname "$0")/../cli/lib.inc"
command -v valgrind >/dev/null || { skip "there is no valgrind"; exit 0; }
cp -r tests/golden/rseq tests/golden/thread "$dir"
cd "$dir" || exit 1

try() {
	timeout 300 valgrind -q --error-exitcode=99 "$ktr" "$@" >out 2>err
	rc=$?
	[ $rc = 0 ] || fail "ktr $*: exit status $rc: $(cat err)"
}

for trace in rseq thread; do
	try dump -tcHkf $trace
	try json --events $trace
	try report $trace
	try timeline -o page.html $trace
	try export chrome -o chrome.json $trace
	try cut -n 10 -o cut $trace
	try fsck -n $trace
done
try merge -o both rseq cut
exit $failed
