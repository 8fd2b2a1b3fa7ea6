#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Flags of ktr lockstat after plockstat's and lockstat's: which locks and functions, what took long, lines that are one, counts,
# rates, how many took how long, errors, JSON. Each says the same as the tables without: 20 waits for each of two mutexes.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/provider/lock_host.c -o "$dir/lock_host" -lpthread || exit 1
status 0 "$ktr" run --agent --lock all -o "$dir/t" "$dir/lock_host" wait
status 0 "$ktr" run --agent --lock errors -o "$dir/e" "$dir/lock_host" codes

# of OPTIONS...: count, lock and caller of each line of tables, sorted
of() {
	"$ktr" lockstat -n 0 "$@" "$dir/t" | awk '/^[A-Z].*: [0-9]+ events$/ { on = !/^Who|^Owner/ }
		on && $1 ~ /^[0-9]+$/ && $2 !~ /^\|/ { print $1, $3, $4 }' | sort
}
is 'a lock' "$(of -C -l plain_lock -w)" '20 plain_lock -'
is 'locks' "$(of -C -l '*1_lock' -w) $(of -C -l '?????_lock' -w)" '20 c11_lock - 20 plain_lock -'
address=$("$ktr" dump "$dir/t" | sed -n 's/.*mutex-block lock=\(0x[0-9a-f]*\) (plain_lock.*/\1/p' | head -n 1)
is 'an address' "$(of -C -l "$address" -w)" '20 plain_lock -'
is 'some bytes' "$(of -C -l "$(printf '0x%x' $((address - 8))),16" -w)" '20 plain_lock -'
is 'other bytes' "$(of -C -l "$(printf '0x%x' $((address - 8))),8" -w)" ''
is 'a function' "$(of -C -f take_plain -w)" '20 plain_lock -'
is 'by function' "$(of -C -l plain_lock -k)" '20 plain_lock take_plain'
is 'whatever lock' "$(of -C -f 'take_?11' -W -k)" '20 - take_c11'
is 'too long' "$(of -C -d 1h)" ''
is 'long enough' "$(of -C -l plain_lock -w -d 1ns)" '20 plain_lock -'
"$ktr" lockstat -C -l plain_lock -w --histogram "$dir/t" >"$dir/out"
is 'how many took how long' "$(awk '$2 ~ /^\|/ { n += $NF } END { print n }' "$dir/out")" 20
is 'rates' "$("$ktr" lockstat -C -R "$dir/t" | grep -c '^ops/s')" 6
status 0 "$ktr" run --agent --lock contention -o "$dir/none" true
is 'nothing' "$("$ktr" lockstat "$dir/none")" 'no thread waited for a lock, nor did anything else with one that was recorded'
status 0 "$ktr" lockstat -o "$dir/file" "$dir/t"
is 'to a file' "$(cat "$dir/file")" "$("$ktr" lockstat "$dir/t")"
status 1 "$ktr" lockstat -o "$dir/no/file" "$dir/t"
is 'errors' "$("$ktr" lockstat -E "$dir/e" | grep -c 'EDEADLK')" 2
is 'errors: whoever calls' "$("$ktr" lockstat -E -w "$dir/e" | awk '$2 == "EDEADLK" { print $1 }')" 2
"$ktr" lockstat -j "$dir/t" >"$dir/json"
python3 - "$dir/json" <<'END' || fail 'json'
import json
import sys

told = json.load(open(sys.argv[1], encoding="utf-8"))
block = [row for row in told["tables"]["Mutex block"]]
assert sum(row["count"] for row in block) == 40, block
assert all(sum(row["took_log2_ns"]) == row["count"] and row["max_ns"] * row["count"] >= row["ns"] for row in block)
assert sum(row["count"] for row in told["waited_for"]) == 60, told["waited_for"]
assert {row["lock"] for row in told["locks"]} >= {"plain_lock", "c11_lock", "rw_lock"}
assert told["unseen"] == 0 and isinstance(told["told"], list)
END
exit $failed
