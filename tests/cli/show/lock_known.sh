#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is said of locks of which not all is told: where a release was lost, or its probe has spent its budget, nobody has the lock
# as far as is known; one that has ended has it still; two in one place are two; a reader's waiting says nothing of who writes;
# of two processes each tells its own. Locks by the members that they are; futexes; windows; merged tables; a full disk.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/show/lock_known.c -o "$dir/known" -lpthread || exit 1
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -DNAMED -Iinclude tests/programs/show/lock_known.c -o "$dir/named" \
	-L"$O/lib" -lktr -Wl,-rpath,"$(realpath "$O/lib")" -lpthread || exit 1
export KTR_BUDGET=0

# record OPTIONS... -- PROGRAM...
record() {
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent -o "$dir/t" "$@"
}
# row NAME: its states
row() {
	"$ktr" export chrome -o "$dir/chrome" "$dir/t" 2>"$dir/err" || fail "$1: $(cat "$dir/err")"
	python3 tests/cli/show/lock_known.py "$dir/chrome" | sed -n "s/^locks $1: //p"
}

# A busy machine may lose nothing, or what came first.
for i in $(seq 20); do
	record -e 256 --lock all "$dir/known" lost
	"$ktr" dump "$dir/t" >"$dir/events" 2>/dev/null
	grep -q 'mutex-release .*(table_lock' "$dir/events" || ! grep -q 'mutex-acquire .*(table_lock' "$dir/events" || break
done
is 'lost' "$(row table_lock)" 'held by known; not known'
is 'lost: in a lock that is told of again' "$(row noise_lock | sed 's/.*not known; //; s/.*; \([^;]*; [^;]*\)$/\1/')" 'held by known; free'
is 'lost: is told' "$("$ktr" lockstat "$dir/t" | grep -c '^[1-9][0-9]* events are lost: ') $("$ktr" lockstat -j "$dir/t" |
	grep -c '"lost": [1-9]')" '1 1'
is 'lost: not in tables' "$("$ktr" lockstat -H "$dir/t" | grep -c ' table_lock$')" 1 # of the owner changes

# The probe of giving back is off, or that of taking, before its owner gives it back.
for ms in 500 2000 10000; do
	rm -rf "$dir/t"
	KTR_BUDGET=1 status 0 "$ktr" run --agent -e 64k --lock hold,contention -o "$dir/t" "$dir/known" spent $ms
	"$ktr" dump --filter 'func == "debug.ktr.budget"' "$dir/t" >"$dir/off" 2>/dev/null
	[ "$(grep -c 'mutex-\(acquire\|release\)' "$dir/off")" = 2 ] && break
done
grep -q 'mutex-' "$dir/off" || fail 'nothing has spent its budget'
is 'spent' "$(row table_lock | sed 's/.*; //')" 'not known'
is 'spent: no order' "$("$ktr" lockstat "$dir/t" | grep -c '^Lock order')" 0

record --lock all "$dir/known" gone
is 'gone' "$(row table_lock)" 'held by leaver'
"$ktr" timeline --color never --width 200 --all "$dir/t" >"$dir/text" 2>/dev/null || fail 'gone: timeline'
python3 tests/cli/provider/lock_rows.py "$dir/text" >"$dir/rows"
grep -qx 'waiter is blocked on table_lock: table_lock is held by leaver' "$dir/rows" || fail "gone: $(cat "$dir/rows")"

record --lock all "$dir/named" again
is 'again: first' "$(row first)" 'held by owner; free; held by waiter; free; no more'
is 'again: second' "$(row second)" 'held by owner; free; held by waiter; free'
is 'again: in tables' "$("$ktr" lockstat -C -w "$dir/t" | awk '$3 == "first" || $3 == "second" { print $1, $3 }' | sort | uniq | paste -sd' ')" \
	'1 first 1 second'

# With the archive its own points and names are left out, which is said before it runs.
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -DNAMED -Iinclude tests/programs/show/lock_known.c -o "$dir/archive" "$O/lib/libktr.a" \
	-lpthread -ldl || exit 1
cp -r "$dir/t" "$dir/again"
record --lock all "$dir/archive" again
is 'the archive' "$(grep -c 'from its archive: its own points are not recorded' "$dir/err") $(row first)" '1 '
rm -rf "$dir/t"
mv "$dir/again" "$dir/t"
is 'none of our own' "$("$ktr" lockstat -n 0 "$dir/t" | grep -c 'libktr')" 0

record --lock contention "$dir/known" read
is 'read' "$(row map_lock | grep -c 'held by reader')" 0
is 'read: by whom it is written' "$(row map_lock | sed 's/;.*//; s/[0-9][0-9]*$/N/')" 'held by thread N'

record --lock all "$dir/known" shared
read -r parent child lock <"$dir/out"
"$ktr" dump --filter "args.lock == $lock && func == 'mutex-acquire'" "$dir/t" >"$dir/events" 2>/dev/null ||
	"$ktr" dump "$dir/t" | grep "mutex-acquire lock=$lock" >"$dir/events"
is 'shared: taken' "$(wc -l <"$dir/events")" 41
"$ktr" lockstat -j "$dir/t" >"$dir/json"
python3 - "$dir/json" "$lock" "$parent" "$child" <<'END' || fail 'shared: who waited for whom'
import json
import sys

told = json.load(open(sys.argv[1], encoding="utf-8"))
lock, parent, child = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
edges = [(row["thread"], row["owner"]) for row in told["waited_for"] if row["lock"] == lock]
assert (child, parent) in edges and set(edges) <= {(child, parent), (parent, child)}, edges
assert sum(row["locked"] for row in told["locks"] if row["lock"] == lock) == 41, told["locks"]
END

record --lock hold "$dir/known" members
names='early.in.lock in_function[3] parts[0][1].rows[1] parts[2][1].lock whole.first whole.inner.lock'
is 'members' "$("$ktr" lockstat -j "$dir/t" | python3 -c '
import json, re, sys
print(*sorted(re.sub(r"in_function\.\d+", "in_function", row["lock"]) for row in json.load(sys.stdin)["locks"]))')" "$names"
is 'by variable' "$("$ktr" lockstat -c "$dir/t" | sed -n '/^Owner changes/,$p' | awk '$4 ~ /^(parts|whole)$/ { print $1, $4 }' | sort |
	paste -sd' ')" '2 parts 2 whole'
is 'members of a pattern' "$("$ktr" lockstat -H -l 'parts*lock' "$dir/t" | grep -c ' parts\[2\]\[1\]\.lock')" 2
is 'any lock' "$("$ktr" lockstat -W "$dir/t" | sed -n '/^Owner changes/,$p' | awk '$4 == "-" { print $1 }')" 6
if echo '#include <mutex>
struct none {};
struct counted { long n; };
struct has { std::mutex lock; };
struct shard : none { std::mutex lock; };
struct table : counted, has { union { char bytes[80]; shard shards[2]; }; table() : shards() {} ~table() {} };
static shard shards[3];
static table tables[2];
int main() { for (auto lock : { &shards[1].lock, &shards[2].lock, &tables[1].lock, &tables[0].shards[1].lock }) {
	lock->lock(); lock->unlock(); } }' | ${CXX:-c++} -std=c++17 -g -O1 -x c++ - -o "$dir/bases" -lpthread 2>"$dir/err"; then
	record --lock hold "$dir/bases"
	is 'bases and unions' "$("$ktr" lockstat -j "$dir/t" | python3 -c '
import json, sys
print(*sorted(row["lock"] for row in json.load(sys.stdin)["locks"]))')" \
		'shards[1].lock shards[2].lock tables[0].shards[1].lock tables[1].lock'
else
	skip "C++: $(head -n 1 "$dir/err")"
fi

record --lock contention "$dir/known" futex
read -r waited refused <"$dir/out"
is 'futexes' "$("$ktr" lockstat -C -w "$dir/t" | sed -n '/^Futex block/,$p' | awk '$3 ~ /word$/ { print $1, $3 }')" "$((waited + 1)) word"
is 'futexes: refused' "$("$ktr" lockstat -E -w "$dir/t" | awk '$3 ~ /word$/ { print $3, $2, $1 }' | sort | paste -sd' ')" \
	"other_word EAGAIN 5 other_word EINVAL 3$([ "$refused" = 0 ] || echo " word EAGAIN $refused")"
is 'futexes: errors' "$("$ktr" dump "$dir/t" | grep -c 'futex-blocked .*error=110 ')" 1
if echo '#include <atomic>
#include <thread>
#include <chrono>
static std::atomic<int> flag;
int main() { std::thread t([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); flag = 1; flag.notify_all(); });
	flag.wait(0); t.join(); }' | ${CXX:-c++} -std=c++20 -g -O1 -x c++ - -o "$dir/atomic" -lpthread 2>"$dir/err"; then
	record --lock contention "$dir/atomic"
	is 'std::atomic' "$("$ktr" lockstat -C -n 0 "$dir/t" | grep -c '^Futex block: [1-9]')" 1
fi

# A window begins with what came before it.
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/show/lock_rows.c -o "$dir/rows" -lpthread || exit 1
record --lock all --heap all "$dir/rows"
"$ktr" export chrome -o "$dir/chrome" --from 250ms "$dir/t" 2>"$dir/err" || fail "a window: $(cat "$dir/err")"
python3 tests/cli/show/lock_known.py "$dir/chrome" >"$dir/told"
is 'a window: who has it' "$(sed -n 's/^locks table_lock: //p' "$dir/told")" 'held by owner; free; held by waiter; free'
is 'a window: who waits' "$(sed -n 's/^waits waiter: \(blocked on table_lock\);.*/\1/p' "$dir/told")" 'blocked on table_lock'
is 'a window: memory' "$(grep -c '^[a-z ]*bytes \(in use: 52[0-9]* to 52\|mapped: 2097152 to 2097152\)' "$dir/told")" 2
is 'a window: nothing before it' "$(python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
print(sum(event["ts"] < 249000 for event in events if event["ph"] != "M"))' "$dir/chrome")" 0
status 1 "$ktr" export chrome -o "$dir/none" --from 1h "$dir/t"

# A disk that is full is no memory.
if [ -c /dev/full ]; then
	for command in 'lockstat -j' 'heap -j' lockstat heap; do
		# shellcheck disable=SC2086 # words
		"$ktr" $command "$dir/t" >/dev/full 2>"$dir/err" && fail "$command: a full disk"
		is "$command: a full disk" "$(cat "$dir/err")" "ktr ${command%% *}: cannot write the output: No space left on device"
	done
	status 1 "$ktr" lockstat -j -o /dev/full "$dir/t"
	is 'a full disk, by name' "$(cat "$dir/err")" 'ktr lockstat: /dev/full: No space left on device'
fi

# Attached to for a moment, with stacks.
"$dir/known" spent 60000 &
pid=$!
recorder=
at_exit() {
	kill -9 $pid $recorder 2>/dev/null
}
top=$PWD
case $ktr in /*) tool=$ktr ;; *) tool=$top/$ktr ;; esac
(cd "$dir" && rm -rf ktr.out && "$tool" lockstat -H --depth 3 -v -p $pid -e 500ms >told 2>err)
case $(cat "$dir/err") in
*'kernel forbids'* | *ptrace*) skip "$(cat "$dir/err")" ;;
*)
	is 'attached' "$(grep -c "^ktr lockstat: attached to process $pid\$" "$dir/err")" 1
	is 'attached: held' "$(grep -c '^Mutex hold: [1-9]' "$dir/told")" 1
	is 'attached: stacks' "$(grep -c '^ *in noise < ' "$dir/told")" 1
	grep -q '^ *in noise < ' "$dir/told" || cat "$dir/told"
	kill -0 $pid || fail 'attached: it has ended'
	# Another time nothing is of the time before, of which the rings have all still.
	kill -9 $pid
	"$dir/known" turns >"$dir/out" &
	pid=$!
	for lock in table_lock own_lock; do
		await "grep -q '^$lock' '$dir/out'"
		(cd "$dir" && "$tool" lockstat -j -H -p $pid -e 200ms >told 2>err) || fail "attached again: $(cat "$dir/err")"
		is "attached: $lock" "$(python3 -c '
import json, sys
print(*sorted({row["lock"] for row in json.load(sys.stdin)["tables"]["Mutex hold"]}))' <"$dir/told")" "$lock"
		kill -USR1 $pid
	done
	is 'attached: what the trace has' "$("$ktr" dump "$dir/ktr.out" | grep -c 'mutex-acquire .*(table_lock' | sed 's/[1-9].*/some/')" some
	# Of one whose trace somebody has written already the session tells; a trace that lies about is another's.
	kill -9 $pid
	: >"$dir/out" # what was said before is not waited for
	"$ktr" run --agent --heap 512k -o "$dir/other" "$dir/known" turns >"$dir/out" 2>"$dir/err" &
	recorder=$!
	await "grep -q '^table_lock' '$dir/out'"
	pid=$(sed -n 's/^table_lock //p' "$dir/out")
	(cd "$dir" && "$tool" lockstat -j -H -p "$pid" -e 200ms >told 2>err) || fail "attached, recorded: $(cat "$dir/err")"
	is 'attached, recorded' "$(grep -c '"lock": "table_lock"' "$dir/told" | sed 's/[1-9].*/some/')" some
	kill -9 "$pid"
	wait $recorder
	recorder=
	# A name that was recorded before, which waits in its ring.
	KTR_MASK=init LD_PRELOAD=$O/lib/libktr-agent.so "$dir/named" named >"$dir/out" &
	pid=$!
	await "grep -q '^named' '$dir/out'"
	(cd "$dir" && "$tool" lockstat -j -H -p $pid -e 200ms >told 2>err) || fail "attached, named: $(cat "$dir/err")"
	is 'attached, named' "$(grep -c '"lock": "early name"' "$dir/told" | sed 's/[1-9].*/some/')" some
	;;
esac
status 2 "$ktr" lockstat -e 1 "$dir/t"
status 2 "$ktr" lockstat -e never -p 1
exit $failed
