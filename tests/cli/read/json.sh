#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Whatever a program logs, the JSON that comes of it is JSON: read by Python's parser, with nothing but what
# RFC 8259 has, and valid UTF-8. Of traces, sessions, losses and damage alike.
. "$(dirname "$0")/../lib.inc"
. tests/page/hostile.sh
hostile_program "$dir/hostile" || exit 1

cat >"$dir/values.c" <<'END'
#include <ktr.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
int main(void)
{
	volatile double zero = 0;
	unsigned long long top = UINT64_MAX, above = 1ull << 63, below = INT64_MAX;
	double nan = zero / zero, inf = 1 / zero, neg = -1 / zero, large = DBL_MAX, tiny = DBL_TRUE_MIN;
	long long least = INT64_MIN;
	static char patch[] = "PATCH ME HERE"; /* no literal: it lies in the ring */

	CTR4(KTR_NET, "%llu %lld %llu %llu", top, least, below, above);
	CTR6(KTR_NET, "%f %f %f %g %g %g", nan, inf, neg, large, tiny, -0.0);
	CTR3(KTR_NET, "%s %s %p", "\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\x01\x1f\x7f\"\\/\b\f\n\r\t", (void *)UINTPTR_MAX);
	CTR3(KTR_NET, "%s %s %c", (char *)NULL, "", 0);
	CTR1(KTR_NET, "%s", patch);
	for (char byte[2] = "\1"; (signed char)byte[0] > 0; byte[0]++)
		CTR1(KTR_GEN, "<%s>", byte);
	return 0;
}
END
$cc -std=gnu11 -O1 -D_GNU_SOURCE -Iinclude "$dir/values.c" -o "$dir/values" "$O/lib/libktr.a" -lpthread -lm || exit 1

cat >"$dir/check.py" <<'END'
import json
import sys

def refuse(word):
    raise ValueError(word + ' is no JSON')

def parse(text):
    return json.loads(text, parse_constant=refuse)

kind, path = sys.argv[1:3]
text = open(path, 'rb').read().decode('utf-8', 'strict')
records = [parse(line) for line in text.splitlines()] if kind == 'lines' else parse(text)
types = {r.get('type', 'event') for r in records} if kind != 'whole' else set()
if kind != 'whole':
    assert records, 'nothing at all'
for want in sys.argv[3:]:
    name, _, value = want.partition('=')
    if not value:
        assert name in types, f'no {name} among {types}'
        continue
    found = [r for r in records if r.get('args') and r['args'].get(name) == parse(value)]
    assert found, f'no event whose {name} is {value}: ' + str([r.get('args') for r in records])
END
check() { # what, lines or array or whole, what must be there...
	what=$1
	shift
	kind=$1
	shift
	python3 "$dir/check.py" "$kind" out "$@" >log 2>&1 || fail "$what: $(tail -n 1 log)"
}

cd "$dir" || exit 1
status 0 "$ktr" run -s values -o values.out -m net,gen ./values
status 0 "$ktr" json values.out
check "values" lines head event 'top="18446744073709551615"' 'above="9223372036854775808"' \
	'least=-9223372036854775808' 'below=9223372036854775807' 'nan="NaN"' 'inf="Infinity"' 'neg="-Infinity"' \
	'large=1.7976931348623157e308' 'tiny=5e-324'
# Each byte of ASCII alone in its message: as json.loads() finds it, as it was.
status 0 "$ktr" json --events --filter 'class == gen' values.out
check "each byte" lines event
python3 - <<'END' || fail "a message is not what was logged"
import json, sys
got = [json.loads(line)['msg'] for line in open('out', encoding='utf-8')]
sys.exit(got != [f'<{chr(i)}>' for i in range(1, 128)])
END
for options in "--array --events" --reverse; do
	# shellcheck disable=SC2086
	status 0 "$ktr" json $options values.out
	case $options in *array*) check "json $options" array event ;; *) check "json $options" lines event ;; esac
done
# A NUL that no C string can have: somebody else wrote to the session.
KTR_KEEP_SESSION=1 KTR_SESSION=patched KTR_MASK=net ./values || fail "values"
python3 - "$KTR_DIR/ktr-$(id -u)/patched.ktr" <<'END' || fail "nothing to patch"
import os, sys
fd, at, found = os.open(sys.argv[1], os.O_RDWR), 0, 0
size = os.fstat(fd).st_size
while at < size:
    try:
        at = os.lseek(fd, at, os.SEEK_DATA)
    except OSError:
        break
    piece = os.pread(fd, 1 << 20, at)
    place = piece.find(b'PATCH ME HERE')
    while place >= 0:
        # Not the argument's name, which is the source's text, in quotes.
        if piece[place - 1:place] != b'"':
            os.pwrite(fd, b'\0\xff', at + place + 5)
            found += 1
        place = piece.find(b'PATCH ME HERE', place + 1)
    at += len(piece)
sys.exit(not found)
END
status 0 "$ktr" json -s patched
check "a NUL" lines event
grep -q 'PATCH\\u0000' out || fail "the NUL is not there: $(tail -n 1 out)"

status 0 "$ktr" run -o hostile.out -e 256 -m all ./hostile 6000
"$ktr" json hostile.out >out || fail "json hostile.out"
check "hostile names, and losses" lines event loss
"$ktr" json --array hostile.out >out || fail "json --array hostile.out"
check "the same as an array" array event loss
for stream in hostile.out/cpu_* hostile.out/ring_*; do
	[ ! -s "$stream" ] || truncate -s -7 "$stream"
done
status 1 "$ktr" json hostile.out
check "a trace that is cut" lines note
for command in "report --json hostile.out" "ls --json"; do
	# shellcheck disable=SC2086
	"$ktr" $command >out 2>err
	check "$command" whole
done
exit $failed
