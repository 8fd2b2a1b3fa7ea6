/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asking the kernel where errno, cancellation, and who has put what in the C library's place do not matter: while a
 * probe is fired syscall(2) may be the program's own, and changes errno; so do mmap(2) and the others. On x86-64.
 */
#ifndef KTR_ARCH_ASK_H
#define KTR_ARCH_ASK_H

/* -errno where it says no. */
static inline long ktr__ask(long number, long a, long b, long c, long d, long e, long f)
{
	register long four __asm__("r10") = d, five __asm__("r8") = e, six __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(four), "r"(five), "r"(six)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
