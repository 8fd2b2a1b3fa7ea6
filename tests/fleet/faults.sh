#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What can go wrong on a real server: certificates, a full disk, a table that can only be read, a clock that is off, two machines
# of one name, a trace that is removed while it is shipped. One line each, an exit status, and nothing lost or doubled after it.
. "$(dirname "$0")/../cli/lib.inc"
. tests/fleet/server.inc
at_exit() {
	hosts_end
	umount "$dir/ch" 2>/dev/null
}
hosts_build
cat >"$dir/clock.c" <<'C'
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);

	if (clock == CLOCK_REALTIME)
		t->tv_sec += atoi(getenv("CLOCK_OFF"));
	return rc;
}
time_t time(time_t *to)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}
C
cat >"$dir/disk.c" <<'C'
/* A disk that takes nothing directly: DISK=fcntl says so at once, DISK=write when half has been written. The file "hit" is left. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int direct_fd = -1, n_writes;
static int refuse(void)
{
	close(open("hit", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = EINVAL;
	return -1;
}
int fcntl(int fd, int what, ...)
{
	va_list list;
	long with;

	va_start(list, what);
	with = va_arg(list, long);
	va_end(list);
	if (what == F_SETFL && with & O_DIRECT && strcmp(getenv("DISK"), "fcntl") == 0)
		return refuse();
	if (what == F_SETFL) {
		direct_fd = with & O_DIRECT ? fd : -1;
		n_writes = 0;
	}
	return (int)syscall(SYS_fcntl, fd, what, with);
}
int fcntl64(int fd, int what, ...) __attribute__((alias("fcntl")));
ssize_t write(int fd, const void *from, size_t n)
{
	if (fd == direct_fd && n_writes++)
		return refuse();
	return syscall(SYS_write, fd, from, fd == direct_fd ? n / 2 & ~4095ul : n);
}
C
for name in clock disk; do
	$cc -O2 -shared -fPIC "$dir/$name.c" -o "$dir/$name.so" || exit 1
done
cd "$dir" || exit 1
KTR_MASK=all KTR_FILE=trace ./flood 20000 >/dev/null || fail "the program failed"
n_events=$("$ktr" report --json trace 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["events"])')
to=
ship() { "$ktr" ship --to "${to:-$url}" --state state --host web01 --patience 0 "$@" >out 2>err; }
# says WHAT PATTERN: in one line of the last one's, besides that of an old server
says() {
	is "$1: lines" "$(grep -vc 'keeps no copies' err)" 1
	grep -q "$2" err || fail "$1: $(cat err)"
}
once() {
	is "$1: events" "$(ask "SELECT count() FROM ktr.events")" "$n_events"
	is "$1: identities" "$(ask "SELECT uniqExact(trace, stream, idx) FROM ktr.events")" "$n_events"
}

# Over HTTPS, by a certificate that somebody made for this server, and by that of somebody else.
for name in ours theirs; do
	openssl req -x509 -newkey rsa:2048 -nodes -keyout $name.key -out $name.pem -days 2 -subj /CN=127.0.0.1 \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "openssl"
done
mkdir -p ch
mounted=
mount -t tmpfs -o size=96m none ch 2>/dev/null && mounted=1
server_config
tls_port=$(free_ports 1)
sed -i "s|<http_port>|<https_port>$tls_port</https_port><openSSL><server><certificateFile>$dir/ours.pem</certificateFile>\
<privateKeyFile>$dir/ours.key</privateKeyFile><verificationMode>none</verificationMode></server></openSSL><http_port>|" ch/config.xml
server_start || exit 1
to=https://127.0.0.1:$tls_port
ship --ca theirs.pem --create trace && fail "shipped by the certificate of somebody else"
says "a wrong certificate" '127.0.0.1:[0-9]*: .*certificate'
ship --create trace && fail "shipped by a certificate that nobody knows"
says "an unknown certificate" '127.0.0.1:[0-9]*: .*certificate'
ship --ca none.pem trace && fail "shipped without a certificate"
is "no certificate: lines" "$(wc -l <err)" 1
ship --ca ours.pem --create trace || fail "over HTTPS: $(cat err)"
once "over HTTPS"
"$ktr" fleet basis --ca ours.pem $to >out 2>err || fail "ktr fleet over HTTPS: $(cat err)"

to=

# What holds the batches takes nothing directly.
for disk in fcntl write; do
	ask "ALTER TABLE ktr.events DROP PARTITION $(date -u +%Y%m%d)"
	rm -rf state hit
	DISK=$disk LD_PRELOAD=$dir/disk.so "$ktr" ship --to "$url" --state state --host web01 --again trace 2>err ||
		fail "nothing directly, by $disk: $(cat err)"
	[ -e hit ] || fail "nothing directly, by $disk: nobody asked"
	once "nothing directly, by $disk"
done

# Clocks: it is said.
ship --database clock --create trace || fail "a database of its own: $(cat err)"
for off in -600 600; do
	CLOCK_OFF=$off LD_PRELOAD=$dir/clock.so "$ktr" ship --to "$url" --database clock --state state --host web01 trace 2>err || fail "$off s off: $(cat err)"
	grep -v 'keeps no copies\|^ktr: trace: 0 events' err >lines
	is "$off s off: lines" "$(wc -l <lines)" 1
	grep -q "this machine's clock is [56][0-9][0-9] s .* that of 127.0.0.1" lines || fail "$off s off: $(cat err)"
done

# Two machines of one name.
ask "INSERT INTO ktr.traces (host, trace, machine, boot, first_ts, last_ts, version) SELECT host, toUUID('01234567-89ab-cdef-0123-456789abcdef'),
	'elsewhere', boot, first_ts, last_ts, version FROM ktr.traces FINAL LIMIT 1"
rm -rf state
ship --again trace || fail "another machine: $(cat err)"
grep -q "trace: web01 is another machine's name, too" err || fail "two machines of one name: $(cat err)"
ask "ALTER TABLE ktr.events DROP PARTITION $(date -u +%Y%m%d)"
ask "TRUNCATE TABLE ktr.traces"
rm -rf state

# A trace that is removed while it is followed: what went is there once.
mkfifo in
KTR_MASK=all KTR_FILE=live ./slow <in 2>/dev/null &
program=$!
exec 7>in
await '[ -e live/metadata ]'
"$ktr" ship --to "$url" --state live.state --host web02 --follow --every 1s live >out 2>err &
shipper=$!
await '[ "$(ask "SELECT count() FROM ktr.events WHERE host = '"'web02'"'")" -gt 0 ]'
rm -rf live
kill -9 $program
wait $program 2>/dev/null
program=
exec 7>&-
await "! kill -0 $shipper 2>/dev/null" || kill -9 $shipper
wait $shipper
rc=$?
shipper=
is "a trace that is removed: status" $rc 1
says "a trace that is removed" "live: was removed while it was followed"
is "a trace that is removed: double" "$(ask "SELECT count() - uniqExact(trace, stream, idx) FROM ktr.events WHERE host = 'web02'")" 0
ask "ALTER TABLE ktr.events DROP PARTITION $(date -u +%Y%m%d)"

# A disk that is full.
if [ -n "$mounted" ]; then
	head -c 200M /dev/zero >ch/fill 2>/dev/null
	ship --again trace && fail "shipped to a full disk"
	says "a full disk" '127.0.0.1:[0-9]*.*\(space\|Cannot write\|Code: \)'
	rm ch/fill
	ship --again --patience 20s trace || fail "when there is room again: $(cat err)"
	once "after a full disk"
else
	skip "no file system of our own can be mounted: a full disk"
fi
server_kill

# A table that can only be read: its keeper is away.
if keeper_start; then
	sed -i "s|<macros>|<zookeeper><node><host>127.0.0.1</host><port>$ZOOKEEPER</port></node></zookeeper><macros>|" ch/config.xml
	server_start || exit 1
	rm -rf state
	ask "DROP DATABASE ktr"
	ship --create --replicated || fail "--replicated: $(cat err)"
	kill -9 "$keeper"
	wait "$keeper" 2>/dev/null
	ship trace && fail "shipped to a table that can only be read"
	says "a table that can only be read" '127.0.0.1:[0-9]*.*\(only be read\|ZooKeeper\|Keeper\|Code: \)'
	ZOO_LOG_DIR=$dir/zk /usr/share/zookeeper/bin/zkServer.sh start-foreground "$dir/zk/zoo.cfg" >"$dir/zk/out" 2>&1 &
	keeper=$!
	await '"$ktr" ship --to "$url" --state state --host web01 --patience 20s trace 2>err'
	once "after a table could only be read"
else
	skip "there is no ZooKeeper: a table that can only be read"
fi
exit $failed
