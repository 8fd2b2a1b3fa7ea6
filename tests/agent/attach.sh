#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make check-agent: ktr attach and ktr detach, again and again. A busy program with many threads that counts what could
# tell it, 1,000 times; programs that have just begun, in each of what their first thread may do; and programs of
# Debian's, attached to in the middle and let go of: what they print and return is the same, servers answer.
#
#	ROUNDS=1000 STARTS=60 WITH="--lock all --heap all" tests/agent/attach.sh [PART...]
. "$(dirname "$0")/../cli/lib.inc"
. tests/agent/common.inc
set -f # options may be globs
case $(uname -m) in
x86_64) ;;
*) skip 'ktr attach is for x86-64'; exit 0 ;;
esac
host=$dir/attach_host
$cc -std=gnu11 -D_GNU_SOURCE -O1 tests/programs/host/attach_host.c -o "$host" -lpthread -ldl || exit 1
echo 'int attach_answer(void) { return 42; }' | $cc -shared -fPIC -x c - -o "$dir/libanswer.so" || exit 1
export ATTACH_LIBRARY="$dir/libanswer.so"
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}

begin() { # ROLE...
	rm -f "$dir/stop" "$dir/out"
	"$host" "$dir/stop" "$@" >"$dir/out" &
	at=$!
	pids="$pids $at"
	until grep -qs begun "$dir/out"; do sleep 0.002; done
}
ended() { # NAME
	: >"$dir/stop"
	wait $at || fail "$1: exit status $?: $(cat "$dir/out")"
}
# Once: attached, let go of.
once() { # PID [OPTION...]
	p=$1
	shift
	# shellcheck disable=SC2086 # words
	"$ktr" attach -p "$p" ${WITH-} "$@" 2>"$dir/err" && "$ktr" detach -p "$p" 2>"$dir/err"
}

do_rounds() {
	for roles in 'spin malloc stdio dlopen fork signal epoll sem nanosleep poll' 'epoll semtimedop sigtimedwait'; do
		n=0
		# shellcheck disable=SC2086 # words
		begin $roles
		for i in $(seq $((${ROUNDS:-1000} / 2))); do
			if once $at; then n=$((n + 1)); else fail "round $i: $(cat "$dir/err")"; fi
		done
		ended "$roles"
		echo "$n times: $roles: $(grep -c ' 0 EINTR, 0 wrong, 0 early' "$dir/out") threads that noticed nothing"
	done
}

do_starts() {
	for role in spin malloc dlopen stdio signal fork epoll msgrcv; do
		for i in $(seq "${STARTS:-60}"); do
			begin $role
			once $at -k || fail "$role: $(cat "$dir/err")"
			ended $role
		done
		echo "${STARTS:-60} times just begun: $role"
	done
}

# amid NAME COMMAND...: attached to as long as it runs, 20 times at most, once at least
amid() {
	name=$1
	shift
	"$@" >"$dir/plain" 2>"$dir/plain.err"
	plain=$?
	"$@" >"$dir/attached" 2>"$dir/attached.err" &
	at=$!
	pids="$pids $at"
	n=0
	while [ $n -lt 20 ] && kill -0 $at 2>/dev/null; do
		once $at -k && n=$((n + 1))
	done
	wait $at
	is "$name: exit status" $? $plain
	cmp "$dir/plain" "$dir/attached" || fail "$name: its output"
	cmp "$dir/plain.err" "$dir/attached.err" || fail "$name: what it says"
	[ $n -gt 0 ] || fail "$name: never attached to: $(cat "$dir/err")"
	echo "$name: attached to $n times"
}

do_xz() {
	need xz xz-utils || { skip xz; return; }
	head -c 15000000 /dev/urandom | base64 >"$dir/data"
	amid 'xz -T2' xz -T2 --block-size=1MiB -k -c "$dir/data"
}

do_python3() {
	amid python3 /usr/bin/python3 -c '
import concurrent.futures, hashlib, subprocess, threading
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: int(hashlib.sha256(b"%d" % n * 1000).hexdigest(), 16) % 997, range(40000))))
print([subprocess.run(["sh", "-c", "exit %d" % n]).returncode for n in range(200)][::20])
print(sum(i * i for i in range(8000000)))'
}

do_sqlite3() {
	need sqlite3 sqlite3 || { skip sqlite3; return; }
	amid sqlite3 sqlite3 "" 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000)
		SELECT count(*), sum(i * 7919 % 1009), max(hex(i)) FROM n ORDER BY 1'
}

# Coroutines.
do_qemu() {
	need qemu-img qemu-utils || { skip qemu-img; return; }
	head -c 90000000 /dev/urandom | base64 >"$dir/raw"
	amid qemu-img qemu-img convert -f raw -O qcow2 -c "$dir/raw" "$dir/q"
	is 'qemu-img: what it made' "$(qemu-img compare -f raw -F qcow2 "$dir/raw" "$dir/q")" 'Images are identical.'
}

do_bash() {
	amid bash bash -c 'trap "n=\$((n + 1))" USR1; n=0
		for i in {1..300}; do kill -USR1 $$; (exit 3); x=$(echo $i | tr 0-9 a-j); done; echo $n $x
		for i in {1..300000}; do :; done; echo $i'
}

do_nginx() {
	need nginx nginx-light || { skip nginx; return; }
	nginx_conf "$(id -un)"
	nginx -c "$dir/nginx.conf" >"$dir/out" 2>"$dir/err" &
	server=$!
	pids="$pids $server"
	listens 18080 || { fail "nginx does not listen: $(cat "$dir/err" "$dir/www/logs/error")"; return; }
	for p in $server $(pgrep -P $server); do
		# shellcheck disable=SC2086 # words
		"$ktr" attach ${WITH-} -k -p "$p" 2>"$dir/err" || fail "nginx: $(cat "$dir/err")"
	done
	is 'nginx: answers' "$(asks 18080 2000)" 2000
	[ "$("$ktr" dump -p "$p" | grep -c ' kswitch ')" -gt 0 ] || fail 'nginx: no events of a worker'
	kill -HUP $server
	is 'nginx: answers after a reload' "$(asks 18080 500)" 500
	once $server || fail "nginx after a reload: $(cat "$dir/err")"
	is 'nginx: answers in the end' "$(asks 18080 500)" 500
	kill -QUIT $server
	wait $server
	is 'nginx: exit status' $? 0
	echo 'nginx: attached to with its workers, and after a reload'
}

do_memcached() {
	need memcached memcached || { skip memcached; return; }
	memcached -u "$(id -un)" -l 127.0.0.1 -p 18211 -t 4 >"$dir/out" 2>"$dir/err" &
	server=$!
	pids="$pids $server"
	listens 18211 || { fail "memcached does not listen: $(cat "$dir/err")"; return; }
	"$ktr" attach -k -p $server -o "$dir/trace" 2>"$dir/err" || fail "memcached: $(cat "$dir/err")"
	is 'memcached: answers' "$(asks_memcached 18211)" 8000
	"$ktr" detach -p $server || fail 'memcached: detach'
	[ "$("$ktr" dump "$dir/trace" | grep -c ' kswitch ')" -gt 100 ] || fail 'memcached: its trace'
	is 'memcached: answers in the end' "$(asks_memcached 18211)" 8000
	once $server || fail "memcached: $(cat "$dir/err")"
	kill $server
	wait $server
	is 'memcached: exit status' $? 0
	echo 'memcached: attached to, with a trace, and again'
}

[ $# -gt 0 ] || set -- rounds starts xz python3 sqlite3 bash qemu nginx memcached
for part; do
	"do_$part"
done
exit $failed
