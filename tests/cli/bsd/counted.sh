#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# ktr kgmon where functions are built to be probed: each call is counted, on 2 and on 16 threads, within handlers of signals,
# in children, by threads that come and go, from one place to many functions; while the program hangs, is stopped, was
# killed; what a reset leaves; beside events of the same functions and samples of others. gprof reads it, and the same
# program counts by -finstrument-functions.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions as probes are for x86-64'; exit 0 ;; esac
command -v gprof >/dev/null || { skip 'no gprof'; exit 0; }
. tests/cli/provider/fbt.inc
source=tests/programs/bsd/counted.c
# shellcheck disable=SC2086
$cc -std=gnu11 -D_GNU_SOURCE -O2 $cflags -o "$dir/counted" $source $static || { fail 'counted.c'; exit 1; }
# shellcheck disable=SC2086
$cc -std=gnu11 -D_GNU_SOURCE -O2 $cflags -o "$dir/shared" $source $shared || { fail 'counted.c, shared'; exit 1; }
pid=
at_exit() { [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; }

# start PROGRAM ARGUMENT...: with each call counted from the beginning, until it hangs; told is what it counted
start() {
	: >"$dir/told"
	KTR_PROBES='fbt_count:::' KTR_FOLLOW_FORK=0 "$@" >"$dir/told" 2>"$dir/log" &
	pid=$!
	await 'grep -q "^arc deep" "$dir/told" || ! kill -0 $pid 2>/dev/null'
	await '[ "$(cut -d" " -f1 /proc/$pid/syscall)" = 34 ] || ! kill -0 $pid 2>/dev/null'
}
dump() { # SAID OPTION...
	want=$1
	shift
	rm -f "$dir"/gmon.out*
	(cd "$dir" && "$ktr" kgmon -P $pid -p "$@") >"$dir/out" 2>"$dir/err" || fail "kgmon -p $*: $? $(cat "$dir/out" "$dir/err")"
	is "kgmon -p $*: said" "$(cat "$dir/err")" "$want"
}
no_times='kgmon: there are no times: there are no samples'
read_as() { # FORM PROGRAM WHAT
	python3 tests/cli/show/gmon.py "$1" "$dir/gmon.out" "$2" "$dir/told" exact >"$dir/said" 2>&1 || fail "$3: $(tail -n 1 "$dir/said")"
}
ends() {
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$ktr" rm --dead >/dev/null 2>&1
	pid=
}

# ---- exact ----

for n in 2 16; do
	for program in counted shared; do
		start "$dir/$program" $n 20000
		dump "$no_times"
		read_as gnu "$dir/$program" "$n threads"
		dump "$no_times" --bsd
		read_as bsd "$dir/$program" "$n threads, BSD's form"
		ends
	done
done

# Another way of counting says so, too.
cat >"$dir/hooks.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#define BARE __attribute__((no_instrument_function))
static unsigned long count[1 << 20];
BARE void __cyg_profile_func_enter(void *self, void *from)
{
	extern char __executable_start;
	(void)from;
	__atomic_fetch_add(&count[((char *)self - &__executable_start) & 0xfffff], 1, __ATOMIC_RELAXED);
}
BARE void __cyg_profile_func_exit(void *self, void *from) { (void)self, (void)from; }
BARE __attribute__((destructor)) static void tells(void)
{
	extern char __executable_start;
	Dl_info info;
	for (unsigned i = 0; i < 1 << 20; i++)
		if (count[i] && dladdr(&__executable_start + i, &info) && info.dli_sname && strcmp(info.dli_sname, "main"))
			fprintf(stderr, "calls %s %lu\n", info.dli_sname, count[i]);
}
END
sed -i 's/#include <stdio.h>/&\n#include <string.h>/' "$dir/hooks.c"
$cc -O2 -c "$dir/hooks.c" -o "$dir/hooks.o" && touch "$dir/over" &&
	$cc -std=gnu11 -D_GNU_SOURCE -O2 -finstrument-functions -rdynamic \
		'-DBARE=__attribute__((no_instrument_function))' $source "$dir/hooks.o" -o "$dir/hooked" -lpthread -ldl ||
	fail 'hooked'
"$dir/hooked" 16 20000 '' "$dir/over" >"$dir/out" 2>"$dir/hooked.told" || fail "hooked: $?"
grep '^calls' "$dir/out" | sort >"$dir/told.sorted"
grep -v " run " "$dir/hooked.told" | sort | diff - "$dir/told.sorted" >"$dir/diff" ||
	fail "-finstrument-functions: $(head -n 5 "$dir/diff")"

# ---- handlers, children, threads ----

start "$dir/counted" 2 300000 signals
dump "$no_times"
[ "$(sed -n 's/^calls in_handler //p' "$dir/told")" -gt 100 ] || fail "hardly a signal: $(grep handler "$dir/told")"
read_as gnu "$dir/counted" 'in handlers'
ends
start "$dir/counted" 4 5000 fork
dump "$no_times"
read_as gnu "$dir/counted" 'a child'
ends
start "$dir/shared" 40 100 threads
dump "$no_times"
read_as gnu "$dir/shared" '400 threads'
ends

# ---- it hangs, is stopped, was killed; another tracer ----

start "$dir/counted" 16 5000
kill -STOP $pid
await 'grep -q "^State:.T" /proc/$pid/status'
dump "$no_times"
read_as gnu "$dir/counted" 'one that is stopped'
kill -9 $pid
wait $pid 2>/dev/null
dump "$no_times"
read_as gnu "$dir/counted" 'one that was killed'
(cd "$dir" && "$ktr" kgmon -P $pid) >"$dir/out" 2>&1
is 'the state of one that was killed' "$(cat "$dir/out")" 'kgmon: kernel profiling is running.'
"$ktr" rm --dead >/dev/null 2>&1

# ---- switched, reset, and listed ----

cat >"$dir/turns.c" <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void one(void) { __asm__ volatile(""); }
int main(void)
{
	char c;
	while (read(0, &c, 1) == 1) {
		if (c == '\n')
			continue;
		for (int i = 0; i < 1000; i++)
			one();
		write(1, ".", 1);
	}
	return 0;
}
END
# shellcheck disable=SC2086
$cc -std=gnu11 -D_GNU_SOURCE -O1 $cflags -o "$dir/turns" "$dir/turns.c" $static >"$dir/log" 2>&1 || fail "turns: $(cat "$dir/log")"
mkfifo "$dir/in" && exec 9<>"$dir/in"
turn() { # so many thousands of calls
	n=$(wc -c <"$dir/turned")
	echo x >&9
	await '[ "$(wc -c <"$dir/turned")" -gt "$n" ]'
}
counts() { # of `one`, as gprof has it
	rm -f "$dir/gmon.out"
	(cd "$dir" && "$ktr" kgmon -P $pid -p) >"$dir/out" 2>"$dir/err"
	gprof -b -p "$dir/turns" "$dir/gmon.out" 2>"$dir/err" | awk '$NF == "one" { n = $4 } END { print n + 0 }'
}
: >"$dir/turned"
"$dir/turns" <"$dir/in" >"$dir/turned" &
pid=$!
await '"$ktr" ls 2>/dev/null | grep -q "^turns"'
turn
kgmon() { (cd "$dir" && "$ktr" kgmon -P $pid "$@") >"$dir/out" 2>"$dir/err" || fail "kgmon $*: $? $(cat "$dir/err")"; }
kgmon && is 'off' "$(cat "$dir/out")" 'kgmon: kernel profiling is off.'
is 'before' "$(counts)" 0
kgmon -b && is 'on' "$(cat "$dir/out" "$dir/err")" 'kgmon: kernel profiling is running.'
is 'as it is listed' "$("$ktr" probe list -p $pid 'fbt_count:::' | awk 'NR > 1 { print $1, $2 }')" 'fbt_count:turns::arcs on'
turn
turn
is 'two turns' "$(counts)" 2000
is 'arcs' "$("$ktr" sysctl -p $pid -n kern.prof.tos 2>&1)" 1
kgmon -h
turn
is 'one that was not counted' "$(counts)" 2000
kgmon -b
turn
is 'three' "$(counts)" 3000
kgmon -r
is 'after a reset' "$(counts)" 0
turn
is 'since' "$(counts)" 1000
# Beside events of the same function, each of which is one.
"$ktr" probe enable -p $pid 'fbt:turns:one:' >"$dir/log" 2>&1 || fail "events: $(cat "$dir/log")"
before=$("$ktr" sysctl -p $pid -n debug.ktr.recorded)
turn
is 'beside events' "$(counts)" 2000
[ "$("$ktr" sysctl -p $pid -n debug.ktr.recorded)" -ge $((before + 2000)) ] || fail "events: $("$ktr" sysctl -p $pid -n debug.ktr.recorded)"
"$ktr" probe enable -p $pid 'fbt_caller:turns:one:' >"$dir/log" 2>&1 || fail "a filter: $(cat "$dir/log")"
turn
is 'beside a filter' "$(counts)" 3000
kgmon -h
turn
is 'off beside events' "$(counts)" 3000
ends

# ---- beside samples: what is not built for it has arcs of samples ----

if [ -e "$O/lib/libktr-agent.so" ] && [ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ]; then
	cat >"$dir/sorts.c" <<-'END'
	#include <stdlib.h>
	#include <unistd.h>
	static volatile unsigned long n;
	__attribute__((noinline)) int compare(const void *a, const void *b) { n++; return *(const int *)a - *(const int *)b; }
	int main(void)
	{
		static int a[1000];
		for (;;) {
			for (int i = 0; i < 1000; i++)
				a[i] = rand();
			qsort(a, 1000, sizeof(*a), compare);
		}
	}
	END
	# shellcheck disable=SC2086
	$cc -std=gnu11 -O1 $cflags -o "$dir/sorts" "$dir/sorts.c" -lpthread >"$dir/log" 2>&1 || fail "sorts: $(cat "$dir/log")"
	"$ktr" run --agent --probe profile:::profile-997 "$dir/sorts" >"$dir/log" 2>&1 &
	runner=$!
	await '[ -n "$(pgrep -P $runner -x sorts)" ]'
	pid=$(pgrep -P $runner -x sorts)
	await '"$ktr" kgmon -P $pid >"$dir/out" 2>&1'
	kgmon -B
	has_both() {
		kgmon -p && [ -e "$dir/gmon.out.libc.so.6" ] && gprof -b -p "$dir/sorts" "$dir/gmon.out" 2>/dev/null |
			awk '$NF == "compare" { found = $3 > 0 && $4 > 1000 } END { exit !found }'
	}
	await has_both
	grep -q 'calls in objects that are not built to be probed are sampled, not counted' "$dir/err" ||
		fail "beside samples: $(cat "$dir/err")"
	# What the program itself has counted; as it went on after the first of two dumps, and before the second.
	kill -STOP $pid
	await 'grep -q "^State:.T" /proc/$pid/status'
	kgmon -p
	said=$(gprof -b -p "$dir/sorts" "$dir/gmon.out" | awk '$NF == "compare" { print $4 }')
	n=$(python3 - $pid "$dir/sorts" <<-'END'
	import struct, subprocess, sys
	maps = open('/proc/%s/maps' % sys.argv[1])
	base = min(int(line.split('-')[0], 16) for line in maps if line.rstrip().endswith('/sorts'))
	names = subprocess.run(['nm', sys.argv[2]], capture_output=True, text=True).stdout.splitlines()
	at = [int(line.split()[0], 16) for line in names if line.endswith(' b n')][0]
	mem = open('/proc/%s/mem' % sys.argv[1], 'rb')
	mem.seek(base + at)
	print(struct.unpack('<Q', mem.read(8))[0])
	END
	)
	echo "beside samples: $said of $n calls since the program began"
	[ "$said" -le "$n" ] && [ "$said" -gt 1000 ] || fail "beside samples: $said of $n"
	kill -9 $pid
	kill -CONT $runner # which stops with whom it runs
	wait $runner 2>/dev/null
	pid=
fi
exit $failed
