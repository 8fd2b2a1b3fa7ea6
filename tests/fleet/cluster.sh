#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A cluster of two shards on ports of their own, the second of two replicas: each host ships to its shard, questions are asked of
# all. With a replica dead the answers are the same; with a shard dead they say so, in each form, and the exit status tells.
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
members=
at_exit() {
	for m in $members; do kill -9 "$m" 2>/dev/null; done
	[ -z "$keeper" ] || kill -9 "$keeper" 2>/dev/null
}
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Iinclude tests/programs/tool/spans_flood.c -o "$dir/flood" "$O/lib/libktr.a" -lpthread || exit 1
cd "$dir" || exit 1
for i in 1 2; do KTR_MASK=all KTR_FILE=host$i.ktr ./flood $((i * 3000)) >/dev/null || fail "the program failed"; done
keeper_start || { skip "there is no ZooKeeper"; exit 77; }

# Each server is one of server.inc's; it is told of the others.
base=$dir
# shellcheck disable=SC2046 # several words
set -- $(free_ports 9)
for m in a b c; do
	mkdir -p $m
	dir=$base/$m http_port=$1 tcp_port=$2 peer_port=$3
	eval "http_$m=$1 tcp_$m=$2"
	server_config_of
	shift 3
done
dir=$base
member() { echo "<replica><host>127.0.0.1</host><port>$1</port></replica>"; }
shards="<remote_servers><pair><shard><internal_replication>true</internal_replication>$(member "$tcp_a")</shard>
	<shard><internal_replication>true</internal_replication>$(member "$tcp_b")$(member "$tcp_c")</shard></pair></remote_servers>"
shard=1
for m in a b c; do
	sed "s|</yandex>||; s|<shard>1</shard><replica>one</replica>|<shard>$shard</shard><replica>$m</replica>|" $m/ch/config.xml >config
	{ cat config; echo "$shards</yandex>"; } >$m/ch/config.xml
	shard=2
done
# start MEMBER, and stop it: $pid_MEMBER
start() {
	clickhouse-server --config-file="$base/$1/ch/config.xml" >"$1/ch/out" 2>&1 &
	eval "pid_$1=$! tcp_port=\$tcp_$1"
	members="$members $!"
	await 'ask "SELECT 1" >/dev/null 2>&1'
}
stop() {
	eval "kill -9 \$pid_$1"
	eval "wait \$pid_$1" 2>/dev/null
}
for m in a b c; do start $m; done
url_a=http://127.0.0.1:$http_a url_b=http://127.0.0.1:$http_b url_c=http://127.0.0.1:$http_c
for to in $url_a $url_b $url_c; do
	"$ktr" ship --to "$to" --create --replicated --cluster pair 2>err || fail "--create: $(cat err)"
done
"$ktr" ship --to "$url_a" --state state --host web01 --spans host1.ktr 2>err || fail "web01: $(cat err)"
"$ktr" ship --to "$url_b" --state state --host web02 --spans host2.ktr 2>err || fail "web02: $(cat err)"

all() { "$ktr" fleet --database ktr_all --patience 5s "$@" >out 2>err; }
# answers SERVER: what all questions come to
answers() {
	for question in top slow losses hosts "span request" "diff web01 web02"; do
		# shellcheck disable=SC2086 # a question and its names
		all $question "$1" || { fail "$question: $(cat err)"; continue; }
		cat out
	done
}
answers "$url_a" >whole
is "hosts" "$(grep -c '^web0[12] .*20[0-9][0-9]-' whole | sed 's/^[1-9][0-9]*$/some/')" some
is "bases" "$(grep '^basis' whole | sort -u | sed 's/.*hosts 2, traces 2,.*shards 2, shards unavailable 0$/all/')" all
is "events" "$(tcp_port=$tcp_a ask "SELECT count() FROM ktr_all.events")" \
	"$(for i in 1 2; do "$ktr" report --json host$i.ktr 2>/dev/null; done | python3 -c '
import json, sys
print(sum(json.loads(line)["events"] for line in sys.stdin if line.strip()))')"

# A replica is dead, and the other one answers as it did.
tcp_port=$tcp_c
await '[ "$(ask "SELECT count() FROM ktr.spans")" = "$(tcp_port=$tcp_b ask "SELECT count() FROM ktr.spans")" ]'
await '[ "$(ask "SELECT count() FROM ktr.events")" = "$(tcp_port=$tcp_b ask "SELECT count() FROM ktr.events")" ]'
stop b
answers "$url_a" >got
cmp -s got whole || fail "without a replica: $(diff whole got | head -n 4)"

# The whole shard is dead.
stop c
for question in top hosts "span request"; do
	# shellcheck disable=SC2086
	all $question "$url_a" && fail "$question: the exit status of an answer of one shard"
	grep -q '1 of the 2 shards of ktr_all did not answer: this is of the rest' err || fail "$question: $(cat err)"
	grep -q '^basis: hosts 1, traces 1,.* shards 2, shards unavailable 1$' out || fail "$question: $(cat out)"
done
all hosts --json "$url_a" && fail "the exit status of JSON of one shard"
is "JSON" "$(python3 -c 'import json
a = json.load(open("out"))
print(len(a["rows"]), a["basis"][0]["shards"], a["basis"][0]["shards_unavailable"])')" "1 2 1"
"$ktr" fetch --database ktr_all --patience 5s --host web01 -o near.ktr "$url_a" >out 2>err || fail "fetch: $(cat err)"
"$ktr" dump -q near.ktr >got 2>err
"$ktr" dump -q host1.ktr >want 2>err
cmp -s got want || fail "fetch of a shard that is there: $(diff got want | head -n 4)"
"$ktr" fetch --database ktr_all --patience 5s --host web02 -o far.ktr "$url_a" >out 2>err && fail "fetch of a shard that is dead"
grep -q 'shards of ktr_all did not answer' err || fail "fetch of a shard that is dead: $(cat err)"
[ ! -e far.ktr ] || fail "a trace of a shard that is dead"

# And back.
start b
start c
await '[ "$(tcp_port=$tcp_c ask "SELECT count() FROM ktr.events")" -gt 0 ]'
answers "$url_a" >got
cmp -s got whole || fail "with all again: $(diff whole got | head -n 4)"
status 2 "$ktr" ship --schema --cluster "a'b"
status 2 "$ktr" ship --to "$url_a" --cluster pair host1.ktr
exit $failed
