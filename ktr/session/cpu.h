/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUs: how many there can be, which are online, and the one this thread runs on. */
#ifndef KTR_CPU_H
#define KTR_CPU_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Possible CPUs, at least 1: CPU numbers are below it. */
uint32_t ktr__cpus_possible(void);

/* Sets bit n of set[] for each online CPU, and clears the others; returns their number, at least 1. */
uint32_t ktr__cpus_online(uint64_t set[KTR_CPU_MAX / 64]);

/* The CPU the caller runs on, or did a moment ago. Cheap, async-signal-safe. */
uint32_t ktr__getcpu(void);

/* Named by assembly, where link-time optimisation does not look. */
#if defined(__clang__)
#define KTR__ASM_NAMES __attribute__((used))
#else
#define KTR__ASM_NAMES __attribute__((used, externally_visible))
#endif

#if defined(__x86_64__)
/*
 * RDPID (CPUID.7.0:ECX[22]) returns what the kernel put into TSC_AUX: cpu in bits 0..11, node above.
 * ktr__cpu_look() finds out, once, whether the CPU has it, and whether it has AVX2, for texts.
 */
extern int ktr__cpu_rdpid, ktr__cpu_avx2;

/*
 * Does a tool of valgrind watch this process? To memcheck a string that is read in pieces of sixteen bytes is read
 * beyond its end. Valgrind's own question, VG_USERREQ__RUNNING_ON_VALGRIND: to a CPU it is none.
 */
static inline bool ktr__on_valgrind(void)
{
	const uint64_t question[6] = { 0x1001 };
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(question)
			 : "cc", "memory");
	return answer != 0;
}

static inline uint32_t ktr__rdpid(void)
{
	uint64_t id;

	__asm__ volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(id)); /* rdpid %rax */
	return id & 0xfff;
}
#endif
void ktr__cpu_look(void);

/*
 * Where the C library has put struct rseq of each thread, which it registers for restartable sequences: from the
 * thread pointer. False: it has none.
 */
bool ktr__rseq_look(ptrdiff_t *offset);

#endif
