#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Static probes of programs that were not built for ktr: throws of libstdc++ as many as the program counts, with what was
# thrown, whatever it does with SIGTRAP; all forms of arguments, semaphores; python3's functions; from outside, attached;
# refused where a trap would kill.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'static probes are on x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
export KTR_CONF= KTR_BUDGET=0
unset KTR_PROBES
lib=$O/lib/libktr-agent.so
[ -e "$lib" ] || { skip 'no agent'; exit 0; }
prog=$dir/usdt
${CXX:-c++} -O1 -no-pie -o "$prog" tests/programs/provider/usdt.cc -lpthread || { fail 'usdt.cc'; exit 1; }

traced() { # TRACE PROBES PROGRAM [ARGUMENT...]: its exit status
	trace=$dir/$1 probes=$2
	shift 2
	rm -rf "$trace"
	KTR_PROBES=$probes "$ktr" run --agent -o "$trace" "$@" >"$dir/out" 2>"$dir/err"
}
events() { # TRACE NAME: their texts
	"$ktr" dump "$dir/$1" | sed -n "s/^.* $2//p"
}

# ---- what the program does with SIGTRAP ----

for life in plain handler ignore longjmp blocked mask masks threads spawn altstack fork vfork exec default; do
	"$prog" $life >"$dir/wanted" 2>/dev/null
	wanted=$?
	traced t 'usdt:libstdc++*:libstdcxx:throw' "$prog" $life
	is "$life: exit status" $? $wanted
	is "$life: output" "$(cat "$dir/out")" "$(cat "$dir/wanted")"
	is "$life: throws" "thrown $(events t libstdcxx:throw | grep -c 'type=St13runtime_error$')" "$(cat "$dir/wanted")"
done

# ---- arguments and semaphores ----

traced t 'usdt:::' "$prog" forms
is 'semaphore' "$(cat "$dir/out")" 'semaphore 5'
is 'two at one place' "$(events t mine:one),$(events t mine:two)" ' arg0=0, arg0=0'
is 'what no file should say' "$(events t 'mine:\(beyond\|in_text\|nowhere\|before\|not_a_nop\)')" ''
is 'forms' "$(events t mine:forms)" ' arg0=-7 arg1=0x8 arg2=-3 arg3=1234 arg4=-6 arg5=65535'
is 'floats' "$(events t mine:floats)" ' arg0=1.5 arg1=2.5'
is 'bad ones' "$(events t mine:bad | sed 's/arg3=0x[1-9a-f][0-9a-f]*$/arg3=N/')" ' arg0=0 arg1=0 arg2=0 arg3=N'
traced t 'usdt:usdt:mine:floats' "$prog" forms
is 'one semaphore' "$(cat "$dir/out")" 'semaphore 1'

# ---- as an option ----

for case in 'mine:floats 1' 'mine 5' ',mi?e:fl*,nobody, 1'; do
	"$ktr" run --agent --usdt "${case% *}" -o "$dir/option" "$prog" forms >"$dir/out" 2>"$dir/err"
	is "--usdt ${case% *}" "$(cat "$dir/out")" "semaphore ${case##* }"
done
# What fits in none of three processes is said once.
"$ktr" run --agent -i --usdt yours -o "$dir/option" bash -c 'bash -c "exit 0"; "$1" forms; exit 0' bash "$prog" >"$dir/out" 2>"$dir/err"
is '--usdt yours of three' "$(grep -c 'no probe fits' "$dir/err")" 1
status 2 "$ktr" run --usdt mine "$prog" forms
grep -q -- '--usdt is for programs that have the agent' "$dir/err" || fail "without the agent: $(cat "$dir/err")"

# ---- python3, beside what it counts itself ----

if readelf -n "$(readlink -f "$(command -v python3)")" 2>/dev/null | grep -q 'function__entry'; then
	printf '%s\n' 'def inner(n): return n' 'def outer(n): return inner(n) + inner(n)' 'for i in range(20): outer(i)' >"$dir/calls.py"
	# CPython 3.11 comes to those of functions only where it traces, as it does for lines (ceval.c, OR_DTRACE_LINE).
	traced t 'usdt:python*:python:*' python3 -S "$dir/calls.py" || fail "python3: $(cat "$dir/err")"
	is 'python' "$(events t 'python:function__entry' | grep -F "file=$dir/calls.py" |
		sed 's/.*function=//; s/^<module> line=.*/<module>/' | sort | uniq -c |
		sed 's/^ *//' | paste -sd,)" '1 <module>,40 inner line=1,20 outer line=2'
fi

# ---- from outside ----

attached() { # VERB: its process, attached
	"$prog" "$1" "$dir/stop" >"$dir/out" & pid=$!
	await 'became $pid "$prog"'
	"$ktr" attach -p $pid >/dev/null 2>"$dir/err" || fail "attach: $(cat "$dir/err")"
}
ends() {
	: >"$dir/stop"
	wait $pid || fail "it ended with $?"
	rm -f "$dir/stop"
}
now=0
sees() { # events: are there more in its session?
	before=$1
	await 'now=$("$ktr" ls | awk -v session="usdt.$pid" "\$1 == session { print \$6 }"); [ "${now:-0}" -gt "$before" ]'
}
attached wait
"$ktr" probe list -p $pid 'usdt:::' >"$dir/list"
grep -q '^usdt:libstdc++[^:]*:libstdcxx:throw *off' "$dir/list" || fail "probe list: $(cat "$dir/list")"
"$ktr" probe enable -p $pid 'usdt::libstdcxx:throw' >/dev/null || fail 'enable'
sees 0
"$ktr" probe disable -p $pid 'usdt:::' >/dev/null || fail 'disable'
"$ktr" probe enable -p $pid 'usdt::libstdcxx:throw' >/dev/null || fail 'enable again'
sees "$now"
"$ktr" detach -p $pid >/dev/null 2>&1
ends

# A thread that blocks SIGTRAP before anything is on would be killed.
"$prog" kept "$dir/stop" >"$dir/out" & pid=$!
await 'grep -q "^SigBlk:.*f\$" /proc/$pid/status && became $pid "$prog"'
"$ktr" attach -p $pid >/dev/null 2>"$dir/err" || fail "attach: $(cat "$dir/err")"
"$ktr" probe enable -p $pid 'usdt::libstdcxx:throw' >"$dir/said" 2>&1
grep -q "its thread $pid (usdt) blocks SIGTRAP" "$dir/said" || fail "not refused: $(cat "$dir/said")"
ends

exit $failed
