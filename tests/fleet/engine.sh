#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A newer engine, which knows a block that comes again by its token: half of the inserts are not answered, and half of those were
# done. Rows and views have each event and span once, also where the user may not ask whether a batch is there. Questions answer
# as they do on the old one. The engine is fetched by npm; without it that is said.
. "$(dirname "$0")/../cli/lib.inc"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
ENGINE=${ENGINE:-$O/fleet/libchdb.so} SEED=${SEED:-1}
engine=
at_exit() { [ -z "$engine" ] || kill -9 "$engine" 2>/dev/null; }
[ -e "$ENGINE" ] || { skip "there is no $ENGINE (make check-fleet fetches @chdb/lib-linux-x64-gnu by npm)"; exit 77; }
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
for i in 1 2 3 4; do KTR_MASK=all KTR_FILE=t$i.ktr ./flood $((i * 300)) >/dev/null || fail "the program failed"; done
# start FOLDER: $url
start() {
	mkdir -p "$1"
	: >port
	python3 "$top/tests/fleet/engine.py" "$ENGINE" "$1" "$SEED" </dev/null >port 2>"$1/err" &
	engine=$!
	await '[ -s port ] || ! kill -0 $engine 2>/dev/null'
	url=http://127.0.0.1:$(cat port)
}
ask() {
	python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], sys.argv[2].encode()).read().decode(), end="")' "$url" "$1"
}
# all NAME: what is there of the traces
all() {
	want=$(for t in t?.ktr; do "$ktr" report --json $t 2>/dev/null; done | python3 -c '
import json, sys
print(sum(json.loads(line)["events"] for line in sys.stdin if line.strip()))')
	is "$1: events" "$(ask "SELECT count(), uniqExact(trace, stream, idx) FROM ktr.events" | tr '\t' ,)" "$want,$want"
	is "$1: minutes of events" "$(ask "SELECT sum(n) FROM ktr.site_minute")" "$want"
	is "$1: spans" "$(ask "SELECT count(), sum(dur) FROM ktr.spans WHERE open = 0 AND unsure = 0" | tr '\t' ,)" \
		"$(for t in t?.ktr; do
			"$ktr" sql --csv $t "SELECT count(dur), sum(dur) FROM spans WHERE NOT unsure" 2>/dev/null | tail -n 1 | tr -d '\r'
		done |
		awk -F, '{ n += $1; s += $2 } END { printf "%d,%d\n", n, s }')"
	is "$1: minutes of spans" "$(ask "SELECT countMerge(n), sumMerge(total) FROM ktr.span_minute")" \
		"$(ask "SELECT count(), sum(dur) FROM ktr.spans WHERE open = 0 AND unsure = 0")"
	[ "$(wc -l <unanswered)" -gt 3 ] || fail "$1: $(wc -l <unanswered) inserts were done and not answered"
}
for who in asks insert-only; do
	start db.$who
	[ -s port ] || { fail "the engine does not start: $(cat db.$who/err)"; break; }
	touch calm
	"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
	rm -f calm unanswered
	[ $who = asks ] || touch insert-only
	"$ktr" ship --to "$url" --state state.$who --host web01 --spans --patience 30s t?.ktr 2>err || fail "$who: $(cat err)"
	[ $who = asks ] || grep -q 'may not ask whether a batch' err || fail "$who: $(cat err)"
	rm -f insert-only
	touch calm
	all $who
	for question in top slow losses hosts "span request" "diff web01 web01" basis; do
		# shellcheck disable=SC2086 # a question and its names
		"$ktr" fleet $question "$url" >out 2>err || fail "$question: $(cat err)"
		grep -q . out || fail "$question: no answer"
	done
	kill -9 $engine
	wait $engine 2>/dev/null
	# What it had is there when it starts again.
	start db.$who
	all "$who, again"
	kill -9 $engine
	wait $engine 2>/dev/null
	engine=
done
exit $failed
