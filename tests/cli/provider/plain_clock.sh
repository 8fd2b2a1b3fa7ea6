#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions that were not built to be probed, where the clock is not the CPU's counter: their events ask the kernel for
# nothing, also in a program that has an allocator of its own.
. "$(dirname "$0")/../lib.inc"
case $(uname -m) in x86_64) ;; *) skip 'functions are probes on x86-64'; exit 0 ;; esac
[ "$(ldd /bin/true | grep -c 'libc\.so\.6')" = 1 ] || { skip 'no glibc'; exit 0; }
[ -e "$O/lib/libktr-agent.so" ] || { skip 'no agent'; exit 0; }
export KTR_CONF= KTR_BUDGET=0 KTR_CLOCK_SOURCE=monotonic KTR_PROBES='fbt:prog:step:'
cat >"$dir/prog.c" <<-'E'
	#include <stdio.h>
	#include <stdlib.h>
	#ifdef OWN
	void *__libc_calloc(size_t n, size_t bytes);
	void *calloc(size_t n, size_t bytes) { return __libc_calloc(n, bytes); }
	#endif
	__attribute__((noinline)) int step(int i)
	{
		char *volatile block = NULL;

		if (i % 1000 == 999)
			free(block = calloc(1, 10));
		return (i > 5) + i;
	}
	int main(void)
	{
		long sum = 0;

		for (int i = 0; i < 10000; i++)
			sum += step(i);
		return printf("%ld\n", sum) < 0;
	}
E
for own in '' -DOWN; do
	# shellcheck disable=SC2086
	$cc $own -O1 -fcf-protection -falign-functions=64 -fno-builtin -o "$dir/prog" "$dir/prog.c" ||
		{ fail "compiling $own"; continue; }
	rm -rf "$dir/t" "$dir/calls"
	"$ktr" ktrace -i -t c -f "$dir/calls" "$ktr" run --agent -o "$dir/t" "$dir/prog" >"$dir/out" 2>"$dir/err" ||
		{ fail "$own: exit status $?: $(cat "$dir/err")"; continue; }
	is "$own: output" "$(cat "$dir/out")" 50004994
	is "$own: events" "$("$ktr" dump "$dir/t" | grep -c 'step starts\|step ends')" 20000
	n=$("$ktr" kdump -f "$dir/calls" | grep -c 'CALL *rt_sigprocmask')
	[ "$n" -gt 0 ] && [ "$n" -lt 2000 ] || fail "$own: $n calls of rt_sigprocmask"
done
exit $failed
