/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the clock and the restartable sequences that write entries.
 *
 * All sequences follow one pseudo-code. Everything from START to COMMIT restarts when the kernel
 * preempts, migrates or signals the thread in between; the kernel looks at rseq.rseq_cs for it.
 *
 *	RESTART:  rseq.rseq_cs = &descriptor
 *	START:    cpu = rseq.cpu_id
 *		  if cpu >= n_rings: goto cold
 *		  view = views[cpu]			what this process has validated
 *		  if view.geom != rings[cpu].geom: goto cold
 *		  head = rings[cpu].head
 *		  to = view.base + (head * 32 & view.mask)
 *		  time = clock(), or the time given unless rings[cpu].last is later; then last = time
 *		  to[] = { time, meta, arguments }
 *		  for several slots: the continuations after it, cont[!t] = cont[t] + n - 1
 *	COMMIT:   rings[cpu].head = head + 2 * slots (t flipped if several)
 *		  rseq.rseq_cs = NULL
 *
 * head is slots << 1 | t, so head * 32 is the byte position with t in a bit the mask clears. The last
 * store of the sequence is the commit; stores become visible in program order on x86-64, so no fence is
 * needed. rseq_cs is cleared after the commit so that nothing points into this code when a plugin
 * with a static copy of it is unloaded.
 *
 * Descriptor, abort signature and the exit-point arrays for debuggers follow librseq
 * (rseq-x86.h, include/rseq/arch/x86/bits.h) and the kernel's tools/testing/selftests/rseq.
 */
#ifndef KTR_ARCH_X86_64_H
#define KTR_ARCH_X86_64_H

#include "ktr/record/payload.h"

#define KTR_ARCH	    KTR_ARCH_X86_64
#define KTR_ARCH_HAS_RSEQ   1
#define KTR_ARCH_HAS_RECORD 1 /* record_x86_64.S */
#define KTR_ARCH_CLOCK	    KTR_CLOCK_TSC

static inline uint64_t ktr__ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* What a sequence returns. */
#define KTR_WRITE_DONE 0
#define KTR_WRITE_COLD 1 /* the ring is not ready */
#define KTR_WRITE_LATE 2 /* the time given is older than the ring's newest: read the clock again */

#define RSEQ_SIGNATURE "0x53053053"

/* Local labels: 1 restart, 2 descriptor, 3 start, 4 after the commit, 5 abort. */
#define RSEQ_EXIT(label)                                                                         \
	".pushsection __rseq_exit_point_array, \"aw\"\n\t"                                       \
	".quad 3f, " label "\n\t"                                                                \
	".popsection\n\t"

#define RSEQ_TABLES                                                                              \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                     \
	".balign 32\n"                                                                           \
	"2:\n\t"                                                                                 \
	".long 0, 0\n\t"                                                                         \
	".quad 3f, 4f - 3f, 5f\n\t"                                                              \
	".popsection\n\t"                                                                        \
	".pushsection __rseq_cs_ptr_array, \"aw\"\n\t"                                           \
	".quad 2b\n\t"                                                                           \
	".popsection\n\t" RSEQ_EXIT("%l[cold]")

/* rs: the register that holds rseq's offset from the thread pointer. */
#define RSEQ_ARM(rs)                                                                             \
	"1:\n\t"                                                                                 \
	"leaq 2b(%%rip), %%rax\n\t"                                                              \
	"movq %%rax, %%fs:8(" rs ")\n"                                                           \
	"3:\n\t"

/* Out: r10 ring, r11 view. Clobbers rax. RING_OFFSET adds the kind's first ring to eax. */
#define RSEQ_RING(rs, ring_offset)                                                               \
	"movl %%fs:4(" rs "), %%eax\n\t"                                                         \
	"cmpl %[n_rings], %%eax\n\t"                                                            \
	"jae %l[cold]\n\t" ring_offset "movq %[views], %%r11\n\t"                               \
	"movq (%%r11,%%rax,8), %%r11\n\t"                                                        \
	"shlq $8, %%rax\n\t"                                                                     \
	"addq %[rings], %%rax\n\t"                                                               \
	"movq %%rax, %%r10\n\t"                                                                  \
	"movq (%%r11), %%rax\n\t"                                                                \
	"cmpq (%%r10), %%rax\n\t"                                                                \
	"jne %l[cold]\n\t"

/* In: r10 ring, r11 view. Out: rdi base, rsi mask, r11 head. */
#define RSEQ_PLACE                                                                               \
	"movq 8(%%r11), %%rdi\n\t"                                                               \
	"movq 16(%%r11), %%rsi\n\t"                                                              \
	"movq 8(%%r10), %%r11\n\t"

/*
 * In: r10 ring. Out: rax time. Clobbers rdx. A time that is given was read
 * outside of the sequence (clock_gettime): another thread may have recorded a later one on this CPU since then.
 * ring.last tells; it may be ahead of the newest entry by one event that was never committed, which costs another
 * reading of the clock and nothing else.
 */
#define RSEQ_TIME                                                                                \
	"movq %[time], %%rax\n\t"                                                                \
	"testq %%rax, %%rax\n\t"                                                                 \
	"jz 8f\n\t"                                                                              \
	"cmpq 32(%%r10), %%rax\n\t"                                                              \
	"jb %l[late]\n\t"                                                                        \
	"movq %%rax, 32(%%r10)\n\t"                                                              \
	"jmp 9f\n"                                                                               \
	"8:\n\t"                                                                                 \
	"rdtsc\n\t"                                                                              \
	"shlq $32, %%rdx\n\t"                                                                    \
	"orq %%rdx, %%rax\n"                                                                     \
	"9:\n\t"

#define RSEQ_ABORT                                                                               \
	".pushsection __rseq_failure, \"ax\"\n\t"                                                \
	".byte 0x0f, 0xb9, 0x3d\n\t"                                                             \
	".long " RSEQ_SIGNATURE "\n"                                                             \
	"5:\n\t"                                                                                 \
	"jmp 1b\n\t"                                                                             \
	".popsection\n\t"

/*
 * The general event: an image (struct ktr__image), into the main ring (ring_offset 0) or the keep ring
 * (ring_offset n_rings). time is that of the event, or 0: the CPU's counter is read. Returns KTR_WRITE_*.
 *
 * Registers after RSEQ_PLACE: rcx source of the slot, r13 where the source of the next one is, rdx slots left, r8
 * position, r12 next ordinal. Of each slot 56 bytes are copied after its first word, which is in rax.
 */
/*
 * Word by word: the image's words were stored one by one a moment ago, and a wider load would have to
 * wait until they have left the store buffer (2.6 instead of 1.1 clock readings for a 16-byte string).
 */
#define RSEQ_COPY_WORD(at)                                                                       \
	"movq " #at " - 8(%%rcx), %%rax\n\t"                                                     \
	"movq %%rax, " #at "(%%rdi,%%r9)\n\t"
#define RSEQ_COPY_SLOT                                                                           \
	"movq %%r8, %%r9\n\t"                                                                    \
	"andq %%rsi, %%r9\n\t"                                                                   \
	"movq %%rax, (%%rdi,%%r9)\n\t"                                                           \
	RSEQ_COPY_WORD(8) RSEQ_COPY_WORD(16) RSEQ_COPY_WORD(24) RSEQ_COPY_WORD(32)               \
	RSEQ_COPY_WORD(40) RSEQ_COPY_WORD(48) RSEQ_COPY_WORD(56)

/* After the last slot r8 >> 5 is head + 2 * slots, and t is where it was. */
#define RSEQ_COPY_ALL                                                                            \
	"movq %%r11, %%r8\n\t"                                                                   \
	"shlq $5, %%r8\n\t"                                                                      \
	"andl $1, %%r11d\n\t"                                                                    \
	"movq 16(%%r10,%%r11,8), %%r12\n\t"                                                      \
	"movl %c[n_slots](%[image]), %%edx\n\t"                                                  \
	"leaq %c[cont](%[image]), %%r13\n\t"                                                     \
	"movq %[image], %%rcx\n"                                                                 \
	"6:\n\t" RSEQ_COPY_SLOT                                                                  \
	"addq $64, %%r8\n\t"                                                                     \
	"decl %%edx\n\t"                                                                         \
	"jz 7f\n\t"                                                                              \
	"movq (%%r13), %%rcx\n\t"                                                                \
	"addq $8, %%r13\n\t"                                                                     \
	"movq %%r12, %%rax\n\t"                                                                  \
	"btsq $63, %%rax\n\t"                                                                    \
	"incq %%r12\n\t"                                                                         \
	"jmp 6b\n"                                                                               \
	"7:\n\t"                                                                                 \
	"cmpl $1, %c[n_slots](%[image])\n\t"                                                     \
	"je 7f\n\t"                                                                              \
	"xorl $1, %%r11d\n\t"                                                                    \
	"movq %%r12, 16(%%r10,%%r11,8)\n\t"                                                      \
	"xorq $32, %%r8\n"                                                                       \
	"7:\n\t"                                                                                 \
	"shrq $5, %%r8\n\t"                                                                      \
	"movq %%r8, 8(%%r10)\n"                                                                  \
	"4:\n\t"

#define RSEQ_RING_OFFSET "addl %[ring_offset], %%eax\n\t"
#define RSEQ_INPUTS                                                                              \
	[rs] "r"(ktr__rec.rseq_offset), [n_rings] "m"(ktr__rec.n_rings), [views] "m"(ktr__rec.views), \
		[rings] "m"(ktr__rec.rings), [image] "r"(image), [n_slots] "i"(IMAGE_N_SLOTS),             \
		[cont] "i"(IMAGE_CONT), [ring_offset] "g"(ring_offset)
#define RSEQ_CLOBBERS                                                                            \
	"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",            \
		"cc", "memory"

static inline int ktr__write(const struct ktr__image *image, uint32_t ring_offset, uint64_t time)
{
	__asm__ goto(RSEQ_TABLES RSEQ_EXIT("%l[late]") RSEQ_ARM("%[rs]") RSEQ_RING("%[rs]", RSEQ_RING_OFFSET)
			     RSEQ_PLACE RSEQ_TIME RSEQ_COPY_ALL "movq $0, %%fs:8(%[rs])\n\t" RSEQ_ABORT
		     :
		     : RSEQ_INPUTS, [time] "rme"(time)
		     : RSEQ_CLOBBERS
		     : cold, late);
	return KTR_WRITE_DONE;
cold:
	return KTR_WRITE_COLD;
late:
	return KTR_WRITE_LATE;
}

/* Adds one to the count of a site on the CPU this runs on: the increment is the commit. */
static inline int ktr__count_one(uint64_t *counts, uint64_t stride, uint64_t site)
{
	__asm__ goto(RSEQ_TABLES RSEQ_ARM("%[rs]")
		     "movl %%fs:4(%[rs]), %%eax\n\t"
		     "cmpl %[n_rings], %%eax\n\t"
		     "jae %l[cold]\n\t"
		     "imulq %[stride], %%rax\n\t"
		     "addq %[site], %%rax\n\t"
		     "incq (%[counts],%%rax,8)\n"
		     "4:\n\t"
		     "movq $0, %%fs:8(%[rs])\n\t" RSEQ_ABORT
		     :
		     : [rs] "r"(ktr__rec.rseq_offset), [n_rings] "m"(ktr__rec.n_rings), [counts] "r"(counts),
		       [stride] "r"(stride), [site] "r"(site)
		     : "rax", "cc", "memory"
		     : cold);
	return KTR_WRITE_DONE;
cold:
	return KTR_WRITE_COLD;
}

/*
 * Replaces a ring's geom by a new one, on the ring's own CPU and only if its head has not moved: a
 * sequence that was under way on this CPU has been aborted by the time this one runs, and restarts
 * against the new word. The caller has pinned itself.
 */
static inline int ktr__geom_commit(ptrdiff_t rseq_offset, struct ktr_ring *ring, uint32_t cpu, uint64_t head,
				   uint64_t geom)
{
	__asm__ goto(RSEQ_TABLES RSEQ_EXIT("%l[late]") RSEQ_ARM("%[rs]")
		     "cmpl %%fs:4(%[rs]), %[cpu]\n\t"
		     "jne %l[cold]\n\t"
		     "cmpq %[head], 8(%[ring])\n\t"
		     "jne %l[late]\n\t"
		     "movq %[geom], (%[ring])\n"
		     "4:\n\t"
		     "movq $0, %%fs:8(%[rs])\n\t" RSEQ_ABORT
		     :
		     : [rs] "r"(rseq_offset), [ring] "r"(ring), [cpu] "r"(cpu),
		       [head] "r"(head), [geom] "r"(geom)
		     : "rax", "cc", "memory"
		     : cold, late);
	return KTR_WRITE_DONE;
cold:
	return KTR_WRITE_COLD;
late:
	return KTR_WRITE_LATE;
}

/* The CPU of the thread as the kernel last said; used outside of sequences, so only a hint. */
static inline uint32_t ktr__rseq_cpu(void)
{
	uint32_t cpu;

	__asm__ volatile("movl %%fs:4(%1), %0" : "=r"(cpu) : "r"(ktr__rec.rseq_offset));
	return cpu;
}

#endif
