#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a program in its sandbox asks the kernel for, as strace sees it, while it records EVENTS events (10^7) and others
# switch classes, move its threads MOVES times (100) and try to change the size of its rings: of threads that record
# nothing until they are told to end, of the writer what ktr.3 lists. Prints both.
. "$(dirname "$0")/../cli/lib.inc"

command -v strace >/dev/null || { skip "no strace"; exit 0; }
events=${EVENTS:-10000000} moves=${MOVES:-100}
host=
at_exit() { [ -z "$host" ] || kill "$host" 2>/dev/null; }
$cc -std=gnu11 -D_GNU_SOURCE -O1 -Iinclude tests/programs/host/sandbox.c -o "$dir/sandbox" "$O/lib/libktr.a" -lpthread || exit 1
# What it lists: from "goes on" to the next section, by the names that the kernel has for it.
sed -n '/^The writer thread, where there is one, goes on/,/^\.Ss/s/^\.Xr \([a-z0-9_]*\) 2.*/\1/p' man/ktr.3 |
	sed 's/^p\(read\|write\)$/&64/; s/^fstatat$/newfstatat/' >"$dir/listed"
[ "$(wc -l <"$dir/listed")" -gt 20 ] || fail "ktr.3 lists $(wc -l <"$dir/listed") calls"
export KTR_SESSION=sandbox KTR_MASK=gen,net KTR_FILE="$dir/trace" KTR_ROTATE_SIZE=64M

for path in rseq thread; do
	mkfifo "$dir/pipe"
	# Two threads and the main one, eight events a round.
	KTR_PATH=$path timeout "${LIMIT:-300}" strace -f -ttt -o "$dir/log" \
		"$dir/sandbox" 2 $((events / 12)) until >"$dir/pipe" 2>"$dir/err" &
	host=$!
	{
		read -r word pid tids
		is "$path: begins" "$word" ready
		for i in $(seq "$moves"); do
			for tid in $pid $tids; do taskset -p -c $((i % $(nproc))) "$tid"; done
			"$ktr" sysctl -s sandbox mask=gen,-net && "$ktr" sysctl -s sandbox mask=gen,net ||
				echo "FAILED: $path: mask"
			"$ktr" sysctl -s sandbox entries=1K 2>&1 | grep "in a sandbox" || echo "FAILED: $path: entries"
		done >"$dir/moved"
		date +%s.%N >"$dir/told"
		"$ktr" sysctl -s sandbox sandbox.stop=1 >>"$dir/moved"
		read -r n
		[ "$n" -ge $((events / 2)) ] || fail "$path: $n events of class GEN"
	} <"$dir/pipe"
	wait "$host"
	is "$path: status" "$? $(grep -v 'older traces are kept' "$dir/err")" "0 "
	host=
	grep FAILED "$dir/moved" && failed=1
	# From the line that says "ready" on, and of each thread from where its filter is on. "???" is what strace calls a
	# call of a thread that was gone before it could be read.
	awk -v main="$pid" -v others="$tids" -v told="$(cat "$dir/told")" '
		BEGIN { n = split(others, tid, " "); records[main]; for (i in tid) records[tid[i]] }
		/write\(1, "ready/ { on = 1; next }
		/PR_SET_SECCOMP/ || /PR_SET_NO_NEW_PRIVS/ || !on || /resumed|\+\+\+|---/ || $3 ~ /^[?]+/ { next }
		{ who = !($1 in records) ? "writer" : $2 < told ? "records" : "ends"
		  sub(/\(.*/, "", $3); print who, $3 }' "$dir/log" | sort | uniq -c >"$dir/calls"
	echo "$path, $n of class GEN:"
	cat "$dir/calls"
	is "$path: a thread that records" "$(awk '$2 == "records"' "$dir/calls")" ""
	is "$path: what is not listed of the writer" "$(awk '$2 == "writer" { print $3 }' "$dir/calls" | grep -vxFf "$dir/listed")" ""
	[ "$(grep -c writer "$dir/calls")" -gt 10 ] || fail "$path: the writer was not seen"
	"$ktr" rm sandbox
	rm -rf "$dir"/trace* "$dir/pipe" "$dir/log"
done
exit $failed
