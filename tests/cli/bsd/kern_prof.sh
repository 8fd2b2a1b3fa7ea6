#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kern.prof of ktr sysctl, by BSD's names: the state is kgmon's, either way; ticks, callers and arcs are those that gmon.out
# has; what cannot be set; who has no profiler.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'the profiler is for x86-64'; exit 0 ;; esac
[ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no agent'; exit 0; }
. tests/cli/provider/fbt.inc
cat >"$dir/spin.c" <<'END'
__attribute__((noinline)) void inner(void) { for (volatile int i = 0; i < 100000; i++) ; }
__attribute__((noinline)) void outer(void) { inner(); inner(); __asm__ volatile(""); }
int main(void)
{
	for (;;)
		outer();
}
END
# shellcheck disable=SC2086
$cc -O1 $cflags -o "$dir/spin" "$dir/spin.c" || { fail 'spin.c'; exit 1; }
pid=
at_exit() { [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; }
cd "$dir" || exit 1
get() { # NAME WANTED
	is "kern.prof.$1" "$("$ktr" sysctl -n -p $pid "kern.prof.$1" 2>&1)" "$2"
}
set_to() { # NAME VALUE STATUS
	status "$3" "$ktr" sysctl -p $pid "kern.prof.$1=$2"
}
at_least() { # NAME N
	[ "$("$ktr" sysctl -n -p $pid "kern.prof.$1")" -ge "$2" ]
}

"$ktr" run --agent -e 65536 --probe 'profile:::profile-99' ./spin >log 2>&1 &
run=$!
await 'pid=$(pgrep -P $run -x spin)'
await '[ "$("$ktr" sysctl -n -p $pid kern.prof.state 2>&1)" = 0 ]'
status 0 "$ktr" kgmon -P $pid -h
get state 3
set_to state 4 0
get state 4
# From here on all ticks are of one length.
set_to count 0 0
is 'kgmon' "$("$ktr" kgmon -P $pid)" 'kgmon: kernel profiling is running (high resolution).'
case $("$ktr" sysctl -n -p $pid kern.prof.gmonparam) in
'{ state = 4, lowpc = 0, highpc = 0x'*', textsize = '*', hashfraction = 1, profrate = 997, histcounter_type = 16 }') ;;
*) fail "gmonparam: $("$ktr" sysctl -p $pid kern.prof.gmonparam)" ;;
esac
at_least_100() { at_least count 100; }
await at_least_100
# What is built for it is counted meanwhile: main calls outer, and that inner from two places.
get froms 3
get tos 3
for bad in 1 2 5 -1 x; do
	set_to state $bad 1
done
get state 4
set_to count 7 1
grep -q 'only 0 can be written' err || fail "count: $(cat err)"
set_to gmonparam 1 1
# What there is not, or is below a name.
status 1 "$ktr" sysctl -p $pid kern.prof.stat
is 'a name that there is not' "$(cat err)" 'ktr sysctl: unknown knob "kern.prof.stat", the nearest is "kern.prof.state"'
status 1 "$ktr" sysctl -p $pid kern.prof.state.more=0
is 'a name below one' "$(cat err)" 'ktr sysctl: unknown knob "kern.prof.state.more"'
set_to state 3 0
get state 3
n=$("$ktr" sysctl -n -p $pid kern.prof.count)
[ "$n" -ge 100 ] || fail "ticks: $n"
# They are those of gmon.out: of all its objects, but for what is in none.
status 0 "$ktr" kgmon -P $pid -p
ticks=$(python3 - gmon.out* <<'END'
import struct, sys
n = 0
for path in sys.argv[1:]:
    data, at = open(path, 'rb').read(), 20
    while at < len(data):
        if data[at] == 0:
            bins = struct.unpack_from('<i', data, at + 17)[0]
            n += sum(struct.unpack_from(f'<{bins}H', data, at + 41))
            at += 41 + 2 * bins
        else:
            at += 21
print(n)
END
)
nowhere=$(sed -n 's/.*[^0-9]\([0-9]*\) us are in no file.*/\1/p' err)
[ $((ticks + ${nowhere:-0} / 1003 + 2)) -ge "$n" ] && [ "$ticks" -le $((n + 1)) ] || fail "gmon.out has $ticks ticks of $n: $(cat err)"
set_to froms 0 0
get count 0

# Calls: main calls outer, and that calls inner; main is nobody's by then.
"$ktr" probe enable -p $pid 'fbt:spin::' >log 2>&1 || fail "fbt: $(cat log)"
await 'at_least tos 2'
"$ktr" probe disable -p $pid 'fbt:spin::' >log 2>&1
tos=$("$ktr" sysctl -n -p $pid kern.prof.tos) froms=$("$ktr" sysctl -n -p $pid kern.prof.froms)
[ "$tos" -ge 2 ] && [ "$tos" -le 4 ] && [ "$froms" = 1 ] || fail "calls: $froms that call, $tos arcs"
set_to tos 0 0
get tos 0

# In no list of all; all five by their node. Of a session that nobody is in, and one without a profiler.
"$ktr" sysctl -a -p $pid | grep -q kern.prof && fail 'it is in the list of all'
is 'a node' "$("$ktr" sysctl -N -p $pid kern.prof | tr '\n' ' ')" \
	'kern.prof.state kern.prof.count kern.prof.froms kern.prof.tos kern.prof.gmonparam '
kill -9 $pid
wait $run 2>/dev/null
name=$("$ktr" ls --dead 2>/dev/null | awk '/^spin/ { print $1; exit }')
if [ -n "$name" ]; then
	status 1 "$ktr" sysctl -s "$name" kern.prof.state=0
	grep -q 'nobody is in the session any more' err || fail "dead: $(cat err)"
fi
"$ktr" rm --dead >/dev/null 2>&1
printf '#include <ktr.h>\n#include <unistd.h>\nint main(void) { CTR0(KTR_NET, "one"); for (;;) pause(); }\n' >own.c
(cd "$top" && $cc -std=gnu11 -D_GNU_SOURCE -Iinclude "$dir/own.c" -o "$dir/own" "$O/lib/libktr.a" -lpthread) || fail 'own.c'
KTR_MASK=all ./own &
pid=$!
await '"$ktr" ls 2>/dev/null | grep -q "^own"'
set_to state 0 1
grep -q 'no process of the session has the profiler' err || fail "no profiler: $(cat err)"
status 1 "$ktr" sysctl -p $pid kern.prof.count
exit $failed
