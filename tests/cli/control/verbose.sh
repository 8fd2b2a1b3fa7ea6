#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# debug.ktr.verbose: the writer thread prints what the trace says, with and without a trace, from a file, by a
# call and from outside while it runs; never the traced thread, and never a thread that was not asked for.
. "$(dirname "$0")/knobs.inc"

cat >formats.c <<'END'
#include <ktr.h>
#include <stdint.h>
int main(void)
{
	volatile int i = -3;
	static const char raw[] = { 'a', 'b', 'c' };
	for (int n = 0; n < 3; n++) {
		CTR2(KTR_GEN, "%d and %5u|", i, (unsigned)n);
		CTR3(KTR_GEN, "%-8x|%#o|%+d", 255u, 8u, n);
		CTR3(KTR_GEN, "%s then %.2s then %-8s|", "one", "three", "left");
		CTR2(KTR_GEN, "%.*s and", n, raw);
		CTR2(KTR_GEN, "%hhd %hu", (signed char)-1, (unsigned short)65535);
		CTR2(KTR_GEN, "%ld %llx", -5000000000l, 0xfeedfacecafebeefull);
		CTR3(KTR_GEN, "%f %.3g %c", 1.5, 3.14159, 'x');
		CTR2(KTR_GEN, "%5.1f%% %s", 99.5, (const char *)0);
		CTR1(KTR_GEN, "%zu bytes", sizeof(raw));
		CTR2(KTR_GEN, "%*d", 6, n);
		CTR4(KTR_GEN, "%p %-6p|%.3s|%7.6s", (void *)0, (void *)0, (char *)0, (char *)0);
		CTR3(KTR_GEN, "%p %s %.3s", (char *)16, (unsigned char *)"bytes", (unsigned char *)"bytes");
		CTRSTACK(KTR_GEN, NULL, 2);
		CTR2(KTR_GEN, "a string of more than one continuation: %s, and %d",
		     "0123456789012345678901234567890123456789012345678901234567890123456789", n);
	}
	return 0;
}
END
${CC:-cc} -std=gnu11 -O1 -w -D_GNU_SOURCE -DKTR_NO_FORMAT_CHECK -I"$here/include" formats.c -o formats \
	"$O/lib/libktr.a" -lpthread || exit 1

# text FILE: what verbose printed, without the CPU
text() { sed 's/^cpu[0-9]* //' "$1"; }
# Another run has other addresses.
moved() { sed 's/^stack 0x[0-9a-f]*/stack 0x/'; }

KTR_MASK=gen KTR_VERBOSE=1 KTR_FILE=both ./formats 2>both.err
is "lines printed" "$(wc -l <both.err)" 42
$ktr json --events both | sed 's/.*"msg":"\([^"]*\)".*/\1/' >both.text
text both.err | diff - both.text || fail "verbose prints something else than the trace has"
is "stacks printed" "$(grep -c '^stack 0x[0-9a-f]' both.text)" 3
moved <both.text >moved.text
KTR_MASK=gen KTR_VERBOSE=2 ./formats 2>alone.err
is "lines printed without a trace" "$(wc -l <alone.err)" 42
text alone.err | sed 's/^formats\.c\.[0-9]*	//' | moved | diff - moved.text ||
	fail "verbose prints something else without a trace"
[ ! -e ktr.out ] || fail "a trace was written"
has "file and line" "$(head -n 1 alone.err)" ' formats.c.8	-3 and     0|'

# By a call: the thread comes and goes with it.
start KTR_MASK=rx
is "tasks" "$(tell tasks)" 1
is "on" "$(tell set debug.ktr.verbose 1)" ok
is "tasks" "$(tell tasks)" 2
tell rx 2 >/dev/null
is "off" "$(tell set debug.ktr.verbose 0)" ok
await '[ "$(tell tasks)" = 1 ]'
is "printed" "$(text host.err)" "$(printf 'beta 0 of rx\nbeta 1 of rx')"
tell rx 1 >/dev/null
refused 'the program has no writer thread that could print' verbose=1
# Printing and writing: one thread, and nothing is missed in between.
is "on" "$(tell set debug.ktr.verbose 1)" ok
tell rx 1 >/dev/null
is "a trace too" "$(tell set debug.ktr.alq_enable 1)" ok
is "tasks" "$(tell tasks)" 2
tell rx 1 >/dev/null
is "off" "$(tell set debug.ktr.alq_enable 0)" ok
tell rx 1 >/dev/null
is "flush" "$(tell set debug.ktr.verbose 1; tell flush)" "$(printf 'ok\nok')"
is "printed" "$(text host.err | wc -l)" 5
# From outside, where there is a thread.
is "a trace again" "$(tell set debug.ktr.alq_enable 1)" ok
sysctl verbose=0 >/dev/null
is "flush" "$(tell flush)" ok
tell rx 7 >/dev/null
is "flush" "$(tell flush)" ok
is "printed" "$(text host.err | wc -l)" 5
sysctl verbose=1 >/dev/null
is "flush" "$(tell flush)" ok
tell rx 1 >/dev/null
is "flush" "$(tell flush)" ok
is "printed" "$(text host.err | wc -l)" 6
stop
# A host whose standard error is gone is none the worse.
KTR_MASK=gen KTR_VERBOSE=1 ./formats 2>&- || fail "without standard error"
KTR_MASK=gen KTR_VERBOSE=1 ./formats 2>/dev/full || fail "with a full one"
# A session whose writer was killed: the next process in it writes all the same.
mkfifo never
exec 6<>never
KTR_SESSION=left KTR_KEEP_SESSION=1 KTR_MASK=rx KTR_FILE=killed "$dir/host" <"$dir/never" >/dev/null 2>&1 &
killed=$!
mkfifo hold
KTR_SESSION=left KTR_MASK=rx "$dir/host" <hold >held 2>&1 &
held=$!
exec 5>hold
await '$ktr ls 2>/dev/null | grep -q "^left .*$killed.*$held\|^left .*$held.*$killed"'
kill -9 $killed
wait $killed 2>/dev/null
printf 'set debug.ktr.verbose 1\nset debug.ktr.alq_file next\nset debug.ktr.alq_enable 1\nrx 3\n' >&5
exec 5>&-
wait $held || fail "the process that goes on"
is "answers" "$(sed '/^cpu/d' held)" "$(printf 'ok\nok\nok\nok')"
is "events" "$($ktr dump -q next | grep -c beta)" 3
# syslog: whoever listens at /dev/log; here in a name space of our own, whose /dev has nothing else, as in a chroot(2).
if unshare -rm true 2>/dev/null && command -v python3 >/dev/null; then
	printf 'debug.ktr.mask=gen\ndebug.ktr.verbose=1\ndebug.ktr.verbose_to=syslog\n' >conf
	cat >listen.py <<'END'
import os, socket, subprocess
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log")
if os.path.exists("/dev/null"): # made by a shell that looks for python3
    os.unlink("/dev/null")
s.settimeout(120)
p = subprocess.Popen(["./formats"], env=dict(os.environ, KTR_CONF="conf"))
for i in range(42):
    print(s.recv(2000).decode())
p.wait()
END
	KTR_DIR=$dir unshare -rm sh -c "mount -t tmpfs tmpfs /dev && python3 listen.py" >syslog 2>syslog.err ||
		fail "$(cat syslog.err)"
	sed 's/^<15>formats\[[0-9]*\]: cpu[0-9]* //' syslog | moved | diff - moved.text || fail "syslog has something else"
fi
exit $failed
