#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Rows of locks and memory that `ktr timeline` draws of a program without a line for them: while a thread is blocked on a lock
# the lock's row says who has it, also where waiting alone was recorded; locks that nobody waited for have no rows where there
# are many; memory grows when the program gets it. On a page as in text, and by the names that KTR_LOCK_NAME gives.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/show/lock_rows.c -o "$dir/plain" -lpthread || exit 1
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g -DNAMED -Iinclude tests/programs/show/lock_rows.c -o "$dir/named" \
	-L"$O/lib" -lktr -Wl,-rpath,"$(realpath "$O/lib")" -lpthread || exit 1

# run PROGRAM OPTIONS...: its trace
run() {
	program=$1
	shift
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent "$@" -o "$dir/t" "$dir/$program"
	heap_lock=$(cat "$dir/out")
}
draw() { # OPTIONS...
	"$ktr" timeline --color never --width 200 --all "$@" "$dir/t" >"$dir/text" 2>"$dir/err" || fail "$*: $(cat "$dir/err")"
	python3 tests/cli/provider/lock_rows.py "$dir/text" >"$dir/rows" || fail "$*: rows"
}
# rows TEXT: what the rows say
has() {
	grep -qx "$2" "$dir/rows" || fail "$1: no $2 in: $(grep "${2%% *}" "$dir/rows")"
}

for kinds in contention all; do
	run plain --lock "$kinds" --heap all
	for by in ids threads; do
		draw --rows "$by"
		has "$kinds $by" 'waiter is blocked on table_lock: table_lock is held by owner'
		has "$kinds $by" "waiter is blocked on mutex $heap_lock: mutex $heap_lock is held by owner"
		has "$kinds $by" 'table_lock: waiters is 1 open'
	done
done
has 'memory' 'bytes in use to 10'
has 'mappings' 'bytes mapped to 4'
is 'few of the quiet ones' "$(sed 's/.*: \([0-9]* locks\)/\1/' "$dir/err")" \
	'281 locks that no thread waited for have no rows; --quiet-locks draws them'
is 'those that have rows' "$(grep -c "^ *quiet" "$dir/text")" 20
draw --quiet-locks
has 'read' 'map_lock is read by 2'
is 'all of them' "$(grep -c '^ *quiet' "$dir/text") $(cat "$dir/err")" '300 '

# A lock that is kept long is worth a headline where somebody waits for it.
for what in kept waited; do
	rm -rf "$dir/k"
	status 0 "$ktr" run --agent --lock all -o "$dir/k" "$dir/plain" $what
	"$ktr" timeline --color never "$dir/k" 2>/dev/null |
		grep -c '^quiet\[7\] is "held by plain ([0-9]*)" [0-9.]* % of the time' >"$dir/$what"
done
is 'kept: no headline; waited for: one' "$(cat "$dir/kept") $(cat "$dir/waited")" '0 1'

# The page has the same rows.
"$ktr" timeline -o "$dir/t.html" "$dir/t" 2>/dev/null || fail 'a page'
[ -s "$dir/t.html" ] || fail 'no page'
for j in 1 4; do
	"$ktr" export perfetto -j $j -o "$dir/tracks" "$dir/t" 2>/dev/null
	is "tracks by $j threads" "$(grep -ac 'held by owner' "$dir/tracks" | sed 's/^[1-9].*/some/')" some
done

# Names that the program gives, which is linked with libktr.so.
run named --lock all --heap all
draw
has 'named' "waiter is blocked on the cache's lock: the cache's lock is held by owner"
is 'its sums, too' "$("$ktr" lockstat -C -l "the cache*" "$dir/t" | grep -c "the cache's lock")" 2
is 'its memory' "$("$ktr" heap --by mapped "$dir/t" | awk '/% .* main/ { print $1 }')" 2097152
exit $failed
