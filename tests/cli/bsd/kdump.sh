#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr kdump: the line of each type of record with each option (kdump.py), damaged files (kdump_damage.py; FULL=1: each
# cut and each bit), files that grow, that are not there, that are no file.
. "$(dirname "$0")/../lib.inc"

python3 tests/cli/bsd/kdump.py "$ktr" "$dir" || failed=1
python3 tests/cli/bsd/kdump_damage.py "$ktr" "$dir" || failed=1
cd "$dir" || exit 1

# Whatever it is: one line, and an end.
status 1 "$ktr" kdump
is "no file" "$(cat err)" "ktr kdump: ktrace.out: No such file or directory"
status 1 "$ktr" kdump -f .
is "a directory" "$(cat err)" "ktr kdump: .: Is a directory"
head -c 3000000 /dev/zero >zero
status 1 "$ktr" kdump -f zero
is "zeros" "$(cat err)" "ktr kdump: zero: byte 0: what is here has no type: no record of ktrace"
: >empty
status 0 "$ktr" kdump -f empty
status 1 "$ktr" kdump -f "$ktr"
is "lines about a program" "$(wc -l <err)" 1

# From a pipe, and by its other name; a reader that leaves early is no failure of ours to speak of.
ln -s "$ktr" kdump
"$ktr" ktrace -f out cat /etc/passwd >/dev/null || fail "ktrace cat"
"$ktr" kdump -f out >whole
grep -q 'NAMI  "/etc/passwd"' whole || fail "no path: $(head whole)"
./kdump -f - <out | cmp -s - whole || fail "from a pipe it is not the same"
"$ktr" kdump -f out 2>err | head -n 1 >/dev/null
is "said to a reader that left" "$(cat err)" ""
if [ -e /dev/full ]; then
	"$ktr" kdump -f out >/dev/full 2>err
	is "status on a full disk" $? 1
	is "said of a full disk" "$(cat err)" "ktr kdump: cannot write the output: No space left on device"
fi

# -l: what comes, whole, though it comes in pieces.
head -c 100 out >grows
"$ktr" kdump -l -f grows >lines &
reader=$!
at_exit() { kill "$reader" 2>/dev/null; }
tail -c +101 out | head -c 5000 >>grows
tail -c +5101 out >>grows
await 'cmp -s lines whole' || cmp lines whole
kill "$reader"
wait "$reader" 2>/dev/null
exit $failed
