#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Calls, results, paths and signals of programs as `ktr ktrace` records them are those that strace tells of, thread by
# thread (strace.py), and so are the lines of `ktr kdump --strace` (strace_lines.py). FULL=1, which is
# `make check-ktrace`, takes more of them.
. "$(dirname "$0")/../lib.inc"

[ "$(uname -m)" = x86_64 ] || { skip "strace's lines are compared with the numbers of x86-64"; exit 0; }
$cc -Iinclude -O1 -w tests/programs/bsd/lives.c -o "$dir/lives" -lpthread || exit 1
$cc -D_GNU_SOURCE -O1 -w tests/programs/bsd/flags.c -o "$dir/flags" || exit 1
$cc -O1 -fPIC -shared tests/programs/bsd/still.c -o "$dir/still.so" || exit 1
export STILL="$dir/still.so"
n=0

same() {
	n=$((n + 1))
	timeout 300 python3 tests/cli/bsd/strace.py "$ktr" "$dir/s" "$*" -- "$@" || failed=1
}

same "$dir/lives" forks "${FORKS:-20}"
same "$dir/lives" vfork
same "$dir/lives" exec-thread
same "$dir/lives" threads 5
same "$dir/lives" signals 10
same "$dir/lives" killed
same "$dir/lives" restart
same "$dir/lives" sockets
same "$dir/flags"
same tar cf x.tar /etc/passwd /etc/group
[ "${FULL:-0}" = 1 ] || exit $failed

same "$dir/lives" crash
same "$dir/lives" vectors
same "$dir/lives" pipe
same "$dir/lives" forks 200
same "$dir/lives" signals 3400 # each three of them
same "$dir/lives" threads 50
# One after the other: shells have a handler of SIGCHLD, which comes when it likes.
each() {
	# shellcheck disable=SC2016
	same perl -e 'system(split) for @ARGV' "$@"
}
each 'mkdir d' 'cp /etc/passwd d/a' 'mv d/a d/b' 'ln d/b d/c' 'ln -s b d/s' 'chmod 600 d/b' 'touch d/t' 'rm -r d'
# Of a file that is as old as the index git looks whether it has changed since.
each 'git init -q .' 'touch -d @1 a' 'git add a' 'git -c user.name=a -c user.email=b commit -qm c' 'git log --oneline'
for program in 'ls -l /usr/share' 'cat /etc/passwd' 'head -c 100 /etc/services' 'wc /etc/services' 'sort -r /etc/passwd' \
	'cut -d: -f1 /etc/passwd' 'tr a b' 'sha256sum /etc/passwd' 'du -s /etc/apt' 'stat /etc/passwd' 'uniq /etc/passwd' \
	'od -c /etc/hostname' 'tail -n 3 /etc/passwd' 'seq 1000' 'env' 'uname -a' 'id' 'find /etc/apt' 'grep root /etc/passwd' \
	'sed s/a/b/ /etc/passwd' 'awk {print} /etc/passwd' 'gzip -kc /etc/passwd' 'xargs echo' 'diff /etc/passwd /etc/group' \
	'perl -e print(1)' 'dd if=/etc/services of=x bs=7 status=none'; do
	# shellcheck disable=SC2086
	same $program
done
same python3 -c 'import json, subprocess; print(json.dumps(subprocess.run(["true"]).returncode))'
same python3 -c '
import subprocess
ls = subprocess.Popen(["ls", "/usr/share"], stdout=subprocess.PIPE)
ls.wait() # what it has written is in the pipe, and the next one reads all of it
sort = subprocess.Popen(["sort"], stdin=ls.stdout, stdout=subprocess.PIPE)
sort.wait()
print(len(sort.stdout.read()))'
same sqlite3 x.db 'create table t(a); insert into t values(1); select * from t'
same git init -q .
# A pipeline, its programs each in its turn: whoever is woken first reads what there is.
same python3 -c '
import subprocess
data = b"\n".join(b"%d" % (i * 7919 % 1000) for i in range(1000))
for command in ["sort", "-n"], ["uniq"], ["head", "-n", "100"], ["gzip", "-nc"]:
    data = subprocess.run(command, input=data, stdout=subprocess.PIPE).stdout
print(len(data))'
same sh -c 'trap "echo trapped" USR1; kill -USR1 $$; exec true'
echo "$n programs were compared with strace, in the records of ktrace.out by a decoder in Python, in lines of ktr kdump --strace"
exit $failed
