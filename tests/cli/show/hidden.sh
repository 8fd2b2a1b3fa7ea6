#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a traced program named its things, and how it was called, reaches no terminal as a control character, as one
# of C1, as DEL, or as what turns the direction of text; and no spreadsheet as a formula.
. "$(dirname "$0")/../lib.inc"

# shellcheck disable=SC2086 # several words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/show/hidden.c "$O/lib/libktr.a" -lpthread -o "$dir/hidden" || exit 1
evil=$(printf 'a\033[31m\177\302\233\342\200\256z')
status 0 env KTR_FILE="$dir/t" KTR_MASK=all KTR_KEEP_SESSION=1 "$dir/hidden" "$evil"

# No control but newline, carriage return and tab; no DEL, C1, bidirectional control.
hidden='[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae\x8e\x8f]|\xe2\x81[\xa6-\xa9]|\xd8\x9c'
harmless() {
	for file in "$dir/out" "$dir/err"; do
		LC_ALL=C grep -aqP "$hidden" "$file" &&
			fail "$*: $(LC_ALL=C grep -aP "$hidden" "$file" | head -n 2 | cat -v | cut -c1-200)"
	done
}

looks() {
	timeout 300 "$ktr" "$@" >"$dir/out" 2>"$dir/err" || fail "exit status of ktr $*: $? $(cat -v "$dir/err")"
	harmless "$@"
}

for what in dump report "dump --color never -H -k -f --function" "timeline --rows ids --width 120" \
	"timeline --rows threads --width 120" ls "export csv -o -" "export folded -o -" "export schedgraph -o -" \
	flame "flame --by-thread --least 0" fsck; do
	# shellcheck disable=SC2086
	case $what in
	ls) looks ls ;;
	*) looks $what "$dir/t" ;;
	esac
done
for query in "select * from events" "select * from spans" "select * from threads" "select * from trace" "select * from sites" \
	"select * from counters"; do
	looks sql "$dir/t" "$query"
done
looks sql --csv "$dir/t" "select * from events"

# JSON escapes them, and says the same: what jq or a terminal gets is text, not a control.
says() {
	looks "$@"
	python3 - "$dir/out" >"$dir/err" 2>&1 <<'END' || fail "$*: $(tail -n 1 "$dir/err")"
import json, sys
text = open(sys.argv[1], encoding='utf-8').read()
if '--array' in sys.argv or text.startswith('['):
    json.loads(text)
else:
    for line in text.splitlines():
        json.loads(line)
assert '\\u202e' in text and '\\u009b' in text and '\\u007f' in text
END
}
says json "$dir/t"
says json --array "$dir/t"
says report --json "$dir/t"
looks ls --json
says sql --json "$dir/t" "select * from events"
says sql --json "$dir/t" "select * from sites"
says tail --json --until-end "$dir/t"
looks export chrome -o - "$dir/t"
timeout 300 "$ktr" diff --json "$dir/t" "$dir/t" >"$dir/out" 2>"$dir/err"
harmless diff --json
# A page has its data packed; what it puts on the screen is what is in there. The same for pictures as text.
looks timeline --rows ids -o "$dir/t.html" "$dir/t"
looks timeline --rows ids -o "$dir/t.svg" "$dir/t"
looks export perfetto -o "$dir/t.pftrace" "$dir/t"
looks export tracedat -o "$dir/t.dat" "$dir/t"
python3 - "$dir" >"$dir/out" 2>&1 <<'END' || fail "pictures: $(tail -n 1 "$dir/out")"
import base64, re, sys, zlib
hidden = re.compile(rb'\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae\x8e\x8f]|\xe2\x81[\xa6-\xa9]|a\x1b\[31m')
# Among numbers two bytes may be any two: those of what the program says stand with others.
packed = re.compile(rb'\xe2\x80[\xaa-\xae\x8e\x8f]|\xe2\x81[\xa6-\xa9]|\x7f\xc2\x9b|a\x1b\[31m')
page = open(sys.argv[1] + '/t.html', 'rb').read()
for name, blob in re.findall(rb'<script type="application/x-ktr" id="(\w+)">([^<]*)', page):
    found = packed.search(zlib.decompress(base64.b64decode(blob)))
    assert not found, ('html', name, found)
for name, which in (('t.svg', hidden), ('t.pftrace', packed), ('t.dat', packed)):
    found = which.search(open(sys.argv[1] + '/' + name, 'rb').read())
    assert not found, (name, found)
END
# A name that is not there is repeated.
timeout 300 "$ktr" dump "$dir/$evil" >"$dir/out" 2>"$dir/err" && fail "a trace that is not there"
harmless dump of no trace
timeout 300 "$ktr" report --filter "$evil == 1" "$dir/t" >"$dir/out" 2>"$dir/err"
harmless a filter

# Spreadsheets: text that begins like a formula begins with a quote; numbers are numbers.
status 0 "$ktr" export csv -o "$dir/csv" "$dir/t"
python3 - "$dir/csv" >"$dir/out" 2>&1 <<'END' || fail "csv: $(cat "$dir/out")"
import csv, re, sys
rows = list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8')))
number = re.compile(r'[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$')
for row in rows:
    for cell in row:
        assert cell[:1] not in ('=', '+', '-', '@', '\t', '\r') or number.match(cell), cell
cells = {cell for row in rows for cell in row}
for text in ("'=cmd|' /C calc'!A0", "'-2+3", "'@SUM(1)", '-7', '-0.5'):
    assert text in cells, (text, sorted(cells))
END
exit $failed
