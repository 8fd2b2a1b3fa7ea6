/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vfork(2) by the name that programs have it by which are linked with libktr.so. It returns twice, so it is jumped
 * to.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
#define VFORK_JUMP "jmp vfork"
#elif defined(__aarch64__)
#define VFORK_JUMP "b vfork"
#endif

#ifdef VFORK_JUMP
__asm__(".pushsection .text\n"
	".globl ktr__agent_vfork\n"
	".type ktr__agent_vfork, %function\n"
	"ktr__agent_vfork:\n"
	"\t" VFORK_JUMP "\n"
	".size ktr__agent_vfork, . - ktr__agent_vfork\n"
	".popsection\n"
	".symver ktr__agent_vfork, vfork@LIBKTR_0\n");
#endif
