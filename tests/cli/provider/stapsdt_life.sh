#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Static probes in what a program goes through while they are on: a library that comes and goes, a debugger that has a
# breakpoint at the very place; and what is refused, in words: a thread that may block SIGTRAP when it has waited, text
# that may not be written to.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'static probes are on x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
export KTR_CONF= KTR_BUDGET=0
unset KTR_PROBES
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
prog=$dir/usdt
${CXX:-c++} -O1 -no-pie -o "$prog" tests/programs/provider/usdt.cc -lpthread || { fail 'usdt.cc'; exit 1; }
pids=
at_exit() {
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
}
begins() { # VERB: in the background; $pid
	rm -f "$dir/stop" "$dir/stop.go" "$dir/out"
	"$prog" "$1" "$dir/stop" >"$dir/out" & pid=$!
	pids="$pids $pid"
}
attaches() {
	await 'became $pid "$prog"'
	"$ktr" attach -p $pid >/dev/null 2>"$dir/err" || fail "attach: $(cat "$dir/err")"
}
ends() {
	: >"$dir/stop"
	wait $pid || fail "$1: it ended with $?"
}

# ---- a library that comes and goes: each of its calls is recorded ----

cat >"$dir/probed.c" <<-'END'
	unsigned short probed_semaphore __attribute__((section(".probes"), visibility("default")));
	int probed(int n)
	{
		__asm__ volatile("990: nop\n\t.pushsection .note.stapsdt,\"\",\"note\"\n\t.balign 4\n\t"
				 ".4byte 8, 994f-993f, 3\n\t.asciz \"stapsdt\"\n"
				 "993: .8byte 990b, 0, probed_semaphore\n\t.asciz \"theirs\", \"call\", \"-4@%0\"\n"
				 "994: .balign 4\n\t.popsection" ::"r"(n));
		return n + 1;
	}
END
$cc -shared -fPIC -o "$dir/libprobed.so" "$dir/probed.c" || fail probed.c
KTR_PROBES='usdt:libprobed.so:theirs:' "$ktr" run --agent -o "$dir/t" "$prog" library "$dir/libprobed.so" >"$dir/out" 2>&1 ||
	fail "library: $? $(cat "$dir/out")"
is 'library' "$("$ktr" dump "$dir/t" | sed -n 's/^.* theirs:call//p' | paste -sd,)" ' arg0=0, arg0=1'

# ---- a thread that waits, and blocks SIGTRAP after that ----

begins suspended
await 'grep -qs "^130 " /proc/$pid/syscall' # in sigsuspend()
attaches
"$ktr" probe enable -p $pid 'usdt::libstdcxx:throw' >"$dir/said" 2>&1
grep -q "its thread $pid (usdt) waits in sigsuspend(), after which it may block SIGTRAP" "$dir/said" ||
	fail "not refused: $(cat "$dir/said")"
kill -USR1 $pid
ends suspended

# ---- text that may not be written to ----

begins mdwe
await 'grep -qs mdwe "$dir/out" || ! kill -0 $pid 2>/dev/null'
if kill -0 $pid 2>/dev/null; then
	attaches
	"$ktr" probe enable -p $pid 'usdt::libstdcxx:throw' >"$dir/said" 2>&1
	grep -q "text may not be written to (PR_SET_MDWE" "$dir/said" || fail "mdwe: $(cat "$dir/said")"
	ends mdwe
else
	skip 'PR_SET_MDWE'
fi

# ---- a debugger ----

runs() { # traced by gdb, which lets it run
	grep -q "^TracerPid:.$debugger" /proc/$pid/status && grep -q '^State:.[SR]' /proc/$pid/status
}

command -v gdb >/dev/null || { skip 'no gdb'; exit $failed; }
begins place
attaches
gdb -nx -batch -p $pid -ex 'break *usdt_place' -ex 'shell : >'"$dir/there" -ex continue -ex detach >"$dir/gdb" 2>&1 & debugger=$!
pids="$pids $debugger"
await '[ -e "$dir/there" ] && runs'
"$ktr" probe enable -p $pid 'usdt:usdt:mine:one' >"$dir/said" 2>&1
grep -q "traces it" "$dir/said" || fail "under gdb: $(cat "$dir/said")"
kill -INT $pid
wait $debugger
# It comes while the probe is on, has its own in the same place, and puts ours back when nobody wants it any more.
"$ktr" probe enable -p $pid 'usdt:usdt:mine:one' >"$dir/said" 2>&1 || fail "enable: $(cat "$dir/said")"
rm "$dir/there"
gdb -nx -batch -p $pid -ex 'break *usdt_place' -ex 'shell : >'"$dir/there" -ex continue -ex detach >"$dir/gdb" 2>&1 & debugger=$!
pids="$pids $debugger"
await '[ -e "$dir/there" ] && runs'
"$ktr" probe disable -p $pid 'usdt:usdt:mine:one' >/dev/null || fail disable
kill -INT $pid
wait $debugger
: >"$dir/stop.go"
await 'grep -qs passed "$dir/out"'
"$ktr" probe enable -p $pid 'usdt:usdt:mine:one' >"$dir/said" 2>&1 || fail "enable again: $(cat "$dir/said")"
"$ktr" probe disable -p $pid 'usdt:usdt:mine:one' >/dev/null || fail 'disable again'
ends place
exit $failed
