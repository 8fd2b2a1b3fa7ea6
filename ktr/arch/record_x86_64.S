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
 *	payload:  if site_ctl[site.id] or not site.text_at: goto cold
 *		  if site.text_at is KTR_TEXT_AT_ANY: goto any
 *		  if site.text_at is KTR_TEXT_AT_STACK: goto stack
 *		  if site.text_at is KTR_TEXT_AT_BOTH, for which a0 and a1 are strings and all: the same
 *			with both, if none is longer than one piece
 *		  text = what a[site.text_at - 1] points to, in pieces of sixteen bytes
 *			if it is NULL, reaches into another page, or has no room: goto any
 *		  a[site.text_at - 1] = length of text
 *		  a[site.n_args], ... = text
 *		  meta = site.id, clock = control.clock_slots, goto START
 *	stack:	  if a0->word is more than 12 frames: goto any	(struct ktr__frames)
 *		  as from START on, with *a0 for the words; up to 5 frames have room there, 12 in two slots:
 *			second = here.base + ((head + 2) * 32 & here.mask)
 *			second[] = { mark | cont[t], a0->pcs[5 .. 11] }		t = head & 1
 *			cont[!t] = cont[t] + 1
 *			step = t ? 3 : 5			two slots, and t flips
 *		  the clock is read for each
 *	any:	  ktr__record_payload(site, a0 .. a5)
 *	disarm:	  if hot.rseq_offset: rseq.rseq_cs = NULL
 *	words:	  ktr__record_cold(site, { a0 .. a5 }, true)	with a stack: false
 *	abort:	  if site.plain: goto AGAIN
 *		  if not hot.site_ctl or site.mask & control.special or site_ctl[site.id]: goto words
 *		  meta = site.id, goto START
 *	cold:	  ktr__record_cold(site, { a0 .. a5 }, false)
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
 *		  cpu = RDPID, or level.cpu, which is renewed (in C) for every 64th event
 *		  to = level.base + (level.ring.head * 32 & level.mask), prefetch to + AHEAD
 *		  to.time = ticks()
 *		  to.meta = cpu << 51 | self.own | meta; to.arg[] = a0 .. a5
 *		  level.ring.head += 2		we are its only writer; TSO is release enough
 *		  self.nest = 0
 *		  return
 *	leave:	  self.nest = 0; goto words
 * A handler that comes in between leaves nest as it was.
 *
 * Registers, all of them ones a call may change: rsi a0, xmm1 a1, rcx a2, r8 a3, r9 a4, xmm0 a5. From START on
 * they are words of the entry, but of a stack, and stay what they are. The site is in xmm2. A text is in xmm3
 * to xmm5, padded with zeros: read once. What lies after its end may be read, in its page, and goes no further.
 *	rdi	site; then rseq.cpu_id, geom, head, and to
 *	rax	control, for its clock; then the time; on the other path geom
 *	rdx	&descriptor; then the offset of self from the thread pointer
 *	r10	site_ctl; then rseq's offset from the thread pointer; then the ring
 *	r11	meta
 * While a text is looked at r10 is the string, and then edx its length. No stack is used but by cold,
 * and what lies below the stack pointer by texts that are not a0, or have more than two arguments: no handler
 * writes there.
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
 * A piece of a text that ends in it, at the lowest bit of edx: its end is cut off. Out: edx where it ends.
 * Clobbers r10, xmm6.
 */
#define CUT_TEXT(piece)                                                                          \
	rep; bsfl %edx, %edx;                                                                      \
	leaq	.Lbelow + 16(%rip), %r10;                                                        \
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

/*
 * The first sixteen bytes of the string at r10: in `piece`, if it ends there, and edx where it ends; if it does
 * not, to `longer`. NULL goes to .Lany. Clobbers r10, xmm6, and `scratch`.
 */
#define FIRST_PIECE(piece, scratch, longer)                                                      \
	testq	%r10, %r10;                                                                      \
	jz	.Lany;                                                                           \
	ONE_PAGE(15);                                                                            \
	pxor	scratch, scratch;                                                                \
	movdqu	(%r10), piece;                                                                   \
	pcmpeqb	piece, scratch;                                                                  \
	pmovmskb scratch, %edx;                                                                  \
	testl	%edx, %edx;                                                                      \
	jz	longer;                                                                          \
	CUT_TEXT(piece)

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
.Lstacked:
	ENTER
.Ljoinstack:
	cmpq	RING_GEOM(%r10), %rdi
	jne	.Ldisarm
	movq	RING_HEAD(%r10), %rdi
	movq	%rdi, %r8
	orq	SELF(SELF_ARMED), %r11
	SLOT(HERE)
	STORE_TICKS
	btsq	$TIME_APPROX_BIT, %rax
	movq	%rax, RING_LAST(%r10)
	movq	%r11, 8(%rdi)
	movl	$2, %r11d
	COPY_PAIR(STACK_WORD, 16)
	COPY_PAIR(STACK_PCS + 8, 32)
	COPY_PAIR(STACK_PCS + 24, 48)
	cmpw	$5 * 8, STACK_WORD(%rsi)
	jbe	.Lcommit
	LOAD_SELF
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
	movq	%xmm2, %rax
	cmpb	$TEXT_AT_STACK, SITE_TEXT_AT(%rax)
	leaq	ktr__record_cs - CONTROL_CLOCK(%rip), %rax	/* a clock of 0: the descriptor's version */
	jne	.Ljoin
	jmp	.Ljoinstack
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
	movzbl	SITE_TEXT_AT(%rdi), %edx
	cmpb	$0, (%r10,%r11)
	jne	.Lcold
	movq	%rsi, %r10
	cmpl	$1, %edx
	jne	.Lother
.Lstring:
	FIRST_PIECE(%xmm3, %xmm4, .Lsecond)
	pxor	%xmm4, %xmm4
	pxor	%xmm5, %xmm5
.Lmeasured:	/* do the arguments leave room for it? */
	movzbl	SITE_N_ARGS(%rdi), %r10d
	cmpb	$1, SITE_TEXT_AT(%rdi)
	jne	.Lspilled
	cmpl	$2, %r10d
	ja	.Lspill
	jb	.Lonly
	cmpl	$4 * 8, %edx
	ja	.Lany
	movl	%edx, %esi
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
	cmpl	$5 * 8, %edx
	ja	.Lany
	movl	%edx, %esi
	movaps	%xmm3, %xmm1
	psrldq	$8, %xmm3
	movq	%xmm3, %rcx
	movq	%xmm4, %r8
	psrldq	$8, %xmm4
	movq	%xmm4, %r9
	movaps	%xmm5, %xmm0
	jmp	.Lready
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
	jz	.Lany
	CUT_TEXT(%xmm5)
	addl	$32, %edx
	jmp	.Lmeasured
.Lother:
	testl	%edx, %edx
	jz	.Lcold
	cmpl	$TEXT_AT_ANY, %edx
	je	.Lany
	cmpl	$TEXT_AT_BOTH, %edx
	je	.Lboth
	ja	.Lstack
	SPILL
	movq	WORDS - 8(%rsp,%rdx,8), %r10
	jmp	.Lstring
.Lspill:
	SPILL
.Lspilled:
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
	FIRST_PIECE(%xmm3, %xmm5, .Lany)
	movl	%edx, %r8d
	movq	%xmm1, %r10
	FIRST_PIECE(%xmm4, %xmm5, .Lany)
	movl	%r8d, %esi
	movq	%rdx, %xmm1
	addl	$7, %r8d
	andl	$-8, %r8d
	pxor	%xmm5, %xmm5
	movups	%xmm5, WORDS + 32(%rsp)
	movups	%xmm3, WORDS + 16(%rsp)
	movups	%xmm4, WORDS + 16(%rsp,%r8)
	movq	WORDS + 16(%rsp), %rcx
	movq	WORDS + 24(%rsp), %r8
	movq	WORDS + 32(%rsp), %r9
	movq	WORDS + 40(%rsp), %xmm0
	jmp	.Lready
.Lstack:
	movq	HOT(HOT_RSEQ_OFFSET), %r10
	cmpw	$12 * 8, STACK_WORD(%rsi)
	jbe	.Lstacked
.Lany:
	movq	%xmm1, %rdx
	jmp	ktr__record_payload

.Lown:
	movq	%xmm2, %rdi
	cmpb	$TEXT_AT_STACK, SITE_TEXT_AT(%rdi)
	je	.Lany
	cmpl	$0, SELF(SELF_NEST)
	jne	.Lwords
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
	movq	RING_HEAD(%r10), %rdi
	SLOT(LEVEL)
	STORE_ENTRY
	STORE_TICKS
	addq	$2, RING_HEAD(%r10)
	LOAD_SELF
	movl	$0, SELF(SELF_NEST)
	ret
.Lremembered:
	testb	$126, RING_HEAD(%r10)
	movl	LEVEL(LEVEL_CPU), %eax
	jz	.Lleave
	shlq	$32 + THREAD_BITS, %rax
	jmp	.Lplace
.Lleave:
	LOAD_SELF
	movl	$0, SELF(SELF_NEST)
	jmp	.Lwords

	/* The signature before an abort handler (glibc: RSEQ_SIG), in an instruction that traps. */
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053
.Labort:
	movq	%xmm2, %rdi
	cmpl	$0, SITE_PLAIN(%rdi)
	jne	.Lagain
	movq	HOT(HOT_CONTROL), %rax
	movq	HOT(HOT_SITE_CTL), %r10
	testq	%r10, %r10
	jz	.Lwords
	movq	CONTROL_SPECIAL(%rax), %rdx
	testq	%rdx, SITE_MASK(%rdi)
	jnz	.Lwords
	movl	SITE_ID(%rdi), %r11d
	cmpb	$0, (%r10,%r11)
	jne	.Lwords
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
	setne	%dl
	jmp	1f
.Lcold:
	xorl	%edx, %edx
1:	subq	$56, %rsp
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
