#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Functions that have no symbol are told apart by where they begin, by the tables for unwinding: a pointer into one, in a
# stripped program, has the program's name and that place; one that is exported keeps its name. A picture of deep stacks
# leaves out levels that are narrow, and says so.
. "$(dirname "$0")/../lib.inc"
[ -e /usr/include/elfutils/libdwfl.h ] || { skip "no libdw"; exit 0; }
cat >"$dir/stripped.c" <<'END2'
#include <ktr.h>
#include <stdint.h>
#include <unistd.h>
__attribute__((noinline)) static uintptr_t secret(uintptr_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}
__attribute__((noinline)) uintptr_t known(uintptr_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 5;
}
static void nest(unsigned n)
{
	KTR_SCOPE(KTR_GEN, "nest");
	if (n)
		nest(n - 1);
}
int main(void)
{
	KTR_SCOPE(KTR_GEN, "whole");
	uintptr_t sum = secret(1) + known(2);
	CTR2(KTR_GEN, "at %p and %p", (void *)((uintptr_t)secret + 2), (void *)((uintptr_t)known + 3));
	nest(70);
	usleep(50000);
	return sum == 1;
}
END2
$cc -std=gnu11 -O2 -rdynamic -Iinclude "$dir/stripped.c" -o "$dir/whole" "$O/lib/libktr.a" -lpthread || { fail 'stripped.c'; exit 1; }
at=$(nm "$dir/whole" | awk '$3 == "secret" { sub(/^0*/, "", $1); print $1 }')
strip -o "$dir/stripped" "$dir/whole" || { skip 'no strip'; exit 0; }
cd "$dir" || exit 1
for program in whole stripped; do
	"$ktr" run -m all -o $program.ktr ./$program >log 2>&1 || fail "run: $(cat log)"
	"$ktr" dump $program.ktr >$program.dump || fail "dump of $program"
	is "what a pointer is in, $program" "$(grep -o 'at 0x.* and .*' $program.dump | sed 's/0x[0-9a-f]* (/(/g')" \
		"at ($([ $program = whole ] && echo secret || echo "stripped:0x$at")+0x2) and (known+0x3)"
done
"$ktr" flame -o f.svg whole.ktr && "$ktr" flame -o f.html whole.ktr || fail flame
grep -q 'more levels, in less than a hundredth of it' f.svg || fail 'the picture does not say what it leaves out'
[ "$(grep -c 'title>nest' f.svg)" -lt 45 ] || fail "the picture has $(grep -c 'title>nest' f.svg) levels"
[ "$(grep -o 'nest' f.html | wc -l)" -ge 1 ] || fail 'the page has no frames'
exit $failed
