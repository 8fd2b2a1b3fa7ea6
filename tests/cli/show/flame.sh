#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr flame: what frames have for themselves sums up to what they have in all and to what `ktr export folded` says, in
# each form; names are text and nothing else; comparisons say what changed; what cannot be drawn is said.
. "$(dirname "$0")/../lib.inc"

$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -Iinclude \
	tests/programs/show/flame.c -o "$dir/flame" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
long=$(printf '%0400d' 0 | tr 0 x)
for run in 'a 1000' 'b 30000' "s 10 stacks $long"; do
	# shellcheck disable=SC2086
	set -- $run
	"$ktr" run -m all -o "$1" ./flame "$2" ${3:+$3} ${4:+$4} >log 2>&1 || fail "run $1: $(cat log)"
done

sum() {
	awk '{ n += $NF } END { printf "%d\n", n }' "$1"
}

for trace in a s; do
	"$ktr" export folded $trace -o export.folded || fail "export $trace"
	"$ktr" flame -o whole.folded $trace && "$ktr" flame --by-thread -o threads.folded $trace || fail "folded of $trace"
	[ "$(sum export.folded)" -gt 0 ] || fail "$trace: nothing in it"
	is "sum of $trace" "$(sum whole.folded)" "$(sum export.folded)"
	# Of each thread by itself: with its id, and without it what export says.
	is "threads of $trace" "$(cut -d';' -f2 threads.folded | grep -c '^<b>:worker [0-9]*$')" "$(grep -c '<b>:worker [0-9]' threads.folded)"
	sed -E 's/^(flame;[^;]*) [0-9]+(;| )/\1\2/' threads.folded |
		awk '{ n = $NF; sub(/ [0-9]+$/, ""); s[$0] += n } END { for (i in s) printf "%s %d\n", i, s[i] }' | sort >sorted
	sort export.folded | cmp -s - sorted || fail "$trace by thread is not what export says"
	"$ktr" flame -o $trace.svg $trace && "$ktr" flame -o $trace.html $trace || fail "pictures of $trace"
	"$ktr" flame --least 0 $trace >$trace.txt || fail "text of $trace"
	python3 - $trace whole.folded <<'END' || fail "forms of $trace"
import collections, json, re, sys, xml.etree.ElementTree as ET
trace, folded = sys.argv[1:]
page = open(trace + '.html', encoding='utf-8').read()
assert page.count('<script') == 2 and page.count('</script') == 2 and ('alert(1)' in page) == (trace == 'a')
assert "default-src 'none'" in page and '://' not in page.split('<script')[0]
data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)[1])
paths, got, total = [], collections.Counter(), collections.Counter()
for i, (parent, name, self_, all_, before) in enumerate(data['nodes']):
    assert parent < i
    paths.append(paths[parent] + [data['names'][name]] if parent > 0 else [data['names'][name]] if i else [])
    got[';'.join(paths[i])] += self_
    total[i] += self_
for i in range(len(data['nodes']) - 1, 0, -1):
    assert total[i] == data['nodes'][i][3], (paths[i], total[i], data['nodes'][i])
    total[data['nodes'][i][0]] += total[i]
want = collections.Counter()
for line in open(folded, encoding='utf-8'):
    stack, n = line.rstrip('\n').rsplit(' ', 1)
    want[stack] += int(n)
assert {k: n for k, n in got.items() if n} == dict(want), (got, want)
assert data['unit'] == ('stack' if trace == 's' else None)
# One colour for one name, all of the width for all, nothing outside of its parent's level below it.
svg = ET.parse(trace + '.svg').getroot()
colours, boxes, text = {}, [], '{http://www.w3.org/2000/svg}'
for g in svg.iter(text + 'g'):
    title, rect = g.find(text + 'title').text, g.find(text + 'rect')
    name = title[:title.rindex(': ', 0, title.index('% of all'))]
    assert colours.setdefault(name, rect.get('fill')) == rect.get('fill'), name
    boxes.append((name, float(rect.get('x')), float(rect.get('width')), int(rect.get('y'))))
assert boxes[0][0] == 'all' and boxes[0][2] > 1170, boxes[0]
# What stands in a box fits into it, and is a whole name, or enough of one; lines are not wider than the picture.
for g in svg.iter(text + 'g'):
    label = g.find(text + 'text')
    if label is not None:
        assert len(label.text) * 6.7 <= float(g.find(text + 'rect').get('width')), label.text
        assert '…' not in label.text or len(label.text) > 5, label.text
for line in svg.findall(text + 'text'):
    assert len(line.text) * 6.4 <= 1176, line.text
assert ('x…x' in ''.join(line.text for line in svg.findall(text + 'text'))) == (trace == 's')
for name, x, width, y in boxes[1:]:
    assert any(y + 17 == b[3] and b[1] - 1.1 <= x and x + width <= b[1] + b[2] + 1.1 for b in boxes), (name, x, width, y)
words = ' '.join(t.text or '' for t in svg.iter(text + 'text'))
if trace == 's':
    assert 'flame_leaf was innermost in 100 % of 60 stacks' in words, words
    assert {b[0] for b in boxes} >= {'flame_leaf', 'flame_other', 'run'}, boxes
else:
    assert 'inner had most time for itself' in words and '1 spans lack their end' in words, words
    assert len({b[3] for b in boxes}) >= 23, 'levels'
END
	LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' $trace.svg $trace.html $trace.txt &&
		fail "$trace: controls"
	head -n 1 $trace.txt | grep -qE '^(inner had most|flame_leaf was innermost)' || fail "title: $(head -n 1 $trace.txt)"
done
[ "$(LC_ALL=C "$ktr" flame --width 60 a | LC_ALL=C grep -c '[^ -~]')" = 0 ] || fail "text in ASCII"

# 30 ms instead of 1 ms, twenty times, is 580 ms more, and the scheduler may add to either.
"$ktr" flame --diff a b >text && head -n 1 text | grep -qE '^inner changed most: [0-9.]+ ms more' || fail "diff: $(head -n 1 text)"
"$ktr" flame --diff a -o d.svg b && "$ktr" flame --diff a -o d.html b || fail "pictures of a comparison"
grep -q 'blue: up to [0-9.]* ms less for itself, red: more' d.svg || fail "legend"
awk '/<title>inner: / && /fill="#f55050"/ { red++ } /<title>outer: / && /fill="#f55050"/ { red = 9 } END { exit red != 1 }' d.svg ||
	fail "what changed is not red"
"$ktr" flame --diff b a | head -n 1 | grep -qE '^inner changed most: [0-9.]+ ms less' || fail "diff the other way"
"$ktr" flame --icicle -o i.svg a || fail icicle
[ "$(grep -n '<title>all:' i.svg | sed 's/.* y="\([0-9]*\)".*/\1/')" -lt "$(grep '<title>all:' a.svg | sed 's/.* y="\([0-9]*\)".*/\1/')" ] ||
	fail "icicle: not on top"

# Within a window, through a filter, and what cannot be.
"$ktr" flame --filter 'pid == 1' a >/dev/null 2>err
[ $? = 1 ] && grep -q 'no event passes the filter' err || fail "filter: $(cat err)"
"$ktr" flame --filter 'kind == event' a >/dev/null 2>err
[ $? = 1 ] && grep -q 'neither stacks' err || fail "points only: $(cat err)"
for wrong in '-o x.png a' '--least 1 -o x.svg a' '--icicle a' '--rate a' '--width 50 -o x.svg a' '--diff a -o x.folded b'; do
	# shellcheck disable=SC2086
	status 2 "$ktr" flame $wrong
done
status 1 "$ktr" flame -o none/x.svg a
status 1 "$ktr" flame --diff none -o x.svg a
[ ! -e x.svg ] || fail "a file was left behind"
exit $failed
