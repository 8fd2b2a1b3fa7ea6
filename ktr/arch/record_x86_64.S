/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the usual event, from the call to its place in the ring. ktr__record0() to ktr__record6v() are
 * one function with eight doors: arguments that an event does not have are zero. It is written by hand so
 * that arguments stay in the registers the caller put them in; where the clock is read for some events
 * only, nothing hides the price of an instruction, and that of an access to memory least.
 *
 *	ktr__recordN(site, a0 .. a5):
 *	AGAIN:	  if not hot.control: goto cold			no session, or a child that nobody told of
 *		  if site.ready == ~control.generation: goto payload
 *		  if site.ready != control.generation: goto cold
 *		  meta = site.id, clock = control.clock_slots
 *	START:	  if rseq.rseq_cs != &descriptor: goto arm
 *		  if rseq.cpu_id != self.here_cpu: goto moved
 *	JOIN:	  if here.geom != here.ring.geom: goto disarm
 *		  head = here.ring.head
 *		  to = here.base + (head * 32 & here.mask)
 *		  if head & clock, and the slot before has a time: to.time = that | KTR_TIME_APPROX
 *		  else: prefetch to + AHEAD, to.time = ticks()
 *		  to.meta = self.armed | meta; to.arg[] = a0 .. a5
 *		  step = 2
 *	COMMIT:	  here.ring.head += step			one instruction
 *		  return
 *	moved:	  rseq.rseq_cs = NULL
 *	arm:	  if self.own: goto own
 *		  if not hot.control: goto words
 *		  if not self.armed: goto words
 *		  rseq.rseq_cs = &descriptor
 *		  cpu = rseq.cpu_id
 *		  if cpu >= n_rings: goto disarm
 *		  here_cpu = cpu
 *		  here = { &rings[cpu], *views[cpu] }	what this process has validated
 *		  clock = 0				the clock is read for this event
 *		  goto JOIN
 *	disarm:	  if hot.rseq_offset: rseq.rseq_cs = NULL
 *	words:	  ktr__record_cold(site, { a0 .. a5 }, true)	with a stack or a long text: false
 *	abort:	  if arguments are copied, and are words by now:
 *			if not hot.control or site.ready != ~control.generation: goto words
 *			meta = site.id, goto START
 *		  goto AGAIN
 *	cold:	  ktr__record_cold(site, { a0 .. a5 }, false)	it is that which makes a site ready
 *
 * An event without arguments (door 0) goes the same way, but has one word alone, of zero, in the upper half of
 * xmm2, and goes through the door for one argument wherever this is not straight ahead.
 *
 * Copied arguments, by site.text_at:
 *	payload:  0, which a ready site has not: goto cold
 *		  KTR_TEXT_AT_STACK: goto stack
 *		  KTR_TEXT_AT_FIRST, a string that is alone or first of two:
 *			its length n, in pieces of sixteen bytes, which are kept: three of them; then by AVX2,
 *			without which a text that goes on in further slots is any's
 *			if it is NULL, longer than KTR_STRING_MAX, or reaches into another page too early: goto any
 *			words = n, then the other argument, then as much of the text as there is room for
 *			if that is all: meta = site.id, goto START; else with more(text) for JOIN
 *		  KTR_TEXT_AT_BOTH, two strings of up to one piece each, in the same way: words = n, m, both texts
 *		  1 to 6, a string among other arguments: the same if there is room for all of it
 *	any:	  ktr__record_payload(site, a0 .. a5)
 *	stack:	  if a0->word is more than 12 frames: goto any	(struct ktr__frames)
 *		  goto START, with more(stack) for JOIN
 *	more:	  as JOIN, but reads the clock for each and writes what goes on in further slots, too:
 *			t = head & 1
 *			to = here.base + ((head + 2 * i) * 32 & here.mask), for i = 1 .. n
 *			to[] = { mark | cont[t] + i - 1, 56 bytes }		zeros after the end
 *			cont[!t] = cont[t] + n
 *			step = 2 * (n + 1), and t flips
 *		  text: up to 55 bytes after its end are read. If they are not all in its page: goto any
 *		  stack: up to 5 frames have room in the first slot, 12 in two
 *
 * Everything from START to COMMIT begins again at AGAIN when the kernel preempts, migrates or signals the
 * thread in between while rseq_cs names this descriptor. rseq_cs is left standing after the commit. The
 * kernel clears it when it switches or signals the thread anywhere else, so that "still set" says: the
 * clock has been read since we came here. Three things make that true. The test itself is inside the
 * sequence; arming is too, so that whoever is interrupted right after it begins again; and every way out
 * but the commit takes rseq_cs back.
 *
 * It does not say where we are: Linux 6.19 and later do not clear it where a thread was switched inside a
 * system call, also when it comes back on another CPU (include/linux/rseq_entry.h: rseq_update_usr()
 * stores the new cpu_id and is done where no interrupt came from user mode). So cpu_id, which is always
 * up to date, is compared with the CPU of here for each event, inside the sequence. Back on the same CPU
 * there, a repeated time may be as old as the system call. It never runs backwards in a ring whatever
 * rseq_cs says: what is repeated is the time of the slot before, whoever wrote that; a continuation and a
 * ring that was made anew have none there. vfork(2) and fork(2) clear here.geom, which no ring that is open has;
 * vfork(2) takes here_cpu from every CPU, too.
 *
 * site.ready is compared with the number of changes so far: nothing has changed since this site was looked at in
 * C (record_ready()), so it need not be looked at again. One load tells what three did.
 *
 * What is in shared memory decides whether to record and whether to read the clock, never what is done with a
 * register or a pointer: anybody may write there. What kind of event this is, is said by site.text_at, also where
 * generation says that it should be the other kind; where it goes by here, and geom is but compared with it.
 *
 * hot is emptied by the kernel in a child (struct ktr__hot). A child may be born in a handler of a signal that
 * interrupted us anywhere: inside the sequence we begin again at AGAIN or abort. In front of it rax and r10 stay
 * what they were, addresses of a mapping that the child has too, and arm finds hot empty; after it disarm looks at
 * what it has loaded.
 *
 * AHEAD: while the clock is read there is time to fetch a line that is needed a few events later. Where the
 * other core has emptied the cache they share, that takes a single stack from 340 to 150 ns at p99.99
 * (make bench). It may lie after the ring, in the ring's own second area; nothing is stored there.
 *
 * clock is control.clock_slots, (k - 1) << 1, so that head & clock is 0 at each k-th slot, and always
 * where k is 1. Stores become visible in program order, so no fence is needed. Whoever reads the clock does
 * it before the rest of the entry is written: that goes on while the clock is being read, and the other way
 * round takes two cycles longer.
 *
 * The path without restartable sequences, as record_own() in ktr/record/record.c, where no other event of this
 * thread is under way:
 *	own:	  if self.nest: goto words
 *		  self.frame[0] = stack pointer - FRAME_BELOW, self.nest = 1
 *		  level = &self.level[0][0]
 *		  if not level.geom or level.geom != level.ring.geom: goto leave
 *		  cpu = rseq.cpu_id, or RDPID, or level.cpu, which is renewed (in C) for every 64th event
 *		  to = level.base + (level.ring.head * 32 & level.mask), prefetch to + AHEAD
 *		  to.time = ticks()
 *		  to.meta = cpu << 51 | self.own | meta; to.arg[] = a0 .. a5
 *		  level.ring.head += 2		we are its only writer; TSO is release enough
 *		  self.nest = 0
 *		  return
 *	leave:	  self.nest = 0; goto words
 * What takes several slots is written by more, to here, which is a copy of level then (record_own()); it looks at
 * self.nest for where to go on. A handler that comes in between leaves nest as it was.
 *
 * ktr__record_usual(site + 1), for ktr/provider/fbt, is that way for an event whose only word is in the upper half
 * of xmm2; what is in rdi is below it. Carry: nothing has happened, for it is not straight ahead. It changes rax,
 * rdx, rdi, r10, r11 and flags alone.
 *
 * Registers, all of them ones a call may change: rsi a0, xmm1 a1, rcx a2, r8 a3, r9 a4, xmm0 a5. From START on
 * they are words of the entry, but of a stack, and stay what they are. The site is in xmm2. A text is in xmm3
 * to xmm5, padded with zeros: read once, as far as that. What lies after its end may be read, in its page, and goes
 * no further.
 *	rdi	site; then rseq.cpu_id, geom, head, and to
 *	rax	control, for its clock; then the time; on the other path geom
 *	rdx	&descriptor; then the offset of self from the thread pointer
 *	r10	rseq's offset from the thread pointer; then the ring
 *	r11	meta, in MORE_BIT whether more is to come
 *	xmm7	a0 of an event with KTR_TEXT_AT_FIRST; xmm8 how many bytes of it go on in further slots, if > 0
 * An event without texts and stacks leaves xmm3 to xmm7 as they were, whichever way it goes, for
 * ktr/provider/fbt, whose callers have arguments there.
 * While a text is looked at r10 is the string, and then edx its length. more clobbers rcx, r8, r9, once they are
 * in the entry; where a text goes on they are no words of it, which come as they were read, from xmm3 to xmm5.
 * Whoever leaves the sequence within .Llongtext leaves the upper halves of vectors dirty: it costs a CPU a little,
 * and means nothing. No stack is used but by cold, by the call of .Lpiece, and what lies below the stack pointer by
 * texts that are not a0, or have more than two arguments: no handler writes there.
 */
#if defined(__x86_64__) && !defined(__ILP32__) && !KTR_TSAN
#include "ktr/arch/offsets.h"

#define AHEAD		      512 /* [bytes] eight slots */
/*
 * [bytes] record.c tells levels that were left by siglongjmp(3) from those in use by their frames: this is
 * further down than its own frame for an event from the same place, and not as far as the frame of any
 * handler (the kernel's part of that alone is larger).
 */
#define FRAME_BELOW	      1024
#define MORE_BIT	      63 /* in meta, until the entry is written: for more */
#define HOT(offset)	      ktr__hot + offset(%rip)
#define SELF(offset)	      %fs:offset(%rdx)
#define HERE(field)	      %fs:SELF_HERE + field(%rdx)
#define LEVEL(field)	      %fs:SELF_LEVEL + field(%rdx)
#define LOAD_SELF	      movq ktr__self@gottpoff(%rip), %rdx

/* Is rseq_cs ours, and the CPU that of here? Then r10 is its ring, rdi the geom that it should have. */
#define ENTER                                                                                    \
	leaq	ktr__record_cs(%rip), %rdx;                                                      \
	cmpq	%rdx, %fs:RSEQ_CS(%r10);                                                         \
	jne	.Larm;                                                                           \
	LOAD_SELF;                                                                               \
	movl	%fs:RSEQ_CPU(%r10), %edi;                                                        \
	cmpl	%edi, SELF(SELF_HERE_CPU);                                                       \
	jne	.Lmoved;                                                                         \
	movq	HERE(PLACE_RING), %r10;                                                          \
	movq	HERE(PLACE_GEOM), %rdi

/* rdi = rdi * 32 & mask + base: from head to the slot. place: HERE or LEVEL. */
#define SLOT(place)                                                                              \
	shlq	$5, %rdi;                                                                        \
	andq	place(PLACE_MASK), %rdi;                                                         \
	addq	place(PLACE_BASE), %rdi

/* The entry but for its time into the slot at rdi. */
#define STORE_ENTRY                                                                              \
	movq	%r11, 8(%rdi);                                                                   \
	movq	%rsi, 16(%rdi);                                                                  \
	movq	%xmm1, 24(%rdi);                                                                 \
	movq	%rcx, 32(%rdi);                                                                  \
	movq	%r8, 40(%rdi);                                                                   \
	movq	%r9, 48(%rdi);                                                                   \
	movq	%xmm0, 56(%rdi)

/*
 * A piece of a text that ends in it, at the lowest bit of edx: its end is cut off. Out: edx where it ends.
 * Clobbers r10, xmm6.
 */
#define CUT_TEXT(piece)                                                                          \
	rep; bsfl %edx, %edx;                                                                      \
	leaq	.Lbelow + 64(%rip), %r10;                                                        \
	subq	%rdx, %r10;                                                                      \
	movdqu	(%r10), %xmm6;                                                                   \
	pand	%xmm6, piece

/*
 * Is the string at r10 in one page with what is up to `last` bytes after its first? If not, to .Lany. Clobbers
 * rdx.
 */
#define ONE_PAGE(last)                                                                           \
	leaq	last(%r10), %rdx;                                                                \
	xorq	%r10, %rdx;                                                                      \
	shrq	$12, %rdx;                                                                       \
	jnz	.Lany

/*
 * Two words of the stack at rsi into the slot at rdi: one by one, as they were stored a moment ago. Clobbers xmm3.
 */
#define COPY_PAIR(from, to)                                                                      \
	movq	from(%rsi), %xmm3;                                                               \
	movhps	from + 8(%rsi), %xmm3;                                                           \
	movups	%xmm3, to(%rdi)

/* rdi = the next slot, after that at rax, a continuation with the ordinal in r8. */
#define CONT                                                                                     \
	addq	$64, %rax;                                                                       \
	movq	%rax, %rdi;                                                                      \
	andq	HERE(PLACE_MASK), %rdi;                                                          \
	addq	HERE(PLACE_BASE), %rdi;                                                          \
	prefetchw AHEAD(%rdi);                                                                   \
	movq	%r8, (%rdi);                                                                     \
	incq	%r8

/* Has the event of the site at rdi a text that goes on in further slots? Then it is a0 again. Clobbers rax. */
#define LONG(otherwise)                                                                          \
	cmpb	$TEXT_AT_FIRST, SITE_TEXT_AT(%rdi);                                              \
	jne	otherwise;                                                                       \
	movd	%xmm8, %eax;                                                                     \
	testl	%eax, %eax;                                                                      \
	jle	otherwise;                                                                       \
	movq	%xmm7, %rsi

/* What is kept around ktr__record_cold(), above the six arguments in memory. */
#define COLD_ROOM	      136
#define KEEP_VECTOR(n)	      movups %xmm##n, 16 * n(%rsp)
#define BACK_VECTOR(n)	      movups 16 * n(%rsp), %xmm##n

/* The arguments as words in memory, with room for a text after them. */
#define WORDS -112
#define SPILL                                                                                    \
	movq	%rsi, WORDS(%rsp);                                                               \
	movq	%xmm1, WORDS + 8(%rsp);                                                          \
	movq	%rcx, WORDS + 16(%rsp);                                                          \
	movq	%r8, WORDS + 24(%rsp);                                                           \
	movq	%r9, WORDS + 32(%rsp);                                                           \
	movq	%xmm0, WORDS + 40(%rsp)

/* The time into the slot at rdi; rax = the time. Clobbers rdx. */
#define STORE_TICKS                                                                              \
	prefetchw AHEAD(%rdi);                                                                   \
	rdtsc;                                                                                   \
	shlq	$32, %rdx;                                                                       \
	orq	%rdx, %rax;                                                                      \
	movq	%rax, (%rdi)

/* The other path, with self.own in rax: takes the level, unless that is busy. eax = the CPU, or one has to ask. */
#define OWN_BEGIN(busy, ask)                                                                     \
	cmpl	$0, SELF(SELF_NEST);                                                             \
	jne	busy;                                                                            \
	orq	%rax, %r11;                                                                      \
	leaq	-FRAME_BELOW(%rsp), %rax;                                                        \
	movq	%rax, SELF(SELF_FRAME);                                                          \
	movl	$1, SELF(SELF_NEST);                                                             \
	movl	%fs:RSEQ_CPU(%r10), %eax;                                                        \
	testq	%r10, %r10;                                                                      \
	jz	ask;                                                                             \
	testl	%eax, %eax;                                                                      \
	js	ask

/* r10 = its ring, rdi the geom that it should have. The sign is that of meta: MORE_BIT. */
#define OWN_PLACE                                                                                \
	shlq	$32 + THREAD_BITS, %rax;                                                         \
	orq	%rax, %r11;                                                                      \
	movq	LEVEL(PLACE_RING), %r10;                                                         \
	movq	LEVEL(PLACE_GEOM), %rdi

/* rdi = the slot, which has its time. */
#define OWN_SLOT(leave)                                                                          \
	testq	%rdi, %rdi;                                                                      \
	jz	leave;                                                                           \
	cmpq	RING_GEOM(%r10), %rdi;                                                           \
	jne	leave;                                                                           \
	movq	RING_HEAD(%r10), %rdi;                                                           \
	SLOT(LEVEL);                                                                             \
	STORE_TICKS

#define OWN_COMMIT                                                                               \
	addq	$2, RING_HEAD(%r10);                                                             \
	LOAD_SELF;                                                                               \
	movl	$0, SELF(SELF_NEST);                                                             \
	ret

#define DOOR(name)                                                                               \
	.globl	name;                                                                            \
	.type	name, @function;                                                                 \
	name:

	.text
	.p2align 6
DOOR(ktr__record6)
	.cfi_startproc
	movq	8(%rsp), %xmm0
	jmp	ktr__record6v
	.cfi_endproc
	.size	ktr__record6, . - ktr__record6
	/*
	 * What a cold event waits for is lines (make bench: single events after so much was read): from door 1 to
	 * the jump to .Lstart is one, from there to .Lcommit are three.
	 */
	.skip	14
DOOR(ktr__record0)
	.cfi_startproc
	movq	HOT(HOT_CONTROL), %rax
	testq	%rax, %rax
	jz	.Lzero
	movl	CONTROL_GENERATION(%rax), %edx
	movl	SITE_ID(%rdi), %r11d
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	movq	%rdi, %xmm2
	cmpl	%edx, SITE_READY(%rdi)
	je	.Lstart0
.Lzero:
	xorl	%esi, %esi
DOOR(ktr__record1)
	xorl	%edx, %edx
DOOR(ktr__record2)
	xorl	%ecx, %ecx
DOOR(ktr__record3)
	xorl	%r8d, %r8d
DOOR(ktr__record4)
	xorl	%r9d, %r9d
DOOR(ktr__record5)
	pxor	%xmm0, %xmm0
DOOR(ktr__record6v)
	movq	%rdx, %xmm1
	movq	%rdi, %xmm2
.Lagain:
	movq	HOT(HOT_CONTROL), %rax
	testq	%rax, %rax
	jz	.Lcold
	movl	CONTROL_GENERATION(%rax), %edx
	movl	SITE_ID(%rdi), %r11d
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	cmpl	%edx, SITE_READY(%rdi)
	je	.Lstart
	notl	%edx
	cmpl	%edx, SITE_READY(%rdi)
	jne	.Lcold
	movzbl	SITE_TEXT_AT(%rdi), %edx
	movq	%rsi, %r10
	cmpl	$TEXT_AT_FIRST, %edx
	jne	.Lother
.Lstring:
	testq	%r10, %r10
	jz	.Lany
	ONE_PAGE(15)
	pxor	%xmm4, %xmm4
	movdqu	(%r10), %xmm3
	pcmpeqb	%xmm3, %xmm4
	pmovmskb %xmm4, %edx
	testl	%edx, %edx
	jz	.Lsecond
	CUT_TEXT(%xmm3)
	pxor	%xmm4, %xmm4
	pxor	%xmm5, %xmm5
.Lmeasured:
	cmpb	$TEXT_AT_FIRST, SITE_TEXT_AT(%rdi)
	jne	.Lspilled
.Lfirst:	/* what the arguments leave no room for goes on in further slots */
	movzbl	SITE_N_ARGS(%rdi), %r10d
	movq	%rsi, %xmm7
	movl	%edx, %esi
	leal	-6 * 8(%rdx,%r10,8), %edx
	movd	%edx, %xmm8
	testl	%edx, %edx
	jg	.Llong
	cmpl	$2, %r10d
	jne	.Lonly
	movq	%xmm3, %rcx
	psrldq	$8, %xmm3
	movq	%xmm3, %r8
	movq	%xmm4, %r9
	psrldq	$8, %xmm4
	movaps	%xmm4, %xmm0
.Lready:
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	jmp	.Lstart
.Lonly:
	movaps	%xmm3, %xmm1
	psrldq	$8, %xmm3
	movq	%xmm3, %rcx
	movq	%xmm4, %r8
	psrldq	$8, %xmm4
	movq	%xmm4, %r9
	movaps	%xmm5, %xmm0
	jmp	.Lready
.Llong:	/* up to 55 bytes are read after its end */
	cmpl	$0, ktr__cpu_avx2(%rip)
	je	.Lundo
	movq	%xmm7, %rdx
	addl	%esi, %edx
	andl	$4095, %edx
	cmpl	$4096 - 56, %edx
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	jbe	.Lstartmore
.Lundo:
	movq	%xmm2, %rdi
	movq	%xmm7, %rsi
	jmp	.Lany
.Lsecond:
	pxor	%xmm5, %xmm5
	ONE_PAGE(47)
	movdqu	16(%r10), %xmm4
	movdqa	%xmm4, %xmm6
	pcmpeqb	%xmm5, %xmm6
	pmovmskb %xmm6, %edx
	testl	%edx, %edx
	jz	.Lthird
	CUT_TEXT(%xmm4)
	addl	$16, %edx
	jmp	.Lmeasured
.Lthird:
	pxor	%xmm6, %xmm6
	movdqu	32(%r10), %xmm5
	pcmpeqb	%xmm5, %xmm6
	pmovmskb %xmm6, %edx
	testl	%edx, %edx
	jz	.Lscan
	CUT_TEXT(%xmm5)
	addl	$32, %edx
	jmp	.Lmeasured
.Lscan:	/* its end; all that is read is in a line with some of the string */
	cmpb	$TEXT_AT_FIRST, SITE_TEXT_AT(%rdi)
	jne	.Lany
	cmpl	$0, ktr__cpu_avx2(%rip)
	je	.Lany
	leaq	48(%rsi), %rdx
	andq	$-32, %rdx
	leaq	STRING_MAX(%rsi), %r10
	subq	%r10, %rdx
	vpxor	%xmm6, %xmm6, %xmm6
1:	vpcmpeqb (%r10,%rdx), %ymm6, %ymm7
	vpmovmskb %ymm7, %ecx
	testl	%ecx, %ecx
	jnz	2f
	addq	$32, %rdx
	jle	1b
	vzeroupper
	jmp	.Lany
2:	vzeroupper
	rep; bsfl %ecx, %ecx
	leal	STRING_MAX(%rdx,%rcx), %edx
	cmpl	$STRING_MAX, %edx
	jbe	.Lfirst
	jmp	.Lany
.Lother:
	cmpl	$TEXT_AT_ANY, %edx
	je	.Lany
	testl	%edx, %edx
	jz	.Lcold
	cmpl	$TEXT_AT_BOTH, %edx
	je	.Lboth
	ja	.Lstack
	SPILL
	movq	WORDS - 8(%rsp,%rdx,8), %r10
	jmp	.Lstring
.Lspilled:
	movzbl	SITE_N_ARGS(%rdi), %r10d
	leal	(%rdx,%r10,8), %edi
	cmpl	$6 * 8, %edi
	movq	%xmm2, %rdi
	ja	.Lany
	movzbl	SITE_TEXT_AT(%rdi), %edi
	movq	%rdx, WORDS - 8(%rsp,%rdi,8)
	leaq	WORDS(%rsp,%r10,8), %r10
	movups	%xmm3, (%r10)
	movups	%xmm4, 16(%r10)
	movups	%xmm5, 32(%r10)
	movq	WORDS(%rsp), %rsi
	movq	WORDS + 8(%rsp), %xmm1
	movq	WORDS + 16(%rsp), %rcx
	movq	WORDS + 24(%rsp), %r8
	movq	WORDS + 32(%rsp), %r9
	movq	WORDS + 40(%rsp), %xmm0
	jmp	.Lready
.Lboth:	/* the second begins at the word after the first */
	call	.Lpiece
	movaps	%xmm3, %xmm4
	movl	%edx, %r8d
	movq	%xmm1, %r10
	call	.Lpiece
	movl	%r8d, %esi
	movq	%rdx, %xmm1
	addl	$7, %r8d
	andl	$-8, %r8d
	pxor	%xmm5, %xmm5
	movups	%xmm5, WORDS + 32(%rsp)
	movups	%xmm4, WORDS + 16(%rsp)
	movups	%xmm3, WORDS + 16(%rsp,%r8)
	movq	WORDS + 16(%rsp), %rcx
	movq	WORDS + 24(%rsp), %r8
	movq	WORDS + 32(%rsp), %r9
	movq	WORDS + 40(%rsp), %xmm0
	jmp	.Lready
.Lpiece:	/* a string of up to sixteen bytes at r10: xmm3, with zeros after its end, and edx where that is */
	.cfi_adjust_cfa_offset 8
	testq	%r10, %r10
	jz	1f
	leaq	16(%r10), %rdx
	xorq	%r10, %rdx
	shrq	$12, %rdx
	jnz	1f
	pxor	%xmm5, %xmm5
	movdqu	(%r10), %xmm3
	pcmpeqb	%xmm3, %xmm5
	pmovmskb %xmm5, %edx
	cmpb	$1, 16(%r10)
	jb	2f
	testl	%edx, %edx
	jz	1f
2:	btsl	$16, %edx
	CUT_TEXT(%xmm3)
	ret
1:	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp	.Lany
.Lstack:
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	cmpw	$12 * 8, STACK_WORD(%rsi)
	jbe	.Lstartmore
.Lany:
	movq	%xmm1, %rdx
	jmp	ktr__record_payload
.Lcold:
	xorl	%edx, %edx
	jmp	.Lcall

.Lsequence:
.Lstartmore:
	btsq	$MORE_BIT, %r11
	ENTER
.Ljoinmore:
	cmpq	RING_GEOM(%r10), %rdi
	jne	.Ldisarm
	orq	SELF(SELF_ARMED), %r11
.Lmore:
	btrq	$MORE_BIT, %r11
	movq	RING_HEAD(%r10), %rdi
	movq	%xmm2, %rax
	cmpb	$TEXT_AT_STACK, SITE_TEXT_AT(%rax)
	jne	.Llongtext
	movq	%rdi, %r8
	SLOT(HERE)
	STORE_TICKS
	movq	%r11, 8(%rdi)
	movl	$2, %r11d
	COPY_PAIR(STACK_WORD, 16)
	COPY_PAIR(STACK_PCS + 8, 32)
	COPY_PAIR(STACK_PCS + 24, 48)
	LOAD_SELF
	cmpw	$5 * 8, STACK_WORD(%rsi)
	jbe	.Lwritten
	leaq	2(%r8), %rdi
	SLOT(HERE)
	andl	$1, %r8d
	movq	RING_CONT(%r10,%r8,8), %r11
	movq	%r11, %rax
	btsq	$63, %rax
	movq	%rax, (%rdi)
	COPY_PAIR(STACK_PCS + 40, 8)
	COPY_PAIR(STACK_PCS + 56, 24)
	COPY_PAIR(STACK_PCS + 72, 40)
	movq	STACK_PCS + 88(%rsi), %rax
	movq	%rax, 56(%rdi)
	incq	%r11
	xorl	$1, %r8d
	movq	%r11, RING_CONT(%r10,%r8,8)
	leal	3(%r8,%r8), %r11d
.Lwritten:
	cmpl	$0, SELF(SELF_NEST)
	je	.Lcommit
	jmp	.Lcommitown
.Llongtext:	/* rcx = n_args; what of the text is in the entry comes as it was read */
	movzbl	SITE_N_ARGS(%rax), %ecx
	SLOT(HERE)
	STORE_TICKS
	movq	%r11, 8(%rdi)
	movq	%rsi, 16(%rdi)
	movq	%xmm1, 24(%rdi)
	movq	%xmm5, 56(%rdi)
	movups	%xmm3, 16(%rdi,%rcx,8)
	movups	%xmm4, 32(%rdi,%rcx,8)
	LOAD_SELF
	movq	RING_HEAD(%r10), %rax
	movl	%eax, %ecx
	andl	$1, %ecx
	shlq	$5, %rax
	movq	RING_CONT(%r10,%rcx,8), %r8
	btsq	$63, %r8
	movd	%xmm8, %r9d
	subl	%r9d, %esi
	movq	%xmm7, %rcx
	addq	%rcx, %rsi
	subl	$CONT_BYTES, %r9d
	jb	2f
1:	CONT
	vmovdqu	(%rsi), %ymm3
	vmovdqu	32(%rsi), %xmm4
	movq	48(%rsi), %r11
	vmovdqu	%ymm3, 8(%rdi)
	vmovdqu	%xmm4, 40(%rdi)
	movq	%r11, 56(%rdi)
	addq	$CONT_BYTES, %rsi
	subl	$CONT_BYTES, %r9d
	jae	1b
2:	addl	$CONT_BYTES, %r9d
	jz	3f
	CONT
	leaq	.Lbelow + 64(%rip), %rcx
	subq	%r9, %rcx
	vmovdqu	(%rsi), %ymm3
	vmovdqu	32(%rsi), %xmm4
	movq	48(%rsi), %r11
	vpand	(%rcx), %ymm3, %ymm3
	vpand	32(%rcx), %xmm4, %xmm4
	andq	48(%rcx), %r11
	vmovdqu	%ymm3, 8(%rdi)
	vmovdqu	%xmm4, 40(%rdi)
	movq	%r11, 56(%rdi)
3:	vzeroupper
	movq	RING_HEAD(%r10), %rcx
	shrq	$5, %rax
	subq	%rcx, %rax
	notl	%ecx
	andl	$1, %ecx
	btrq	$63, %r8
	movq	%r8, RING_CONT(%r10,%rcx,8)
	leaq	1(%rax,%rcx,2), %r11
	cmpl	$0, SELF(SELF_NEST)
	jne	.Lcommitown
	jmp	.Lcommit
.Lmoved:
	movq	$0, %fs:RSEQ_CS(%r10)
.Larm:
	LOAD_SELF
	movq	SELF(SELF_OWN), %rax
	testq	%rax, %rax
	jnz	.Lown
	cmpq	%rax, HOT(HOT_CONTROL)
	je	.Lwords
	cmpq	%rax, SELF(SELF_ARMED)
	je	.Lwords
	leaq	ktr__record_cs(%rip), %rax
	movq	%rax, %fs:RSEQ_CS(%r10)
	movl	%fs:RSEQ_CPU(%r10), %r10d
	cmpl	%r10d, HOT(HOT_N_RINGS)
	jbe	.Ldisarm
	movl	%r10d, SELF(SELF_HERE_CPU)
	movq	HOT(HOT_VIEWS), %rax
	movq	(%rax,%r10,8), %rax
	shlq	$RING_SHIFT, %r10
	addq	HOT(HOT_RINGS), %r10
	movq	%r10, HERE(PLACE_RING)
	movq	VIEW_BASE(%rax), %rdi
	movq	%rdi, HERE(PLACE_BASE)
	movq	VIEW_MASK(%rax), %rdi
	movq	%rdi, HERE(PLACE_MASK)
	movq	VIEW_GEOM(%rax), %rdi
	movq	%rdi, HERE(PLACE_GEOM)
	leaq	ktr__record_cs - CONTROL_CLOCK(%rip), %rax	/* a clock of 0: the descriptor's version */
	testq	%r11, %r11
	jns	.Ljoin
	jmp	.Ljoinmore
.Lrepeat:	/* the time of the event before; a continuation has none, and a ring that was made anew nothing */
	leaq	-2(%rdi), %rax
	shlq	$5, %rax
	andq	HERE(PLACE_MASK), %rax
	addq	HERE(PLACE_BASE), %rax
	movq	(%rax), %rax
	testq	%rax, %rax
	jle	.Lread
	SLOT(HERE)
	btsq	$TIME_APPROX_BIT, %rax
	movq	%rax, (%rdi)
	jmp	.Lfill
.Lunusual:
	stc
	ret
DOOR(ktr__record_usual)
	movq	HOT(HOT_CONTROL), %rax
	testq	%rax, %rax
	jz	.Lunusual
	movl	CONTROL_GENERATION(%rax), %edx
	movl	SITE_ID - 1(%rdi), %r11d
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	cmpl	%edx, SITE_READY - 1(%rdi)
	jne	.Lunusual
.Lstart0:
	leaq	ktr__record_cs(%rip), %rdx
	cmpq	%rdx, %fs:RSEQ_CS(%r10)
	jne	.Lown0
	LOAD_SELF
	movl	%fs:RSEQ_CPU(%r10), %edi
	cmpl	%edi, SELF(SELF_HERE_CPU)
	jne	.Lwith0
	movq	HERE(PLACE_RING), %r10
	movq	HERE(PLACE_GEOM), %rdi
	cmpq	RING_GEOM(%r10), %rdi
	jne	.Lwith0
	cmpl	$0, CONTROL_CLOCK(%rax)
	jne	.Lwith0
	movq	RING_HEAD(%r10), %rdi
	orq	SELF(SELF_ARMED), %r11
	SLOT(HERE)
	STORE_TICKS
	movq	%r11, 8(%rdi)
	movhps	%xmm2, 16(%rdi)
	jmp	.Lone
	.p2align 6
.Lstart:
	ENTER
.Ljoin:
	cmpq	RING_GEOM(%r10), %rdi
	jne	.Ldisarm
	movq	RING_HEAD(%r10), %rdi
	orq	SELF(SELF_ARMED), %r11
	testl	%edi, CONTROL_CLOCK(%rax)
	jnz	.Lrepeat
.Lread:
	SLOT(HERE)
	STORE_TICKS
.Lfill:
	STORE_ENTRY
.Lone:
	movl	$2, %r11d
.Lcommit:
	addq	%r11, RING_HEAD(%r10)
.Lend:
	ret

.Lown:
	OWN_BEGIN(.Lwords, .Lask)
.Lknown:
	OWN_PLACE
	js	.Lownmore
	OWN_SLOT(.Lleave)
	STORE_ENTRY
	OWN_COMMIT
.Lown0:
	LOAD_SELF
	movq	SELF(SELF_OWN), %rax
	testq	%rax, %rax
	jz	.Lwith0
	OWN_BEGIN(.Lwith0, .Lleave0)
	OWN_PLACE
	OWN_SLOT(.Lleave0)
	movq	%r11, 8(%rdi)
	movhps	%xmm2, 16(%rdi)
	OWN_COMMIT
.Lleave0:
	movl	$0, SELF(SELF_NEST)
	jmp	.Lwith0
.Lownmore:
	cmpq	HERE(PLACE_GEOM), %rdi
	jne	.Lleave
	testq	%rdi, %rdi
	jz	.Lleave
	cmpq	RING_GEOM(%r10), %rdi
	je	.Lmore
	jmp	.Lleave
.Lcommitown:
	addq	%r11, RING_HEAD(%r10)
	movl	$0, SELF(SELF_NEST)
	ret
.Lask:
	cmpl	$0, ktr__cpu_rdpid(%rip)
	je	.Lremembered
	.byte	0xf3, 0x0f, 0xc7, 0xf8				/* rdpid %rax */
	andl	$0xfff, %eax					/* above it is the node */
	jmp	.Lknown
.Lremembered:
	movl	LEVEL(LEVEL_CPU), %eax
	movq	LEVEL(PLACE_RING), %rdi
	testq	%rdi, %rdi
	jz	.Lleave
	testb	$126, RING_HEAD(%rdi)
	jnz	.Lknown
.Lleave:
	LOAD_SELF
	movl	$0, SELF(SELF_NEST)
	jmp	.Lwords

	/* The signature before an abort handler (glibc: RSEQ_SIG), in an instruction that traps. */
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053
.Labort:
.Lwith0:
	movq	%xmm2, %rdi
	testb	$1, %dil
	jnz	.Lunusual
	cmpb	$0, SITE_N_ARGS(%rdi)
	je	.Lzero
	cmpb	$0, SITE_TEXT_AT(%rdi)
	je	.Lagain
	LONG(1f)
	jmp	.Lagain
1:	movq	HOT(HOT_CONTROL), %rax
	testq	%rax, %rax
	jz	.Lwords
	movl	CONTROL_GENERATION(%rax), %edx
	notl	%edx
	cmpl	%edx, SITE_READY(%rdi)
	jne	.Lwords
	movl	SITE_ID(%rdi), %r11d
	cmpb	$TEXT_AT_STACK, SITE_TEXT_AT(%rdi)
	je	.Lstack
	jmp	.Lready
.Ldisarm:
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	testq	%r10, %r10
	jz	.Lwords
	movq	$0, %fs:RSEQ_CS(%r10)
.Lwords:
	movq	%xmm2, %rdi
	xorl	%edx, %edx
	cmpb	$TEXT_AT_STACK, SITE_TEXT_AT(%rdi)
	je	.Lcall
	LONG(1f)
	jmp	.Lcall
1:	incl	%edx
.Lcall:
	subq	$COLD_ROOM, %rsp
	.cfi_adjust_cfa_offset COLD_ROOM
	KEEP_VECTOR(3)
	KEEP_VECTOR(4)
	KEEP_VECTOR(5)
	KEEP_VECTOR(6)
	KEEP_VECTOR(7)
	movq	%rsi, (%rsp)
	movq	%xmm1, 8(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%r8, 24(%rsp)
	movq	%r9, 32(%rsp)
	movq	%xmm0, 40(%rsp)
	movq	%rsp, %rsi
	call	ktr__record_cold
	BACK_VECTOR(3)
	BACK_VECTOR(4)
	BACK_VECTOR(5)
	BACK_VECTOR(6)
	BACK_VECTOR(7)
	addq	$COLD_ROOM, %rsp
	.cfi_adjust_cfa_offset -COLD_ROOM
	ret
	.cfi_endproc
	.size	ktr__record0, . - ktr__record0
	.size	ktr__record1, . - ktr__record1
	.size	ktr__record2, . - ktr__record2
	.size	ktr__record3, . - ktr__record3
	.size	ktr__record4, . - ktr__record4
	.size	ktr__record5, . - ktr__record5
	.size	ktr__record6v, . - ktr__record6v

	.section .rodata.ktr__record, "a"
	.balign	8
/* Loaded from 64 - n on: the first n bytes all ones, the others zero. */
.Lbelow:
	.fill	64, 1, 255
	.fill	64, 1, 0

/* Descriptor, and the arrays for debuggers, as in x86_64.h. */
	.section __rseq_cs, "aw"
	.balign	32
	.globl	ktr__record_cs
	.hidden	ktr__record_cs
ktr__record_cs:
	.long	0, 0
	.quad	.Lsequence, .Lend - .Lsequence, .Labort
	.section __rseq_cs_ptr_array, "aw"
	.quad	ktr__record_cs
	.section __rseq_exit_point_array, "aw"
	.quad	.Lsequence, .Lown
	.quad	.Lsequence, .Ldisarm
#endif

#include "ktr/arch/property.h"
