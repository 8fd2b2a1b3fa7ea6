#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A server that answers nonsense: each of ktr ship, fetch and fleet ends by itself with 0 or 1, says in one printable line why,
# and what was shipped meanwhile is there once in the end.
#
#	ROUNDS=40 SEED=1 sh tests/fleet/fuzz.sh
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
ROUNDS=${ROUNDS:-40} SEED=${SEED:-1}
fake=
at_exit() {
	[ -z "$fake" ] || kill "$fake" 2>/dev/null
	servers_end
}
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=trace KTR_ENTRIES=65536 ./flood 40000 >/dev/null || fail "the program failed"
server_start || exit 1
"$ktr" ship --to "$url" --create 2>err || fail "--create: $(cat err)"
python3 "$top/tests/fleet/fake.py" fuzz "$SEED" "$http_port" >fake_port &
fake=$!
await '[ -s fake_port ]'
odd=http://127.0.0.1:$(cat fake_port)
# once COMMAND...
once() {
	timeout 60 "$ktr" "$@" >out 2>err
	rc=$?
	[ $rc -le 1 ] || fail "seed $SEED, $*: exit status $rc: $(cat err)"
	[ $rc = 0 ] || grep -q '^ktr' err || fail "seed $SEED, $*: failed and said nothing"
	[ "$(grep -c '^ktr [a-z]*: [^ ]*127' err)" -le 1 ] || fail "seed $SEED, $*: more than one line: $(cat err)"
	LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" err && fail "seed $SEED, $*: what no terminal should get: $(od -c err | head)"
	n_failed=$((n_failed + rc))
}
n=0 n_failed=0
while [ $n -lt "$ROUNDS" ]; do
	once ship --to "$odd" --state state --host web01 --spans --patience 1s trace
	once fleet top --patience 0 "$odd"
	rm -rf near.ktr
	once fetch --host web01 -o near.ktr --patience 0 "$odd"
	n=$((n + 1))
done
[ $n_failed -gt 0 ] || fail "nothing failed"
touch calm
"$ktr" ship --to "$odd" --state state --host web01 --spans trace 2>err || fail "at last: $(cat err)"
want=$("$ktr" report --json trace 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')
is "events and identities" "$(ask "SELECT count(), uniqExact(stream, idx) FROM ktr.events")" "$(printf '%s\t%s' "$want" "$want")"
is "spans" "$(ask "SELECT count() - (SELECT count() FROM ktr.spans FINAL) FROM ktr.spans")" 0
is "spans of ktr sql" "$(ask "SELECT count() FROM ktr.spans WHERE unsure = 0")" \
	"$("$ktr" sql --csv trace "SELECT count(*) FROM spans WHERE NOT unsure" 2>/dev/null | tail -n 1 | tr -d '\r')"
echo "seed $SEED: $n_failed of $((3 * n)) failed"
exit $failed
