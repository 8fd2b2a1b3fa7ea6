#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What `ktr lockstat` says in words: locks that threads take in different order, though they did not meet; convoys; herds. And
# nothing of programs that look like it: the same order, or by one thread, under a common lock, by attempts that do not wait, of
# readers, of a lock that another one has come in place of; a lock that is held long; a broadcast that each has waited for.
# FULL=1, in make check-long: also what depends on how threads are scheduled, convoys and inversions of priorities; and the
# indexer, whose own points say the same.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/provider/lock_told.c -o "$dir/lock_told" -lpthread || exit 1
unset LD_PRELOAD

# says WHAT: what is said of the program, threads and places left out
says() {
	rm -rf "$dir/t"
	"$ktr" run --agent --lock all -o "$dir/t" "$dir/lock_told" "$1" >/dev/null 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
	"$ktr" lockstat "$dir/t" | sed -n 's/thread [0-9]* (lock_told) //g; s/ ([a-z_]*+0x[0-9a-f]*)//g
		/^\(Lock order\|Priority\|Convoy\|Herd\|Deadlock\|Perhaps\|Still\)/p'
}
meet='at the same time they would wait'
is 'two' "$(says order)" "Lock order: has first_lock and asks for second_lock; has second_lock and asks for first_lock; $meet for each other"
is 'three' "$(says order-three)" "Lock order: has first_lock and asks for second_lock; has second_lock and asks for third_lock; has \
third_lock and asks for first_lock; $meet in a circle"
is 'to write' "$(says order-write)" "Lock order: has first_rw and asks for second_rw; has second_rw and asks for first_rw; $meet for each other"
for what in same one gate try read reuse; do
	is "order-$what" "$(says "order-$what")" ''
done
is 'herd' "$(says herd | sed 's/[0-9][0-9]*/N/g')" \
	'Herd: N broadcasts of condition woke N threads, of which N found nothing to do and waited again'
is 'each has waited for it' "$(says each)" ''
is 'held long' "$(says long)" ''
is 'of the same priority' "$(says equal)" ''
[ "${FULL:-0}" != 0 ] || exit $failed
# A convoy comes and goes as threads are scheduled.
for i in $(seq 60); do
	says convoy >"$dir/said"
	grep -q . "$dir/said" && break
done
is 'convoy' "$(sed 's/[0-9][0-9.]*/N/g' "$dir/said")" \
	'Convoy: handed_lock was waited for in N of N takings, N threads in line; it was held N us each time and took N us to hand over'
is 'inverted' "$(says inverted | sed 's/of thread [0-9]*/of N/; s/[0-9.]* ms/N ms/g; s/ity -*[0-9][0-9]*/ity N/g')" \
	"Priority inversion: of priority N waited N ms for first_lock of N of priority N, which got no CPU for N ms of it"
# One that sleeps with its lock; on a busy machine it may be kept from the CPU, too, and then that is said.
for i in $(seq 40); do
	says asleep >"$dir/said"
	"$ktr" json "$dir/t" | python3 -c '
import json, sys
ns = {"mutex-blocked": 1, "mutex-inverted": 0}
for event in map(json.loads, sys.stdin):
    if event.get("func") in ns:
        ns[event["func"]] = event["args"]["ns"]
sys.exit(2 * ns["mutex-inverted"] >= ns["mutex-blocked"])' && break
done
is 'asleep' "$(cat "$dir/said")" ''

# The indexer of the examples with its points, and without any of them, or libktr: which lock the workers waited for, and who
# had it.
$cc -std=gnu11 -D_GNU_SOURCE -O2 -g -DKTR_OFF -Iinclude examples/indexer/*.c -o "$dir/indexer" -lpthread || exit 1
mkdir "$dir/files"
find /usr/include -type f -name '*.h' | sort | xargs cat 2>/dev/null | head -c 24000000 | split -b 2000000 - "$dir/files/"
status 0 "$ktr" run -e 256k -o "$dir/points" -- "$O/examples/indexer" -j 4 -o "$dir/index" "$dir/files"
status 0 "$ktr" run --agent -e 256k --lock contention,hold -o "$dir/t" "$dir/indexer" -j 4 -o "$dir/index2" "$dir/files"
# A shard by its place in the array.
shard() {
	"$ktr" lockstat -n 0 "$dir/t" | python3 -c '
import collections, re, sys
waited = collections.Counter()
table = sys.stdin.read().split("\nWho waited for whom")[1].split("\nOwner changes")[0]
for n, ns, shard, caller in re.findall(r"^ *(\d+) +(\d+) shards\[(\d+)\]\S* .* for (\w+)\+", table, re.M):
    waited[int(shard), caller] += int(n) * int(ns)
print(*waited.most_common(1)[0][0])'
}
is 'the indexer: as its points have it' "$("$ktr" sql --csv "$dir/points" "SELECT key FROM spans WHERE grp = 'lock wait' GROUP BY key
	ORDER BY sum(dur) DESC LIMIT 1" | tr -d '\r' | tail -n 1) $("$ktr" dump "$dir/points" | sed -n 's/.*holder:"\([a-z]*\).*/\1/p' |
	sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')" '7 flusher'
is 'the indexer: and without them' "$(shard)" '7 flush_shard'
exit $failed
