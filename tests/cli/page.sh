#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr timeline -o FILE.html: the page is well-formed whatever names a trace holds, and every event is in
# it. What a browser makes of it is the matter of make check-page.
set -u
O=$(cd "${O:-build}" && pwd)
top=$PWD
dir=$(mktemp -d) || exit 1
KTR_DIR=$(mktemp -d /dev/shm/ktr-test-XXXXXX) || exit 1
export KTR_DIR
trap 'rm -rf "$dir" "$KTR_DIR"' EXIT
ktr=$O/bin/ktr
failed=0
unset KTR_DISABLE KTR_SESSION KTR_CONF KTR_MASK KTR_FILE

fail() {
	echo "$*"
	failed=1
}

. tests/page/hostile.sh
hostile_program "$dir/hostile" || exit 1
cd "$dir" || exit 1
"$ktr" run -o ktr.out -e 65536 -m all -- ./hostile 20000 >log 2>&1 || fail "run: $(cat log)"
"$ktr" json --events >told || fail "json"
"$ktr" timeline -o page.html || fail "timeline"
python3 "$top/tests/page/unpack.py" page.html told >log 2>&1 || fail "$(cat log)"

# A part of the trace; fewer events than there are; an older page stays where a new one fails.
"$ktr" timeline --from 300us --to 900us -o part.html || fail "part"
"$ktr" json --events --from 300us --to 900us >part || fail "json of a part"
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
