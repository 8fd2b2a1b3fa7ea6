/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program in which reading the CPU's counter traps from before the first constructor on. (It cannot be set from
 * outside: the loader of glibc reads the counter.) For tests/cli/host/fallback.sh.
 */
#include <ktr.h>

#include <stdio.h>
#include <sys/prctl.h>

static void traps_before(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

__attribute__((section(".preinit_array"), used)) static void (*const traps_first)(void) = traps_before;

int main(void)
{
	for (int i = 0; i < 1000; i++)
		CTR1(KTR_GEN, "number %d", i);
	puts("worked");
	return 7;
}
