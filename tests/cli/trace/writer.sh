#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The writer thread in hosts that close its descriptors, fork, change root and user, limit their files:
# every event is in the trace or counted, and the host's own files have nothing of it.
. "$(dirname "$0")/../lib.inc"

# The last value of a member of a trace's info.
member() {
	grep -o "\"$1\":[0-9]*" "$2/ktr/info.jsonl" 2>/dev/null | tail -n 1 | cut -d: -f2
}

$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/trace/host.c -o "$dir/host" "$O/lib/libktr.a" \
	-lpthread || exit 1

# mode, events
run() {
	t="$dir/$1"
	KTR_MASK=gen KTR_ENTRIES=64K KTR_FILE="$t" "$dir/host" "$1" "$2" "$dir/own.$1" 2>"$dir/err" ||
		fail "$1: the host failed with $?"
}

# What became of a trace that had no end when its program had gone.
endless() {
	before=$(ls -ld "$t"* 2>&1; tail -n 1 "$t/ktr/info.jsonl" 2>&1)
	sleep 2 # whoever else might write it
	fail "$1: no end; then: $before; 2 s later: $(ls -ld "$t"* 2>&1; tail -n 1 "$t/ktr/info.jsonl" 2>&1); it said: $(cat "$dir/err")"
}

# mode, expected events
check() {
	[ -n "$(member events "$t")" ] || { endless "$1"; return; }
	[ $(($(member events "$t") + $(member lost "$t"))) -eq "$2" ] ||
		fail "$1: $(member events "$t") written, $(member lost "$t") lost of $2"
	[ -e "$dir/own.$1" ] || return
	[ "$(cat "$dir/own.$1")" = "the host's own line" ] || fail "$1: the host's file has other bytes"
}

run none 20000 && check none 40000
[ -s "$dir/err" ] && fail "none: $(cat "$dir/err")"
run close 20000 && check close 40000
[ -e "$dir/own.close" ] || fail "close: the host's own file is missing"
run fork 20000 && check fork 60000
run exec 20000 && check exec 40000
if [ "$(id -u)" = 0 ]; then
	run chroot 20000 && check chroot 40000
	run early 20000 && check early 40000
	# It has no right to remove its session any more.
	grep -v 'session [^ ]* stays: ' "$dir/err" && fail "early: $(cat "$dir/err")"
fi

# Daemons: nobody waits for them. Their own process goes on with the trace, and every event is there once.
for mode in daemon swift leave jail; do
	[ $mode != jail ] || [ "$(id -u)" = 0 ] || continue
	ends=1 # a parent that calls _exit leaves none
	[ $mode = daemon ] || [ $mode = swift ] || ends=2
	done=$dir/own.$mode.done
	[ $mode != jail ] || done=$dir/own.jail.root/own.jail.done
	run $mode 10000
	await '[ -e "$done" ]'
	# Its exit handlers have run when the trace has its end.
	await '[ "$(grep -c "\"end\"" "$t/ktr/info.jsonl")" -ge "$ends" ]'
	"$O/bin/ktr" dump "$t" >"$dir/dump" 2>"$dir/err2"
	[ "$(grep -c 'before [0-9]' "$dir/dump")" -eq 10000 ] && [ "$(grep -c 'after [0-9]' "$dir/dump")" -eq 10000 ] ||
		fail "$mode: $(grep -c before "$dir/dump") and $(grep -c after "$dir/dump") events"
	[ -s "$dir/err2" ] && fail "$mode: $(cat "$dir/err2")"
	[ -e "$t.old.1" ] && fail "$mode: a trace was begun anew"
	[ -s "$dir/err" ] && fail "$mode: $(cat "$dir/err")"
	babeltrace2 "$t" >"$dir/dump" 2>&1 || fail "$mode: babeltrace2: $(tail -n 2 "$dir/dump")"
	[ $mode != daemon ] || [ "$(cat "$dir/own.$mode")" = "the host's own line" ] ||
		fail "$mode: the host's file has other bytes"
done

# A child that leaves the session has nothing to inherit, and says nothing.
for KTR_FOLLOW_FORK in own none; do
	export KTR_FOLLOW_FORK
	run apart 100
	await '[ -e "$dir/own.apart.done" ]'
	[ -s "$dir/err" ] && fail "follow_fork=$KTR_FOLLOW_FORK: $(cat "$dir/err")"
	[ "$(member events "$t")" -eq 100 ] || fail "follow_fork=$KTR_FOLLOW_FORK: $(member events "$t") events"
	rm -rf "$dir/own.apart.done" "$t"*
done
unset KTR_FOLLOW_FORK

# Standard error is a pipe that nobody reads any more, or reads at last: the host is neither killed nor held up.
for reader in true 'until [ -e "$done" ]; do sleep 0.01; done; cat'; do
	t=$dir/pipe
	done=$dir/own.pipe.done
	{
		KTR_VERBOSE=2 KTR_MASK=gen KTR_ENTRIES=64K KTR_FILE=$t timeout 300 "$dir/host" none 20000 "$dir/own.pipe" 2>&1
		echo $? >"$dir/status"
	} | sh -c "done=$done; $reader" >/dev/null
	[ "$(cat "$dir/status")" -eq 0 ] || fail "a pipe: the host failed with $(cat "$dir/status")"
	check pipe 40000
	rm -rf "$done" "$t"*
done

# The trace reaches the limit: the host lives on, and is told.
for mode in limit poor; do
	[ $mode != poor ] || [ "$(id -u)" = 0 ] || continue
	run $mode 60000
	grep -q 'cannot write' "$dir/err" || fail "$mode: nothing was said"
	[ "$(grep -vc 'session [^ ]* stays: ' "$dir/err")" -le 2 ] || fail "$mode: too much was said: $(cat "$dir/err")"
done

# Without an end: the session has the rest, and ktr salvage joins them. After a flush nothing is missing.
for mode in exit flush; do
	run $mode 10000
	[ $mode = flush ] || "$O/bin/ktr" salvage "$t" 2>"$dir/err" || fail "salvage: $(cat "$dir/err")"
	n=$("$O/bin/ktr" dump "$t" | grep -c 'host.c')
	[ "$n" -eq 20000 ] || fail "$mode: $n events"
done
exit $failed
