#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# libktr-profil: each corner of profil(2), the time of threads beside their own clocks, also of those that live for a moment,
# exec and signals, monstartup's names and what gprof makes of their file; by the shared library, and by the archive in a
# program with the C library's and in one that is linked statically. FULL=1: longer.
. "$(dirname "$0")/../lib.inc"
[ -e "$O/lib/libktr-profil.so" ] || { skip 'libktr-profil is for x86-64'; exit 0; }
flags='-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Iinclude -O1 -g -fno-stack-protector'
wrap=-Wl,--wrap=pthread_create,--wrap=thrd_create
ms=1000 n=300
[ "${FULL:-0}" = 0 ] || ms=10000 n=3000
# shellcheck disable=SC2086
for name in profil profil_truth; do
	source=tests/programs/provider/$name.c
	$cc $flags $source -o "$dir/shared.$name" -L"$O/lib" -Wl,-rpath,"$O/lib" -lktr-profil -lpthread -lm || exit 1
	$cc $flags $source -o "$dir/archive.$name" $wrap "$O/lib/libktr-profil.a" -lpthread -lm || exit 1
	$cc $flags -static $source -o "$dir/static.$name" $wrap "$O/lib/libktr-profil.a" -lpthread -lm 2>"$dir/err" ||
		skip "static: $(head -n 1 "$dir/err")"
done
ldd "$dir/archive.profil" | grep -q libktr && fail 'the archive is a shared library'
is "the archive's names" \
	"$(nm -g --defined-only "$O/lib/libktr-profil.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort | tr '\n' ' ')" \
	"__wrap_pthread_create __wrap_thrd_create $(nm -D --defined-only "$O/lib/libktr-profil.so" | awk '$3 ~ /^ktr_/ { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort | tr '\n' ' ')"
run() { # PROGRAM ARGUMENTS...: out
	timeout 300 "$@" >"$dir/out" 2>&1
	rc=$?
	[ $rc = 0 ] || fail "$(basename "$1") $2: status $rc: $(head -n 5 "$dir/out")"
}
cd "$dir" || exit 1
for program in shared archive static; do
	[ -x $program.profil ] || continue
	# The next program knows nothing of it, and no signal ends it.
	run ./$program.profil exec
	[ $program = archive ] || run ./$program.profil corners
	run ./$program.profil_truth short $n 997
	sed "s/^/$program, 997 Hz: /" out
done

# Threads of known shares, and 200 that live for a moment. FULL=1: at least 10,000 ticks at each rate.
truth() { # PROGRAM HZ SEED [masked]
	# shellcheck disable=SC2086
	run ./$1.profil_truth shares $([ $2 = 99 ] && echo 75000 || echo $ms) $2 $3 ${4:-}
	sed "s/^/$1, $2 Hz, seed $3${4:+, $4}: /" out
}
for program in archive static; do
	[ ! -x $program.profil_truth ] || truth $program 997 1
done
rates=997 seeds=1
[ "${FULL:-0}" = 0 ] || rates='99 997 4999' seeds='1 2'
for hz in $rates; do
	for seed in $seeds; do
		truth shared $hz $seed
		truth shared $hz $seed masked
	done
done

# ---- who waits for any signal is not told of ours ----

cat >waits.c <<'END'
#include <ktr/profil.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static unsigned short counter[64];
static void *busy(void *arg)
{
	struct ktr_profil_sums sums = { .size = sizeof(sums) };

	while (ktr_profil_sums(&sums) == 0 && sums.n_ticks < 100)
		;
	kill(getpid(), SIGTERM);
	return arg;
}
int main(void)
{
	pthread_t thread;
	sigset_t all;
	int number = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	ktr_profil_hz(1000);
	if (ktr_profil(counter, sizeof(counter), 0, 0x10000) || pthread_create(&thread, NULL, busy, NULL))
		return 2;
	sigfillset(&all);
	for (volatile int i = 0; i < 300000000; i++)
		;
	sigwait(&all, &number);
	printf("%d\n", number);
	return number != SIGTERM;
}
END
# shellcheck disable=SC2086
(cd "$top" && $cc $flags "$dir/waits.c" -o "$dir/waits" -L"$O/lib" -Wl,-rpath,"$O/lib" -lktr-profil -lpthread) || fail 'waits.c'
run ./waits

# ---- a program in C++, whose library makes the threads ----

if command -v "${CXX:-c++}" >/dev/null; then
	cat >plus.cc <<'END'
#include <ktr/profil.h>
#include <cstdio>
#include <thread>
#include <vector>
extern "C" const char __executable_start[], etext[];
[[gnu::noinline]] void works(unsigned n) { while (n--) __asm__ volatile(""); }
int main()
{
	static unsigned short counter[1 << 21];
	struct ktr_profil_sums sums = {};
	std::vector<std::thread> thread;

	sums.size = sizeof(sums);
	if (ktr_profil(counter, sizeof(counter), (size_t)__executable_start, 0x10000))
		return 1;
	for (int i = 0; i < 3; i++)
		thread.emplace_back([] { for (int k = 0; k < 100; k++) works(10000000); });
	for (auto &one : thread)
		one.join();
	ktr_profil(nullptr, 0, 0, 0);
	ktr_profil_sums(&sums);
	std::printf("%lu %lu\n", (unsigned long)sums.n_ticks, (unsigned long)sums.n_outside);
	return sums.n_ticks < 20 || sums.n_outside > sums.n_ticks / 10;
}
END
	needs=$(sed -n 's/^Libs.private: //p' "$top/scripts/ktr-profil.pc.in")
	# shellcheck disable=SC2086
	if (cd "$top" && ${CXX:-c++} -std=c++17 -O1 -Wall -Wextra -Iinclude "$dir/plus.cc" -o "$dir/plus" -L"$O/lib" -Wl,-rpath,"$O/lib" \
		-lktr-profil -lpthread) >log 2>&1; then
		run ./plus
		if (cd "$top" && ${CXX:-c++} -std=c++17 -O1 -Iinclude -static "$dir/plus.cc" -o "$dir/plus.static" "$O/lib/libktr-profil.a" \
			$needs) >log 2>&1; then
			run ./plus.static
		else
			skip "C++, static: $(head -n 1 log)"
		fi
	else
		fail "plus.cc: $(cat log)"
	fi
fi

# ---- a file for gprof ----

if command -v gprof >/dev/null; then
	for program in shared static; do
		[ -x $program.profil ] || continue
		rm -f gmon.out
		run ./$program.profil mon
		gprof -b -p $program.profil gmon.out >flat 2>&1 || fail "gprof: $(cat flat)"
		# Each tick that came is there, a hundredth of a second; of 100 some may be in calls of the clock, which are few. What
		# was done while it was off is not.
		awk 'NR == FNR { ticks = $1; outside = $2; next } $3 ~ /^[0-9.]+$/ && $1 ~ /^[0-9.]+$/ { all += $3 }
			$NF == "spin_loop" { n = $3 } $NF == "while_off" { off = 1 }
			END { d = all * 100 - (ticks - outside)
				exit !(ticks >= 100 && d < 0.5 && d > -0.5 && n >= 0.9 && !off) }' out flat ||
			fail "$program: gprof says $(head -n 12 flat), of $(cat out)"
		GMON_OUT_PREFIX=$dir/some run ./$program.profil mon
		[ "$(find . -name 'some.[0-9]*' | wc -l)" = 1 ] || fail "GMON_OUT_PREFIX: $(ls)"
		rm -f some.*
	done
fi
# Code that has the names of BSD.
cat >names.c <<'END'
static unsigned short counter[1024];
int main(void)
{
	if (profil(counter, sizeof(counter), (unsigned long)main, 0x10000) || profil(0, 0, 0, 0))
		return 1;
	monstartup((unsigned long)main, (unsigned long)main + 100);
	moncontrol(0);
	moncontrol(1);
	_mcleanup();
	return 0;
}
END
(cd "$top" && $cc -Wall -Werror -Iinclude -DKTR_PROFIL_NAMES -include ktr/profil.h "$dir/names.c" -o "$dir/names" \
	"$O/lib/libktr-profil.a" -lpthread) ||
	fail 'names.c'
rm -f gmon.out
run ./names
[ -s gmon.out ] || fail "_mcleanup: no file"
# A program that knows nothing of it, which begins and ends by itself.
if command -v python3 >/dev/null; then
	cat >own.py <<'END'
import ctypes, hashlib, os, threading
lib = ctypes.CDLL(None, use_errno=True)
class Sums(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint32) for n in ("size", "is_on")] + \
        [(n, ctypes.c_uint64) for n in ("ticks", "outside", "missed", "without")]
counter = ctypes.create_string_buffer(1 << 20)
assert lib.ktr_profil(counter, ctypes.c_size_t(1 << 20), ctypes.c_size_t(0), 0x10000) == 0
threads = [threading.Thread(target=lambda: [hashlib.sha256(b'x' * 1000000).digest() for _ in range(300)]) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
lib.ktr_profil(None, ctypes.c_size_t(0), ctypes.c_size_t(0), 0)
cpu = os.times(); sums = Sums(size=ctypes.sizeof(Sums))
assert lib.ktr_profil_sums(ctypes.byref(sums)) == 0
print(sums.ticks, sums.missed, round((cpu.user + cpu.system) * 100))
assert sums.without == 0 and sums.ticks + sums.missed > 10, (sums.ticks, sums.missed)
END
	run env LD_PRELOAD="$O/lib/libktr-profil.so" python3 own.py
	cat out
fi
exit $failed
