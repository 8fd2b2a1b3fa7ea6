#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr timeline -o FILE.html: the page is well-formed whatever names a trace holds, and every event is in
# it. What a browser makes of it is the matter of make check-page.
. "$(dirname "$0")/../lib.inc"

. tests/page/hostile.sh
hostile_program "$dir/hostile" || exit 1
cd "$dir" || exit 1
"$ktr" run -o ktr.out -e 65536 -m all -- ./hostile 20000 >log 2>&1 || fail "run: $(cat log)"
"$ktr" json --events >told || fail "json"
"$ktr" timeline -o page.html || fail "timeline"
python3 "$top/tests/page/unpack.py" page.html told >log 2>&1 || fail "$(cat log)"

# A part of the trace; fewer events than there are; an older page stays where a new one fails.
# (The part lies between two events in the middle, however fast the program ran.)
python3 - told >window <<'END' || fail "window"
import json, sys
times = sorted(json.loads(line)["ts_ns"] for line in open(sys.argv[1]))
print(times[len(times) // 3] - times[0], times[len(times) * 2 // 3] - times[0])
END
read -r from to <window
"$ktr" timeline --from "${from}ns" --to "${to}ns" -o part.html || fail "part"
"$ktr" json --events --from "${from}ns" --to "${to}ns" >part || fail "json of a part"
[ "$(wc -l <part)" -ge $(($(wc -l <told) / 4)) ] || fail "$(wc -l <part) events between $from and $to ns"
python3 "$top/tests/page/unpack.py" part.html part >log 2>&1 || fail "part: $(cat log)"
"$ktr" timeline --events 1000 -o few.html || fail "few"
head -n 1000 told >few
python3 "$top/tests/page/unpack.py" few.html few >log 2>&1 || fail "few: $(cat log)"
cp few.html kept.html
"$ktr" timeline --group nobody -o few.html 2>log && fail "an empty page"
grep -q 'no group is called nobody' log || fail "$(cat log)"
cmp -s few.html kept.html || fail "the older page is gone"
"$ktr" timeline -o none/page.html 2>log && fail "a directory that is not there"
grep -q 'none/page.html: cannot be written: No such file or directory' log || fail "$(cat log)"
[ -z "$(find . -name '*.html.*')" ] || fail "left behind: $(ls)"
exit $failed
