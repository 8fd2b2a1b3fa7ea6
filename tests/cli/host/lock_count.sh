#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Locks as a program counts them that counts itself: recursive, robust, error-checking, of two processes, inheriting priorities;
# taken, tried, waited for in vain, by who is cancelled or ends with them; conditions whose time is up; destroyed and made again;
# by threads that meet all the time. Each count equals that of the events, and `ktr lockstat` adds up to it.
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
case $(uname -m) in
x86_64) ;;
*)
	skip 'locks are of x86-64'
	exit 0
	;;
esac
unset LD_PRELOAD
$cc -std=gnu11 -D_GNU_SOURCE -O1 -g tests/programs/host/lock_count.c -o "$dir/lock_count" -lpthread || exit 1
export KTR_BUDGET=0

seed=0
for path in $paths; do
	[ "$path" = thread ] && export KTR_PATH=thread
	seed=$((seed + 1))
	# A busy machine may lose some.
	for try in 1 2 3 4 5; do
		rm -rf "$dir/t"
		LIMIT=120 status 0 "$ktr" run --agent -e 256k --lock all -o "$dir/t" "$dir/lock_count" 4 "${ROUNDS:-3000}" $seed
		grep -q ' 0 lost' "$dir/err" && break
	done
	"$ktr" json "$dir/t" >"$dir/json"
	python3 tests/cli/host/lock_count.py <"$dir/json" >"$dir/counts"
	diff "$dir/out" "$dir/counts" >"$dir/diff" || fail "$path: not as counted, in $try tries: $(cat "$dir/diff") $(cat "$dir/err")"
	awk -F= '$2 == 0 { print $1 }' "$dir/out" >"$dir/none"
	is "$path: all of them were there" "$(cat "$dir/none")" ''
	"$ktr" lockstat -j "$dir/t" >"$dir/told"
	python3 - "$dir/told" "$dir/out" <<'END' || fail "$path: lockstat"
import json
import sys

told = json.load(open(sys.argv[1], encoding="utf-8"))
own = dict(line.strip().split("=") for line in open(sys.argv[2], encoding="utf-8"))
own = {name: int(value) for name, value in own.items()}


def table(title):
    return sum(row["count"] for row in told["tables"][title])


def errors(name):
    return sum(row["count"] for row in told["errors"] if row["error"] == name)


# Recursive takings are one holding; two robust ones ended with their owners.
assert table("Mutex hold") == own["mutex_gave"] - own["mutex_again"], (table("Mutex hold"), own)
assert table("R/W reader hold") == own["rw_read"] and table("R/W writer hold") == own["rw_written"], own
assert table("Spin hold") == own["spin_got"], own
assert table("Condition block") == own["cond_waited"] + own["cond_late"] + own["cond_cancelled"], own
assert table("Barrier block") == own["barrier_waits"] - own["barrier_last"], own
assert errors("EBUSY") == own["mutex_busy"] + own["rw_busy"] + own["spin_busy"], told["errors"]
assert errors("ETIMEDOUT") == own["mutex_late"] + own["rw_late"] + own["sem_late"], told["errors"]
assert errors("EDEADLK") == own["mutex_own"] and errors("EPERM") == own["mutex_not_own"], told["errors"]
assert errors("ENOTRECOVERABLE") == own["mutex_lost"] and errors("EAGAIN") == own["sem_none"], told["errors"]
assert told["unseen"] == 0, told["unseen"]
END
done
exit $failed
