/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the usual event, from the call to its place in the ring. ktr__record0() to ktr__record6v() are
 * one function with eight doors: arguments that an event does not have are zero. It is written by hand so
 * that arguments stay in the registers the caller put them in; where the clock is read for some events
 * only, nothing hides the price of an instruction, and that of an access to memory least.
 *
 *	ktr__recordN(site, a0 .. a5):
 *	AGAIN:	  if not hot.site_ctl: goto cold		no session, or a child that nobody told of
 *		  if site.mask & control.special: goto cold
 *		  if not site.plain: goto payload
 *		  if site_ctl[site.plain]: goto cold
 *		  meta = site.plain, clock = control.clock_slots
 *	START:	  if rseq.rseq_cs != &descriptor: goto arm
 *		  if rseq.cpu_id != self.here_cpu: goto moved
 *	JOIN:	  if here.geom != here.ring.geom: goto disarm
 *		  head = here.ring.head
 *		  to = here.base + (head * 32 & here.mask)
 *		  if head & clock: to.time = here.ring.last
 *		  else: prefetch to + AHEAD, to.time = ticks(), here.ring.last = to.time | KTR_TIME_APPROX
 *		  to.meta = self.armed | meta; to.arg[] = a0 .. a5
 *		  step = 2
 *		  if there is a text:
 *			second = here.base + ((head + 2) * 32 & here.mask)
 *			second[] = { mark | cont[t], text }		t = head & 1
 *			cont[!t] = cont[t] + 1
 *			step = t ? 3 : 5			two slots, and t flips
 *	COMMIT:	  here.ring.head += step			one instruction
 *		  return
 *	moved:	  rseq.rseq_cs = NULL
 *	arm:	  if self.own: goto own
 *		  if not hot.control: goto cold
 *		  if not self.armed: goto cold
 *		  rseq.rseq_cs = &descriptor
 *		  cpu = rseq.cpu_id
 *		  if cpu >= n_rings: goto disarm
 *		  here_cpu = cpu
 *		  here = { &rings[cpu], *views[cpu] }	what this process has validated
 *		  clock = 0				the clock is read for this event
 *		  goto JOIN
 *	abort:	  a[string_at] = string; goto AGAIN
 *	payload:  if site_ctl[site.id] or not site.text_at: goto cold
 *		  if site.text_at is KTR_TEXT_AT_STACK: string = a0, text = a0->pcs, a0 = a0->word
 *			(struct ktr__frames)
 *			if it is longer than 6 frames: goto cold
 *		  else: string = a[site.text_at - 1], text = what it points to, in pieces of sixteen bytes
 *			if it is NULL, reaches into another page, or is longer than 47 bytes: goto cold
 *			a[site.text_at - 1] = length of text
 *		  meta = site.id, clock = 0
 *		  goto START
 *	disarm:	  if hot.rseq_offset: rseq.rseq_cs = NULL
 *		  a[string_at] = string
 *	cold:	  ktr__record_cold(site, { a0 .. a5 })
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
 * rseq_cs says: what others recorded has left its time in ring.last, which each sequence that writes to a
 * ring stores. vfork(2) and fork(2) clear here.geom, which no ring that is open has;
 * vfork(2) takes here_cpu from every CPU, too.
 *
 * What is in shared memory decides whether to record and whether to read the clock, never what is done with a
 * register or a pointer: anybody may write there. What kind of event this is, is said by site.plain and
 * site.text_at; where it goes by here, and geom is but compared with it.
 *
 * hot is emptied by the kernel in a child (struct ktr__hot). A child may be born in a handler of a signal that
 * interrupted us anywhere: inside the sequence we begin again at AGAIN. In front of it rax and r10 stay what they
 * were, addresses of a mapping that the child has too, and arm finds hot empty; after it disarm looks at what it
 * has loaded.
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
 *	own:	  if self.nest: goto cold
 *		  self.frame[0] = stack pointer - FRAME_BELOW, self.nest = 1
 *		  level = &self.level[0][0]
 *		  if not level.geom or level.geom != level.ring.geom: goto leave
 *		  cpu = RDPID, or level.cpu, which is renewed (in C) for every 64th event
 *		  to = level.base + (level.ring.head * 32 & level.mask), prefetch to + AHEAD
 *		  to.time = ticks()
 *		  to.meta = cpu << 51 | self.own | meta; to.arg[] = a0 .. a5
 *		  text as above
 *		  level.ring.head += step	we are its only writer; TSO is release enough
 *		  self.nest = 0
 *		  return
 *	leave:	  self.nest = 0; goto cold
 * A handler that comes in between leaves nest as it was.
 *
 * Registers, all of them ones a call may change: rsi a0, xmm1 a1, rcx a2, r8 a3, r9 a4, xmm0 a5. They stay
 * there but for the text's own word; xmm6 is the string, from which abort and cold make it again. A string
 * that is not a0 goes through memory below the stack pointer, where no handler writes. The site is in xmm2.
 * A text is in xmm3 to xmm5, padded with zeros: read once, and never from memory where it was stored a
 * moment ago in other pieces. What lies after its end may be read, in its page, and goes no further.
 *	rdi	site; then rseq.cpu_id, geom, head, and to
 *	rax	control, for its clock; then the time; of a text second; on the other path geom
 *	rdx	&descriptor; then the offset of self from the thread pointer
 *	r10	site_ctl, or the string; then rseq's offset from the thread pointer; then the ring
 *	r11	meta; then step
 * No stack is used but by cold.
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
 * Both slots of an event with a text, but for its time. In: r11 meta, r10 ring. Out: rdi first slot, r11
 * what to add to head: two slots, and 1 or -1 for t. Clobbers rax, rdx.
 */
#define STORE_TEXT(place)                                                                        \
	movq	RING_HEAD(%r10), %rax;                                                           \
	shlq	$5, %rax;                                                                        \
	addq	$64, %rax;                                                                        \
	andq	place(PLACE_MASK), %rax;                                                         \
	addq	place(PLACE_BASE), %rax;                                                         \
	STORE_ENTRY;                                                                             \
	movups	%xmm3, 8(%rax);                                                                  \
	movups	%xmm4, 24(%rax);                                                                 \
	movups	%xmm5, 40(%rax);                                                                 \
	movq	$0, 56(%rax);                                                                    \
	movl	RING_HEAD(%r10), %edx;                                                           \
	andl	$1, %edx;                                                                        \
	movq	RING_CONT(%r10,%rdx,8), %r11;                                                    \
	addq	.Lmark(%rip), %r11;                                                              \
	movq	%r11, (%rax);                                                                    \
	addq	.Lunmark(%rip), %r11;                                                            \
	xorl	$1, %edx;                                                                        \
	movq	%r11, RING_CONT(%r10,%rdx,8);                                                    \
	leal	3(%rdx,%rdx), %r11d

/*
 * A piece of a text that ends in it, at the lowest bit of eax: its end is cut off. Out: edx where it ends.
 * Clobbers rax, xmm7.
 */
#define CUT_TEXT(piece)                                                                          \
	rep; bsfl %eax, %edx;                                                                      \
	leaq	.Lbelow + 16(%rip), %rax;                                                        \
	subq	%rdx, %rax;                                                                      \
	movdqu	(%rax), %xmm7;                                                                   \
	pand	%xmm7, piece

/* The text's own word among the arguments, which are below the stack pointer, where no handler writes. */
#define SUBSTITUTE(word)                                                                         \
	movzbl	SITE_TEXT_AT(%rdi), %eax;                                                        \
	movq	word, -56(%rsp,%rax,8);                                                          \
	movq	-40(%rsp), %xmm1;                                                                \
	movq	-32(%rsp), %rcx;                                                                 \
	movq	-24(%rsp), %r8;                                                                  \
	movq	-16(%rsp), %r9;                                                                  \
	movq	-8(%rsp), %xmm0

/* The time into the slot at rdi; rax = the time. Clobbers rdx. */
#define STORE_TICKS                                                                              \
	prefetchw AHEAD(%rdi);                                                                   \
	rdtsc;                                                                                   \
	shlq	$32, %rdx;                                                                       \
	orq	%rdx, %rax;                                                                      \
	movq	%rax, (%rdi)

#define DOOR(name)                                                                               \
	.globl	name;                                                                            \
	.type	name, @function;                                                                 \
	name:

	.text
	.p2align 6
	.skip	16 /* At the very start of a line the event takes 38 cycles instead of 37 (Zen 3). */
DOOR(ktr__record0)
	.cfi_startproc
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
	movq	HOT(HOT_SITE_CTL), %r10
	testq	%r10, %r10
	jz	.Lcold
	movq	CONTROL_SPECIAL(%rax), %rdx
	testq	%rdx, SITE_MASK(%rdi)
	jnz	.Lcold
	movl	SITE_PLAIN(%rdi), %r11d
	testl	%r11d, %r11d
	jz	.Lpayload
	cmpb	$0, (%r10,%r11)
	jne	.Lcold
	movq	HOT(HOT_RSEQ_OFFSET), %r10
.Lstart:
	ENTER
.Ljoin:
	cmpq	RING_GEOM(%r10), %rdi
	jne	.Ldisarm
	movq	RING_HEAD(%r10), %rdi
	orq	SELF(SELF_ARMED), %r11
	testl	%edi, CONTROL_CLOCK(%rax)
	jnz	.Lrepeat
	SLOT(HERE)
	STORE_TICKS
	btsq	$TIME_APPROX_BIT, %rax
	movq	%rax, RING_LAST(%r10)
	jmp	.Lfill
.Ltext:
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	ENTER
.Ljointext:
	cmpq	RING_GEOM(%r10), %rdi
	jne	.Ldisarm
	movq	RING_HEAD(%r10), %rdi
	orq	SELF(SELF_ARMED), %r11
	SLOT(HERE)
	STORE_TICKS
	btsq	$TIME_APPROX_BIT, %rax
	movq	%rax, RING_LAST(%r10)
	LOAD_SELF
	STORE_TEXT(HERE)
	jmp	.Lcommit
.Lmoved:
	movq	$0, %fs:RSEQ_CS(%r10)
.Larm:
	LOAD_SELF
	movq	SELF(SELF_OWN), %rax
	testq	%rax, %rax
	jnz	.Lown
	cmpq	%rax, HOT(HOT_CONTROL)
	je	.Lrestore
	cmpq	%rax, SELF(SELF_ARMED)
	je	.Lrestore
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
	movq	%xmm2, %rax
	cmpl	$0, SITE_PLAIN(%rax)
	leaq	ktr__record_cs - CONTROL_CLOCK(%rip), %rax	/* a clock of 0: the descriptor's version */
	jne	.Ljoin
	jmp	.Ljointext
.Lrepeat:
	SLOT(HERE)
	movq	RING_LAST(%r10), %rdx
	movq	%rdx, (%rdi)
.Lfill:
	STORE_ENTRY
	movl	$2, %r11d
.Lcommit:
	addq	%r11, RING_HEAD(%r10)
.Lend:
	ret

.Lpayload:
	movl	SITE_ID(%rdi), %r11d
	movzbl	SITE_TEXT_AT(%rdi), %eax
	cmpb	$0, (%r10,%r11)
	jne	.Lcold
	movq	%rsi, %r10
	cmpl	$1, %eax
	jne	.Lother
.Lstring:
	testq	%r10, %r10
	jz	.Lcold
	movl	%r10d, %eax
	andl	$4095, %eax
	cmpl	$4096 - 48, %eax
	ja	.Lcold
	movq	%r10, %xmm6
	pxor	%xmm4, %xmm4
	pxor	%xmm5, %xmm5
	movdqu	(%r10), %xmm3
	movdqa	%xmm3, %xmm7
	pcmpeqb	%xmm4, %xmm7
	pmovmskb %xmm7, %eax
	testl	%eax, %eax
	jz	.Lsecond
	CUT_TEXT(%xmm3)
	jmp	.Lmeasured
.Lsecond:
	movdqu	16(%r10), %xmm4
	movdqa	%xmm4, %xmm7
	pcmpeqb	%xmm5, %xmm7
	pmovmskb %xmm7, %eax
	testl	%eax, %eax
	jz	.Lthird
	CUT_TEXT(%xmm4)
	addl	$16, %edx
.Lmeasured:
	cmpb	$1, SITE_TEXT_AT(%rdi)
	jne	.Lsubstitute
	movl	%edx, %esi
	jmp	.Ltext
.Lthird:
	movdqu	32(%r10), %xmm7
	pcmpeqb	%xmm7, %xmm5
	pmovmskb %xmm5, %eax
	movdqa	%xmm7, %xmm5
	testl	%eax, %eax
	jz	.Lcold
	CUT_TEXT(%xmm5)
	addl	$32, %edx
	jmp	.Lmeasured
.Lother:
	testl	%eax, %eax
	jz	.Lcold
	cmpl	$TEXT_AT_STACK, %eax
	je	.Lstack
	movq	%rsi, -48(%rsp)
	movq	%xmm1, -40(%rsp)
	movq	%rcx, -32(%rsp)
	movq	%r8, -24(%rsp)
	movq	%r9, -16(%rsp)
	movq	%xmm0, -8(%rsp)
	movq	-56(%rsp,%rax,8), %r10
	jmp	.Lstring
.Lsubstitute:
	SUBSTITUTE(%rdx)
	jmp	.Ltext
.Lstack:	/* in pieces of eight bytes, as they were stored a moment ago */
	cmpw	$6 * 8, STACK_WORD(%rsi)
	ja	.Lcold
	movq	STACK_PCS(%rsi), %xmm3
	movhps	STACK_PCS + 8(%rsi), %xmm3
	movq	STACK_PCS + 16(%rsi), %xmm4
	movhps	STACK_PCS + 24(%rsi), %xmm4
	movq	STACK_PCS + 32(%rsi), %xmm5
	movhps	STACK_PCS + 40(%rsi), %xmm5
	movq	%rsi, %xmm6
	movq	STACK_WORD(%rsi), %rsi
	jmp	.Ltext

.Lown:
	cmpl	$0, SELF(SELF_NEST)
	jne	.Lrestore
	orq	%rax, %r11
	leaq	-FRAME_BELOW(%rsp), %rax
	movq	%rax, SELF(SELF_FRAME)
	movl	$1, SELF(SELF_NEST)
	movq	LEVEL(PLACE_GEOM), %rax
	testq	%rax, %rax
	jz	.Lleave
	movq	LEVEL(PLACE_RING), %r10
	cmpq	RING_GEOM(%r10), %rax
	jne	.Lleave
	cmpl	$0, ktr__cpu_rdpid(%rip)
	je	.Lremembered
	.byte	0xf3, 0x0f, 0xc7, 0xf8				/* rdpid %rax */
	shlq	$52, %rax					/* twelve bits are the CPU */
	shrq	$1, %rax
.Lplace:
	orq	%rax, %r11
	movq	%xmm2, %rax
	cmpl	$0, SITE_PLAIN(%rax)
	je	.Lowntext
	movq	RING_HEAD(%r10), %rdi
	SLOT(LEVEL)
	STORE_ENTRY
	movl	$2, %r11d
.Lowntime:
	STORE_TICKS
.Lowndone:
	addq	%r11, RING_HEAD(%r10)
	LOAD_SELF
	movl	$0, SELF(SELF_NEST)
	ret
.Lowntext:
	movq	RING_HEAD(%r10), %rdi
	SLOT(LEVEL)
	STORE_TICKS
	LOAD_SELF
	STORE_TEXT(LEVEL)
	jmp	.Lowndone
.Lremembered:
	testb	$126, RING_HEAD(%r10)
	movl	LEVEL(LEVEL_CPU), %eax
	jz	.Lleave
	shlq	$32 + THREAD_BITS, %rax
	jmp	.Lplace
.Lleave:
	LOAD_SELF
	movl	$0, SELF(SELF_NEST)
	jmp	.Lrestore

	/* The signature before an abort handler (glibc: RSEQ_SIG), in an instruction that traps. */
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053
.Labort:
	movl	$1, %r11d
	jmp	1f
.Ldisarm:
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	testq	%r10, %r10
	jz	.Lrestore
	movq	$0, %fs:RSEQ_CS(%r10)
.Lrestore:
	xorl	%r11d, %r11d
1:	movq	%xmm2, %rdi
	movzbl	SITE_TEXT_AT(%rdi), %eax
	testl	%eax, %eax
	jz	3f
	subl	$2, %eax
	cmpl	$4, %eax
	jbe	2f
	movq	%xmm6, %rsi
	jmp	3f
2:	movq	%xmm6, %rdx
	SUBSTITUTE(%rdx)
3:	testl	%r11d, %r11d
	jnz	.Lagain
.Lcold:
	subq	$56, %rsp
	.cfi_adjust_cfa_offset 56
	movq	%rsi, (%rsp)
	movq	%xmm1, 8(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%r8, 24(%rsp)
	movq	%r9, 32(%rsp)
	movq	%xmm0, 40(%rsp)
	movq	%rsp, %rsi
	call	ktr__record_cold
	addq	$56, %rsp
	.cfi_adjust_cfa_offset -56
	ret
DOOR(ktr__record6)
	movq	8(%rsp), %xmm0
	jmp	ktr__record6v
	.cfi_endproc
	.size	ktr__record0, . - ktr__record0
	.size	ktr__record1, . - ktr__record1
	.size	ktr__record2, . - ktr__record2
	.size	ktr__record3, . - ktr__record3
	.size	ktr__record4, . - ktr__record4
	.size	ktr__record5, . - ktr__record5
	.size	ktr__record6, . - ktr__record6
	.size	ktr__record6v, . - ktr__record6v

	.section .rodata.ktr__record, "a"
	.balign	8
.Lmark:		/* a continuation's, and from there to the next ordinal without it */
	.quad	1 << 63
.Lunmark:
	.quad	(1 << 63) + 1
/* Loaded from 16 - n on: the first n bytes all ones, the others zero. */
.Lbelow:
	.fill	16, 1, 255
	.fill	16, 1, 0

/* Descriptor, and the arrays for debuggers, as in x86_64.h. */
	.section __rseq_cs, "aw"
	.balign	32
	.globl	ktr__record_cs
	.hidden	ktr__record_cs
ktr__record_cs:
	.long	0, 0
	.quad	.Lstart, .Lend - .Lstart, .Labort
	.section __rseq_cs_ptr_array, "aw"
	.quad	ktr__record_cs
	.section __rseq_exit_point_array, "aw"
	.quad	.Lstart, .Lown
	.quad	.Lstart, .Ldisarm
#endif

#include "ktr/arch/property.h"
