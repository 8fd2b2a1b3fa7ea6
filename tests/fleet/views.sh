#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A server that ended between a table and its views: the block is there, the view has not got it. Here the view is away while
# the block comes, and nobody hears the answer; the next ktr ship gives the view what it missed, once.
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
SEED=1
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=first KTR_ENTRIES=65536 ./flood 3000 >/dev/null || fail "the program failed"
KTR_MASK=all KTR_FILE=second KTR_ENTRIES=65536 ./flood 5000 >/dev/null || fail "the program failed"
server_start || exit 1
proxy_start 0
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
ship() { "$ktr" ship --to "$through" --state state --host web01 --spans --patience "$1" "$2" >out 2>err; }
rows="SELECT (SELECT count() FROM ktr.events) AS a, (SELECT sum(n) FROM ktr.site_minute) AS b,
	(SELECT count() FROM ktr.spans WHERE unsure = 0 AND open = 0) AS c, (SELECT countMerge(n) FROM ktr.span_minute) AS d"
for table in events spans; do
	trace=first view=site_minute_mv
	[ $table = events ] || { trace=second view=span_minute_mv; }
	ask "DETACH TABLE ktr.$view"
	echo "after $table" >cut
	ship 0 $trace && fail "$table: shipped, although nobody heard the answer"
	[ ! -e cut ] || fail "$table: nothing was cut"
	ask "ATTACH TABLE ktr.$view"
	ask "$rows" >had
	ship 20s $trace || fail "$table: again: $(cat err)"
	ask "$rows" >has
	python3 - <<-'PY' || fail "$table: $(cat had) became $(cat has)"
	had, has = ([int(x) for x in open(f).read().split()] for f in ('had', 'has'))
	assert had != has and has[0] == has[1] > 0 and has[2] == has[3] > 0
	PY
done
is "what was cut" "$(cat cuts)" "0 0 2"
exit $failed
