/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64: the clock and the restartable sequences that write entries.
 *
 * All sequences follow one pseudo-code. Everything from START to COMMIT restarts when the kernel
 * preempts, migrates or signals the thread in between; the kernel looks at rseq.rseq_cs for it.
 *
 *	RESTART:  rseq.rseq_cs = &descriptor
 *	START:    cpu = rseq.cpu_id
 *		  if cpu >= n_rings: goto cold
 *		  view = views[cpu]			what this process has validated
 *		  if view.geom != rings[cpu].geom: goto cold
 *		  head = rings[cpu].head		LDAR
 *		  to = view.base + (head * 32 & view.mask)
 *		  time = clock(), or the time given unless rings[cpu].last is later; then last = time
 *		  to[] = { time, meta, arguments }
 *		  for several slots: the continuations after it, cont[!t] = cont[t] + n - 1
 *	COMMIT:   rings[cpu].head = head + 2 * slots	STLR (t flipped if several)
 *		  rseq.rseq_cs = NULL
 *
 * head is slots << 1 | t, so head * 32 is the byte position with t in a bit the mask clears.
 *
 * Why LDAR and STLR, and nothing less. STLR makes an entry visible before the head that covers it.
 * It does not hold back what follows: the next event's stores may overtake it and scribble over
 * the oldest slots while readers still see the old head, more than the one event that the reader's
 * rule allows for. LDAR of head at the start of the next event waits for that STLR, and everything
 * after an LDAR waits for it (Arm Architecture Reference Manual, DDI 0487, B2.3
 * "barrier-ordered-before": a release followed in program order by an acquire; an acquire followed
 * by any access). LDAPR does not wait for an earlier STLR and must not be used. Both events are on
 * one CPU, so this is program order, whichever threads they belong to. The other loads and stores
 * may be plain: what a reader sees of them it sees through a head, and geom and the counters
 * change on the ring's own CPU only.
 *
 * Registers. The caller's operands are never written, so that a restart finds them as they were:
 *	rseq	address of the thread's struct rseq, thread pointer + __rseq_offset:
 *		cpu_id at 4, rseq_cs at 8
 *	rec	address of ktr__rec
 * x9 to x14 are scratch everywhere, x6 to x8 and x15 to x17 in the general event too.
 *
 * A sequence as it is assembled, step by step:
 *	RESTART		adrp add str		the store comes right before START: from there
 *						on every instruction is covered
 *	START		ldr w9, w10; cmp; b.hs	32-bit loads clear the upper half, so that x9 is the
 *						index; (uint32_t)-1, no registration, is refused too
 *	view, ring	ldr x10, x11; ldr x10	views[cpu]; a process's own copies, loaded anew each
 *			add x11, x9 << 8	time; headers have 256 bytes
 *	geom		ldr x9, ldr x12; cmp	x11 moves on by 8, to head: LDAR takes no offset
 *			b.ne
 *	head		ldar x12
 *	base, mask	ldp x13, x14		of the view whose geom was compared
 *	time		mrs x9
 *	to[]		stp...			each word in one piece, where no reader trusts yet
 *	COMMIT		add; stlr		the last instruction before post_commit_ip
 *			str xzr			outside: nothing is lost where it is not reached
 * No instruction in between calls, returns, or takes an exclusive monitor; the branches out of it
 * are forward ones to C labels, listed as exit points.
 *
 * Pointer authentication has no part in this, since nothing is signed; the kernel enters the abort
 * handler by an exception return with BTYPE 0, which needs no landing pad.
 *
 * Descriptor, abort signature and the exit-point arrays for debuggers follow librseq
 * (include/rseq/arch/aarch64.h) and the kernel's tools/testing/selftests/rseq/rseq-arm64.h; the
 * signature is that of glibc's sysdeps/unix/sysv/linux/aarch64/bits/rseq.h.
 */
#ifndef KTR_ARCH_ARM64_H
#define KTR_ARCH_ARM64_H

#include "ktr/record/payload.h"

#define KTR_ARCH	    KTR_ARCH_ARM64
#define KTR_ARCH_HAS_RSEQ   1
#define KTR_ARCH_CLOCK	    KTR_CLOCK_CNTVCT

/*
 * The virtual counter, with no ISB. The counter may be read ahead of the instructions before it,
 * by as much as the CPU looks ahead, as with rdtsc; an ISB would put it in its place at the price
 * of emptying the pipeline. What a ring needs holds without it: reads of the counter by one CPU
 * are in program order among themselves (DDI 0487, CNTVCT_EL0), so that time never runs backwards
 * within a ring, and a reading in a sequence that is restarted is thrown away with it. The kernel's
 * vdso has ISBs, so that the reading stays where its sequence count is checked
 * (arch/arm64/include/asm/vdso/gettimeofday.h); a restartable sequence needs no such check.
 */
static inline uint64_t ktr__ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/*
 * The address that a return address on the stack stands for: code built with -mbranch-protection
 * has signed it. XPACLRI takes the signature off, from x30 only; on CPUs that know no signatures
 * it does nothing.
 */
#define KTR_ARCH_SIGNS_RETURNS 1
static inline uint64_t ktr__return_address(uint64_t word)
{
	register uint64_t lr __asm__("x30") = word;

	__asm__("hint #7" : "+r"(lr));
	return lr;
}

/* What a sequence returns. */
#define KTR_WRITE_DONE 0
#define KTR_WRITE_COLD 1 /* the ring is not ready */
#define KTR_WRITE_LATE 2 /* the time given is older than the ring's newest: read the clock again */

#define RSEQ_SIGNATURE "0xd428bc00" /* brk #0x45e0 */

static inline const char *ktr__rseq_area(void)
{
	return (const char *)__builtin_thread_pointer() + ktr__rec.rseq_offset;
}

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

/* Out: x9 the descriptor's address, which is anywhere within 4 GiB. */
#define RSEQ_DESCRIPTOR                                                                          \
	"adrp x9, 2b\n\t"                                                                        \
	"add x9, x9, :lo12:2b\n\t"

/* The store is the last instruction before START: from it on, every instruction is covered. */
#define RSEQ_ARM                                                                                 \
	"1:\n\t" RSEQ_DESCRIPTOR                                                                 \
	"str x9, [%[rseq], #8]\n"                                                                \
	"3:\n\t"

/* Behind the commit, so that nothing points into this code when a plugin with a copy of it goes. */
#define RSEQ_DISARM "str xzr, [%[rseq], #8]\n\t"

/*
 * Out: x10 view, x11 address of the ring's head, x12 head, x13 base, x14 mask. Clobbers x9.
 * RING_OFFSET adds the kind's first ring to w9. A 32-bit load or addition clears the upper half.
 */
#define RSEQ_RING(ring_offset)                                                                   \
	"ldr w9, [%[rseq], #4]\n\t"	/* cpu_id */                                             \
	"ldr w10, [%[rec], #32]\n\t"	/* n_rings */                                            \
	"cmp w9, w10\n\t"                                                                        \
	"b.hs %l[cold]\n\t" ring_offset                                                          \
	"ldr x10, [%[rec], #16]\n\t"	/* views */                                              \
	"ldr x11, [%[rec], #8]\n\t"	/* rings */                                              \
	"ldr x10, [x10, x9, lsl #3]\n\t"                                                         \
	"add x11, x11, x9, lsl #8\n\t"	/* 256 bytes each */                                     \
	"ldr x9, [x10]\n\t"		/* view.geom */                                          \
	"ldr x12, [x11], #8\n\t"	/* ring.geom; x11 moves on to ring.head */               \
	"cmp x9, x12\n\t"                                                                        \
	"b.ne %l[cold]\n\t"                                                                      \
	"ldar x12, [x11]\n\t"                                                                    \
	"ldp x13, x14, [x10, #8]\n\t"	/* view.base, view.mask */

#define RSEQ_RING_OFFSET "add w9, w9, %w[ring_offset]\n\t"

/*
 * In: x11 address of the ring's head. Out: x9 time. Clobbers x6. A time that is given was read outside of the
 * sequence (clock_gettime): another thread may have recorded a later one on this CPU since then. ring.last tells;
 * it may be ahead of the newest entry by one event that was never committed, which costs another reading of the
 * clock and nothing else.
 */
#define RSEQ_TIME                                                                                \
	"mov x9, %[time]\n\t"                                                                    \
	"cbz x9, 8f\n\t"                                                                         \
	"ldr x6, [x11, #24]\n\t" /* ring.last is 24 bytes after head */                         \
	"cmp x9, x6\n\t"                                                                         \
	"b.lo %l[late]\n\t"                                                                      \
	"str x9, [x11, #24]\n\t"                                                                 \
	"b 9f\n"                                                                                 \
	"8:\n\t"                                                                                 \
	"mrs x9, cntvct_el0\n"                                                                   \
	"9:\n\t"

/* Out of line: the kernel checks the word before the address it sends an aborted sequence to. */
#define RSEQ_ABORT                                                                               \
	".pushsection __rseq_failure, \"ax\"\n\t"                                                \
	".balign 4\n\t"                                                                          \
	".inst " RSEQ_SIGNATURE "\n"                                                             \
	"5:\n\t"                                                                                 \
	"b 1b\n\t"                                                                               \
	".popsection\n\t"

/*
 * The general event: an image (struct ktr__image), into the main ring (ring_offset 0) or the keep ring
 * (ring_offset n_rings). time is that of the event, or 0: the CPU's counter is read. Returns KTR_WRITE_*.
 *
 *	x8 = head + 2 * image.n_slots
 *	position x15 = head * 32, source x10 = image, first word x9 = time
 *	ordinal x16 = cont[t]				t = head & 1
 *	for each of the slots, x17 of them:
 *		copy it
 *		position += 64, source = the next of image.cont[], at x5
 *		first word = mark | ordinal; ordinal += 1
 *	if image.n_slots > 1:
 *		cont[!t] = ordinal
 *		x8 ^= 1
 *	COMMIT: head = x8
 *
 * Of each slot 56 bytes are copied after its first word, which is in x9. They are loaded word by
 * word: the image's words were stored one by one a moment ago, and a wider load would have to wait
 * until they have left the store buffer.
 */
#define RSEQ_COPY_SLOT                                                                           \
	"and x7, x14, x15\n\t"                                                                   \
	"add x7, x13, x7\n\t"                                                                    \
	"ldr x6, [x10]\n\t"                                                                      \
	"stp x9, x6, [x7]\n\t"                                                                   \
	"ldr x9, [x10, #8]\n\t"                                                                  \
	"ldr x6, [x10, #16]\n\t"                                                                 \
	"stp x9, x6, [x7, #16]\n\t"                                                              \
	"ldr x9, [x10, #24]\n\t"                                                                 \
	"ldr x6, [x10, #32]\n\t"                                                                 \
	"stp x9, x6, [x7, #32]\n\t"                                                              \
	"ldr x9, [x10, #40]\n\t"                                                                 \
	"ldr x6, [x10, #48]\n\t"                                                                 \
	"stp x9, x6, [x7, #48]\n\t"

#define RSEQ_COPY_ALL                                                                            \
	"ldr x17, [%[image], %[n_slots]]\n\t"                                                    \
	"add x8, x12, x17, lsl #1\n\t"                                                           \
	"lsl x15, x12, #5\n\t"                                                                   \
	"and x12, x12, #1\n\t"                                                                   \
	"add x7, x11, x12, lsl #3\n\t"                                                           \
	"ldr x16, [x7, #8]\n\t"	/* cont[t] is 8 bytes after head */                     \
	"add x5, %[image], %[cont]\n\t"                                                          \
	"mov x10, %[image]\n"                                                                    \
	"6:\n\t" RSEQ_COPY_SLOT                                                                  \
	"add x15, x15, #64\n\t"                                                                  \
	"subs x17, x17, #1\n\t"                                                                  \
	"b.eq 7f\n\t"                                                                            \
	"ldr x10, [x5], #8\n\t"                                                                  \
	"orr x9, x16, #0x8000000000000000\n\t"                                                   \
	"add x16, x16, #1\n\t"                                                                   \
	"b 6b\n"                                                                                 \
	"7:\n\t"                                                                                 \
	"ldr x17, [%[image], %[n_slots]]\n\t"                                                    \
	"cmp x17, #1\n\t"                                                                        \
	"b.eq 7f\n\t"                                                                            \
	"eor x12, x12, #1\n\t"                                                                   \
	"add x7, x11, x12, lsl #3\n\t"                                                           \
	"str x16, [x7, #8]\n\t"                                                                  \
	"eor x8, x8, #1\n"                                                                       \
	"7:\n\t"                                                                                 \
	"stlr x8, [x11]\n"                                                                       \
	"4:\n\t"

#define RSEQ_INPUTS                                                                              \
	[rseq] "r"(ktr__rseq_area()), [rec] "r"(&ktr__rec), [image] "r"(image),                  \
		[n_slots] "i"(IMAGE_N_SLOTS), [cont] "i"(IMAGE_CONT), [ring_offset] "r"(ring_offset)
#define RSEQ_CLOBBERS                                                                            \
	"x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "cc",    \
		"memory"

static inline int ktr__write(const struct ktr__image *image, uint32_t ring_offset, uint64_t time)
{
	__asm__ goto(RSEQ_TABLES RSEQ_EXIT("%l[late]") RSEQ_ARM RSEQ_RING(RSEQ_RING_OFFSET) RSEQ_TIME RSEQ_COPY_ALL
			     RSEQ_DISARM RSEQ_ABORT
		     :
		     : RSEQ_INPUTS, [time] "r"(time)
		     : RSEQ_CLOBBERS
		     : cold, late);
	return KTR_WRITE_DONE;
cold:
	return KTR_WRITE_COLD;
late:
	return KTR_WRITE_LATE;
}

/* Adds one to the count of a site on the CPU this runs on: the store is the commit. */
static inline int ktr__count_one(uint64_t *counts, uint64_t stride, uint64_t site)
{
	__asm__ goto(RSEQ_TABLES RSEQ_ARM
		     "ldr w9, [%[rseq], #4]\n\t"
		     "ldr w10, [%[rec], #32]\n\t"
		     "cmp w9, w10\n\t"
		     "b.hs %l[cold]\n\t"
		     "madd x9, x9, %[stride], %[site]\n\t"
		     "ldr x10, [%[counts], x9, lsl #3]\n\t"
		     "add x10, x10, #1\n\t"
		     "str x10, [%[counts], x9, lsl #3]\n"
		     "4:\n\t" RSEQ_DISARM RSEQ_ABORT
		     :
		     : [rseq] "r"(ktr__rseq_area()), [rec] "r"(&ktr__rec), [counts] "r"(counts),
		       [stride] "r"(stride), [site] "r"(site)
		     : "x9", "x10", "cc", "memory"
		     : cold);
	return KTR_WRITE_DONE;
cold:
	return KTR_WRITE_COLD;
}

/*
 * Replaces a ring's geom by a new one, on the ring's own CPU and only if its head has not moved: a
 * sequence that was under way on this CPU has been aborted by the time this one runs, and restarts
 * against the new word. The caller has pinned itself. The commit is an STLR: what the caller has
 * copied into the new area is visible before its geom is.
 */
static inline int ktr__geom_commit(ptrdiff_t rseq_offset, struct ktr_ring *ring, uint32_t cpu, uint64_t head,
				   uint64_t geom)
{
	__asm__ goto(RSEQ_TABLES RSEQ_EXIT("%l[late]") RSEQ_ARM
		     "ldr w9, [%[rseq], #4]\n\t"
		     "cmp w9, %w[cpu]\n\t"
		     "b.ne %l[cold]\n\t"
		     "ldr x9, [%[ring], #8]\n\t"
		     "cmp x9, %[head]\n\t"
		     "b.ne %l[late]\n\t"
		     "stlr %[geom], [%[ring]]\n"
		     "4:\n\t" RSEQ_DISARM RSEQ_ABORT
		     :
		     : [rseq] "r"((const char *)__builtin_thread_pointer() + rseq_offset), [ring] "r"(ring), [cpu] "r"(cpu),
		       [head] "r"(head), [geom] "r"(geom)
		     : "x9", "cc", "memory"
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
	return __atomic_load_n((const uint32_t *)(const void *)(ktr__rseq_area() + 4),
			       __ATOMIC_RELAXED);
}

#endif
