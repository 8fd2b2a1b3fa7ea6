#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The names of a DTrace-like kernel framework (ktr/dtrace.h): every macro and call, on both paths, linked either way,
# in C and C++; switches and faults as the kernel tells them, beside getrusage(2); its probes from outside and at
# start; removal under fire for SECONDS_EACH (1).
. "$(dirname "$0")/../lib.inc"
. tests/stress/common.sh
. "$(dirname "$0")/instructions.inc"
libs="$O/lib/libktr-dtrace.a $O/lib/libktr-provider.a $libs"
build mach_uses tests/programs/provider/mach_uses.c
export KTR_CONF=
host=$out/mach_uses
pid=
at_exit() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
}

for path in $paths; do
	for what in uses bad files fork; do
		on_path "$path" timeout 300 "$host" "$what" || fail "$what on the path of $path"
	done
	on_path "$path" timeout 300 "$host" race "${SECONDS_EACH:-1}" || fail "race on the path of $path"
done

# Instructions of walks through twice as many probes: less than 3 times as many; 7.7 where each step looks through all.
took=
export KTR_KERNEL=none
for n in 200 400 800; do
	instructions "$host" ids $n || break
	took="$took $count"
done
unset KTR_KERNEL
if [ -n "$took" ]; then
	echo "$took" | awk '{ exit !(NF == 3 && $3 < 4.5 * $2) }' || fail "instructions for 200, 400 and 800 probes:$took"
else
	timeout 300 "$host" ids 2000 || fail 'ids'
fi

# Main returns while others fire.
for i in 1 2 3 4 5 6 7 8 9 10; do
	timeout 300 "$host" ends || fail "ends: status $?"
done

# The shared libraries.
$CC $flags tests/programs/provider/mach_uses.c -o "$dir/uses" -L"$O/lib" -lktr-dtrace -lktr-provider -lktr "-Wl,-rpath,$O/lib" -lpthread ||
	fail 'not linked with libktr-dtrace.so'
timeout 300 "$dir/uses" uses || fail 'uses, shared'
printf '%s\n' '#include <ktr/dtrace.h>' 'void plugged_fire(int);' \
	'void plugged_fire(int i) { DTRACE_CUSTOM("plugged", i); }' >"$dir/plugged.c"
$CC $flags -fPIC -shared "$dir/plugged.c" -o "$dir/plugged.so" -L"$O/lib" -lktr-dtrace -lktr-provider -lktr || fail 'no plugin'
timeout 300 "$dir/uses" plugin "$dir/plugged.so" || fail 'a library with points, loaded and unloaded'

# What the kernel tells: the program's own counts. A switch may come between a count and the event beside it.
for path in $paths; do
	near=0
	for try in $(seq 20); do
		on_path "$path" timeout 300 "$host" kernel >"$dir/said" 2>"$dir/err"
		case $? in
		0) ;;
		77) break ;;
		*) fail "kernel on the path of $path: $(cat "$dir/said" "$dir/err")" ;;
		esac
		awk '{ s = $2 - $1; f = $4 - $3; exit !(s >= -1 && s <= 1 && f >= -2 && f <= 2 && $1 >= 20 && $3 >= 300) }' "$dir/said" &&
			{ near=1; break; }
	done
	if [ -s "$dir/err" ]; then
		is 'lines that say why' "$(grep -c 'no events of the kernel' "$dir/err") $(wc -l <"$dir/err")" '1 1'
		skip "the kernel tells nothing: $(cat "$dir/err")"
	else
		[ $near = 1 ] || fail "switches and faults, counted and told: $(cat "$dir/said")"
	fi
done

# Refused, one line says why, and the probes are there.
build kernel_host tests/programs/provider/kernel_host.c
mkfifo "$dir/refused"
timeout 300 "$out/kernel_host" refuse "$host" serve <"$dir/refused" >"$dir/said" 2>"$dir/err" &
pid=$!
exec 3>"$dir/refused"
await 'grep -q "no events of the kernel: perf_event_open" "$dir/err" || ! kill -0 $pid 2>/dev/null'
echo 'fire 2' >&3 2>/dev/null
exec 3>&-
wait $pid
case $? in
77) skip 'no seccomp' ;;
*)
	is 'refused: lines that say why' "$(grep -c 'no events of the kernel' "$dir/err") $(wc -l <"$dir/err")" '1 1'
	is 'refused: the probes are there' "$(tr '\n' ' ' <"$dir/said")" '4 done '
	;;
esac
pid=

# From outside: listed and switched, registered or not; what fires is in the session.
mkfifo "$dir/in" "$dir/answers"
KTR_SESSION=served "$host" serve <"$dir/in" >"$dir/answers" 2>"$dir/err" &
pid=$!
exec 3>"$dir/in" 4<"$dir/answers"
ask() {
	echo "$1" >&3
	IFS= read -r answer <&4 || answer='no answer'
	is "$1" "$answer" done
}
events() { # PATTERN WANTED
	is "events of $1" "$("$ktr" dump -q -s served --filter 'class == mach' 2>/dev/null | grep -c "$1")" "$2"
}
IFS= read -r answer <&4
is 'the first id after the kernel'\''s own' "$answer" 4
shown() { # SPEC WANTED
	is "list $1" "$("$ktr" probe list -s served "$1" | awk 'NR > 1 { print $1, $2, $3, $4 }' | sort | tr '\n' '|')" "$2"
}
# A probe is told of by its first point: of several, which that is depends on the compiler.
case $cc in
*clang*) ;;
*)
	shown 'mach::serve' 'mach:custom:serve:point off i, "text"|mach:custom:serve:served off i |'
	shown 'mach:::[itv]*_*' 'mach:ipc_receive:fire_all:ipc_receive off 8u, 2048|mach:ipc_send:fire_all:ipc_send on 7u, 1024|'\
'mach:thread_switch:fire_all:thread_switch on (void *)0x10,|mach:timer_tick:fire_all:timer_tick off 3 |'\
'mach:vm_fault:fire_all:vm_fault on 0x1000, 2|'
	;;
esac
ask 'fire 3'
events ipc_send 3
events custom: 0
is 'enable' "$("$ktr" probe enable -s served 'mach:custom:serve:*' 2>&1)" '2 probes enabled'
ask 'fire 5'
events 'mach_uses.c:.*custom:served 0x' 4 # 0 is printed as 0
events 'custom:point ' 5
is 'disable' "$("$ktr" probe disable -s served 'mach:::' 2>&1)" '5 probes disabled, 16 already so'
kernel=$("$ktr" sysctl -n -s served debug.ktr.kernel)
is 'what the kernel tells, disabled' "$kernel" none
ask 'fire 7'
events custom:served 5
exec 3>&- 4<&-
wait $pid
is 'end' $? 0
pid=

# At start, and in a trace.
echo 'fire 6' >"$dir/lines"
KTR_PROBES='mach:custom' "$ktr" run -o "$dir/trace" "$host" serve <"$dir/lines" >/dev/null 2>"$dir/err" || fail "$(cat "$dir/err")"
for what in custom:served ipc_send; do
	is "at start: $what" "$("$ktr" dump -q "$dir/trace" | grep -c "mach .*$what")" 6
done

# Switched off as the framework is: macros leave nothing, and evaluate nothing.
printf '%s\n' '#define MACH_DTRACE 0' '#include <ktr/dtrace.h>' 'int n;' \
	'int main(void) { DTRACE_FUNCTION_ENTRY("main"); DTRACE_SYSCALL_ENTRY("call", n++); DTRACE_IPC_SEND(n++, 2);' \
	'DTRACE_CUSTOM("none"); DTRACE_CUSTOM("all", 1, 2, 3, 4, n++, 1.5); DTRACE_TIMER_TICK(n++);' \
	'DTRACE_SYSCALL_EXIT("call", n);' \
	'return n || dtrace_probe_register(DTRACE_PROBE_CUSTOM, "all", "main", 0) != 4; }' >"$dir/off.c"
# shellcheck disable=SC2086
$CC $flags -Werror "$dir/off.c" -o "$dir/off" $libs && "$dir/off" || fail 'MACH_DTRACE 0'
$CC $flags -c "$dir/off.c" -o "$dir/off.o" && readelf -SW "$dir/off.o" | grep -q ktr_mach && fail 'MACH_DTRACE 0 leaves points'

# Where the program starts ktr itself its points are there with dtrace_init().
sed -e 's/#define MACH_DTRACE 0/#define KTR_NO_AUTOSTART/' -e 's/int main.*/int main(void) { dtrace_init(); DTRACE_IPC_SEND(n++, 2);/' \
	-e '/^DTRACE_CUSTOM/d' -e '/^DTRACE_SYSCALL_EXIT/d' -e 's/^return.*/return n != 1; }/' "$dir/off.c" >"$dir/late.c"
# shellcheck disable=SC2086
$CC $flags -Werror "$dir/late.c" -o "$dir/late" $libs && "$dir/late" || fail 'KTR_NO_AUTOSTART'

# Every macro in strict C and C++.
cat >"$dir/strict.c" <<-'END'
	#include <ktr/dtrace.h>
	int main(void)
	{
		int n = 1;
		DTRACE_FUNCTION_ENTRY("main");
		DTRACE_SYSCALL_ENTRY("call", n);
		DTRACE_SYSCALL_EXIT("call", n);
		DTRACE_IPC_SEND(n, 2ul);
		DTRACE_IPC_RECEIVE(n, 2ul);
		DTRACE_VM_FAULT(&n, 1);
		DTRACE_THREAD_SWITCH(&n, &n);
		DTRACE_TIMER_TICK(1);
		DTRACE_CUSTOM("none");
		DTRACE_CUSTOM("one", 1);
		DTRACE_CUSTOM("two", 1, "2");
		DTRACE_CUSTOM("three", 1, 2, 3.0);
		DTRACE_CUSTOM("four", 1, 2, 3, 4);
		DTRACE_CUSTOM("five", 1, 2, 3, 4, 5);
		DTRACE_CUSTOM("six", 1, 2, 3, 4, 5, 6);
		DTRACE_FUNCTION_EXIT("main");
		return 0;
	}
END
cp "$dir/strict.c" "$dir/strict.cc"
for how in "$cc -std=c11 $dir/strict.c" "$cc -std=gnu11 -DKTR_OFF $dir/strict.c" "clang -std=c11 $dir/strict.c" \
	"${CXX:-c++} -std=c++17 $dir/strict.cc" "${CXX:-c++} -std=c++17 -O2 $dir/strict.cc" "clang++ -std=c++17 $dir/strict.cc"; do
	command -v "${how%% *}" >/dev/null || continue
	# shellcheck disable=SC2086
	$how -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -o "$dir/strict" $libs -lpthread 2>"$dir/err" ||
		{ fail "$how: $(head -n 5 "$dir/err")"; continue; }
	"$dir/strict" || fail "$how: it does not run"
done
exit $failed
