#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program that has readied itself (ktr_sandbox(3)) asks the kernel for nothing when it records, whatever others do to
# its session and wherever its threads are moved: it would die of it. EVENTS=n as many of each kind, in the long run.
. "$(dirname "$0")/../lib.inc"

host=
at_exit() { [ -z "$host" ] || kill "$host" 2>/dev/null; }
many=${EVENTS:-1000}
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/sandbox.c -o "$dir/sandbox" "$O/lib/libktr.a" -lpthread || exit 1

export KTR_SESSION=sandbox KTR_KEEP_SESSION=1 KTR_MASK=gen,net
# Emulators know no filters; that events are recorded can be seen.
if [ -n "${KTR_EMULATED:-}" ]; then
	skip "filters: not in an emulator"
	export UNFILTERED=1
fi
for path in ${KTR_PATHS:-rseq thread}; do
	export KTR_PATH=$path
	# The filter notices.
	WITHOUT=1 "$dir/sandbox" 2 10 >/dev/null 2>&1
	got=$?
	[ -n "${UNFILTERED:-}" ] || is "$path: not readied" $got 159
	"$ktr" rm -q sandbox 2>/dev/null || "$ktr" rm sandbox >/dev/null
	# Threads that have readied themselves and those that have not, each event once, by its thread.
	for how in "" late fork; do
		KTR_ENTRIES=64K status 0 "$dir/sandbox" 3 1000 $how
		"$ktr" dump -s sandbox --filter 'class == gen' |
			sed -n 's|.* [^ ]*/\([0-9]*\) .* by \([0-9]*\): \([0-9]*\)|\1 \2 \3|p' >"$dir/events"
		is "$path $how: events" "$(wc -l <"$dir/events")" "$(tail -n 1 "$dir/out")"
		is "$path $how: of others" "$(awk '$1 != $2' "$dir/events" | head -n 3)" ""
		is "$path $how: twice" "$(sort "$dir/events" | uniq -d | head -n 3)" ""
		case $how in fork) want="1000 events were not recorded while rings were closed" ;; *) want= ;; esac
		is "$path $how: said" "$("$ktr" dump -s sandbox 2>&1 >/dev/null | sed 's/.*ktr: //')" "$want"
		"$ktr" rm sandbox
	done
	# From outside, while it runs: classes, counts, the rings stopped, other sizes, other CPUs. With a writer.
	mkfifo "$dir/pipe"
	KTR_FILE="$dir/trace" timeout "${LIMIT:-120}" "$dir/sandbox" 2 "$many" until >"$dir/pipe" 2>"$dir/err" &
	host=$!
	{
		read -r word pid tids
		is "$path: begins" "$word" ready
		for i in 1 2 3 4 5; do
			"$ktr" sysctl -s sandbox mask=gen,-net >/dev/null || fail "$path: mask"
			for tid in $pid $tids; do taskset -p -c 0 "$tid"; taskset -p -c "$(($(nproc) - 1))" "$tid"; done
			"$ktr" sysctl -s sandbox mask=gen,net,proc count=net freeze=1 >/dev/null || fail "$path: count"
			"$ktr" sysctl -s sandbox count=0 freeze=0 'trigger=class == net and lu == -1' >/dev/null || fail "$path: trigger"
			"$ktr" sysctl -s sandbox entries=1K >"$dir/said" 2>&1 && fail "$path: the size of rings was changed"
			# By an emulator's /proc the process cannot be told to live.
			grep -q "process $pid is in a sandbox" "$dir/said" || [ -n "${KTR_EMULATED:-}" ] ||
				fail "$path: refused by $(cat "$dir/said")"
		done >"$dir/moved" 2>&1
		"$ktr" sysctl -s sandbox sandbox.stop=1 >>"$dir/moved" || fail "$path: stop"
		read -r n
		[ "$n" -ge $((6 * many)) ] || fail "$path: ended with $n"
	} <"$dir/pipe"
	wait "$host"
	is "$path: status" "$? $(cat "$dir/err")" "0 "
	host=
	grep FAILED "$dir/moved" && failed=1
	"$ktr" report "$dir/trace" >"$dir/report" || fail "$path: report"
	"$ktr" fsck -n "$dir/trace" >/dev/null || fail "$path: the trace"
	rm -rf "$dir/trace" "$dir/pipe"
	# It has left its session; what has ended binds nobody.
	"$ktr" rm sandbox || fail "$path: no session"
done

# What it asks for meanwhile, and its writer.
if [ -z "${UNFILTERED:-}" ] && ! EVENTS=$((many * 50)) MOVES=3 sh tests/strangers/traced_sandbox.sh >"$dir/traced" 2>&1; then
	cat "$dir/traced"
	failed=1
fi
grep '^skipped' "$dir/traced" 2>/dev/null
exit $failed
