#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is hard to draw, in all forms: many threads and rows, long names, letters that few fonts have, deep recursion, a day
# of 10 ms, numbers far apart, nearly everything lost, one event, none.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude tests/programs/show/hard.c -o "$dir/hard" "$O/lib/libktr.a" \
	-lpthread || exit 1
cd "$dir" || exit 1
LC_ALL=C.UTF-8
export LC_ALL
traces='threads rows names odd deep numbers day flood one none'
for trace in $traces; do
	entries=16384
	[ $trace != flood ] || entries=1024
	KTR_CLOCK_SOURCE=monotonic "$ktr" run -m all -e $entries -o $trace ./hard $trace >log 2>&1 || fail "run $trace: $(cat log)"
	# A terminal of 80, 120, 200 columns: no line is wider, and without colours there are none.
	for width in 80 120 200; do
		status 0 "$ktr" timeline --width $width --color never $trace
		cp out $trace.$width
		COLORTERM=truecolor status 0 "$ktr" timeline --width $width --color always $trace
		cp out $trace.$width.rgb
		sed 's/'"$(printf '\033')"'\[[0-9;]*m//g' out >$trace.$width.plain
	done
	command -v gnuplot >/dev/null || continue
	for end in svg png pdf; do
		status 0 "$ktr" timeline -o $trace.$end $trace
	done
done
python3 "$top/tests/cli/show/hard.py" $traces >log 2>&1 || fail "$(cat log)"

# Reports and pages of long names.
"$ktr" report --top 0 names >report || fail "report"
is "names in a report that goes into a file" "$(grep -o '^  exchange 0[0-9]\.cluster\.[^ ]*/queue\.[01][0-9] ' report | sort -u | wc -l)" 11
# A comparison has them in full in a file, and on a terminal so that they can be told apart.
KTR_CLOCK_SOURCE=monotonic "$ktr" run -m all -e 16384 -o names2 ./hard names >log 2>&1 || fail "run names: $(cat log)"
"$ktr" diff --all names names2 >compared 2>&1
is "names in a comparison that goes into a file" \
	"$(grep -oE 'eighty\.characters\.in\.all\.places: waiting for an answer .* number (one|two), of many' compared | sort -u | wc -l)" 2
cat >terminal.py <<'END'
import os, pty, struct, sys, fcntl, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
text = b''
try:
    while True:
        more = os.read(fd, 65536)
        if not more:
            break
        text += more
except OSError:
    pass
sys.stdout.buffer.write(text.replace(b'\r\n', b'\n'))
END
PAGER=cat python3 terminal.py "$ktr" diff --all --color never names names2 >compared
is "the same on a terminal" "$(grep -oE 'a\.group.* of many' compared | sort -u | wc -l)" 2
command -v gnuplot >/dev/null || skip "gnuplot is not installed"
exit $failed
