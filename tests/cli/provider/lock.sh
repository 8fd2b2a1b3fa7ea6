#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The provider lock, under the agent: a program that knows nothing of ktr waits for mutexes, C11's too, read-write locks,
# semaphores, conditions and barriers as often as it says, and `ktr lockstat` counts as many; what locks answer is what they
# answer without, also to who is cancelled, to recursive, checking and robust ones, and in a child; two threads that wait for
# each other are told in words while they hang; who asks for what is not there is told so.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
host=$dir/lock_host
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/provider/lock_host.c -o "$host" -lpthread || exit 1
unset LD_PRELOAD
export KTR_BUDGET=0 # what is counted is not switched off
hung=
at_exit() {
	[ -z "$hung" ] || kill -9 "$hung" 2>/dev/null
}

# rows TITLE: count and lock of a table's lines, those of one lock together
rows() {
	"$ktr" lockstat -n 0 "$dir/t" | awk -v title="$1:" '
		/^[A-Z].*: [0-9]+ events$/ { on = index($0, title) == 1 }
		on && $1 ~ /^[0-9]+$/ { n[$3] += $1 }
		END { for (lock in n) print lock, n[lock] }' | sort | paste -sd' '
}
# counted TITLE WANTED: if it is not so, also what ktr run has said, how many events there are of each kind, and what is off
counted() {
	got=$(rows "$1")
	[ "$got" = "$2" ] || fail "$1: \"$got\" instead of \"$2\", $(tail -n 1 "$dir/err"): $(
		"$ktr" dump --filter 'class == lock' "$dir/t" | grep -o ' is off: .*\| [a-z]*-[a-z]* ' | sort | uniq -c | paste -sd' ' | tr -s ' ')"
}
waits() {
	counted 'Mutex block' 'c11_lock 20 plain_lock 20'
	counted 'R/W reader block' 'rw_lock 10'
	counted 'R/W writer block' 'rw_lock 10'
	counted 'Semaphore block' 'semaphore 20'
	counted 'Condition block' 'condition 20'
	counted 'Barrier block' 'barrier 20'
	counted 'Who waited for whom' 'c11_lock 20 plain_lock 20 rw_lock 20'
}

for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent --lock contention -o "$dir/t" "$host" wait
	waits
	is 'no more than was asked for' "$("$ktr" dump "$dir/t" | grep -c ' lock .*\(acquire\|release\)')" 0
	is 'by class as by file' "$("$ktr" dump --filter 'class == lock' "$dir/t" | grep -c 'mutex-block')" \
		"$("$ktr" dump --filter 'file == lock' "$dir/t" | grep -c 'mutex-block')"
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent --lock all -o "$dir/t" "$host" wait
	waits
	# The main thread and the waiter, each; of plain_lock two more for each condition, which gives it and takes it again.
	counted 'Mutex hold' 'c11_lock 40 plain_lock 100'
	counted 'Spin hold' 'spinning_lock 20'
	counted 'R/W writer hold' 'rw_lock 30'
	"$ktr" lockstat "$dir/t" | grep -q 'not seen taken' && fail 'locks come from nowhere'
	rm -rf "$dir/t"
	status 0 "$ktr" run --agent --lock all -o "$dir/t" "$host" codes
	is 'answers' "$(cat "$dir/out")" 'as they should be'
	is 'a lock that was not to be had' "$("$ktr" dump "$dir/t" | grep -c 'mutex-error .*error=35 ')" 2
	"$ktr" dump "$dir/t" >"$dir/codes"
	is 'who has it does not wait for itself' "$(grep -c 'rw-block .*' "$dir/codes")" 0
	is 'who could not give it back gave nothing back, and got nothing' \
		"$("$ktr" json "$dir/t" | python3 tests/cli/provider/lock_pairs.py)" ''
	is 'cancelled' "$("$ktr" dump "$dir/t" | grep -c '\(cond\|sem\)-blocked .*error=125 ')" 2
done
unset KTR_PATH

# Stacks of who waits, and of who has what it waits for.
rm -rf "$dir/t"
status 0 "$ktr" run --agent --lock contention,hold,stacks -o "$dir/t" "$host" wait
waits
"$ktr" lockstat -C -n 0 "$dir/t" | grep -A 2 ' plain_lock .* for ' >"$dir/edges"
is 'stacks of waits' "$(grep -c '^ *waits in take_plain < start_thread' "$dir/edges")" 20
is 'stacks of owners' "$(grep -c '^ *for what was taken in main <' "$dir/edges")" 20

# With nothing asked for it is not there.
rm -rf "$dir/t"
status 0 "$ktr" run --agent -o "$dir/t" "$host" wait
is 'off' "$("$ktr" dump "$dir/t" | grep -c ' lock ')" 0
status 1 "$ktr" lockstat "$dir/t"
is 'nothing recorded' "$(sed 's/.*: nothing/nothing/' "$dir/err")" \
	'nothing of locks was recorded: ktr run --agent --lock contention'
status 2 "$ktr" run --agent --lock wait "$host"
status 2 "$ktr" run --lock all "$host"

# One command for both, and what it runs is told what the terminal sends.
top=$PWD
lockstat() {
	(cd "$dir" && rm -rf ktr.out && case $ktr in /*) "$ktr" lockstat "$@" ;; *) "$top/$ktr" lockstat "$@" ;; esac)
}
is 'who waits' "$(lockstat -- "$host" wait 2>"$dir/err" | grep -c '^Mutex block: 40 events$\|^Mutex hold')" 1
is 'all' "$(lockstat -A -- "$host" wait 2>"$dir/err" | grep -c '^Mutex block: 40 events$\|^Mutex hold: 140 events$')" 2
is 'its options are its own' "$(lockstat -- sh -c 'echo "$1"' sh -A 2>"$dir/err" | sed -n 1p)" -A
status 1 "$ktr" lockstat -- "$dir/no_such_program"
status 2 "$ktr" lockstat -p 1 -- "$host"

# A deadlock, while it lasts: one that has only been waited for must last to be one.
mkfifo "$dir/fifo"
LD_PRELOAD=$O/lib/libktr-agent.so KTR_SESSION=hung KTR_PROBES='lock:::*-block,lock:::*-blocked' "$host" hang >"$dir/fifo" &
hung=$!
read -r first second <"$dir/fifo"
await '"$ktr" lockstat -s hung >"$dir/said" 2>&1; grep -q ^Deadlock "$dir/said"'
is 'a deadlock' "$(grep '^Deadlock' "$dir/said")" "Deadlock: thread $first (lock_host) waits for second_lock, which thread \
$second (lock_host) has; thread $second (lock_host) waits for first_lock, which thread $first (lock_host) has"
kill -9 "$hung"
wait "$hung" 2>/dev/null
hung=
exit $failed
