/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: the usual event, from the call to its place in the ring. ktr__record0() to ktr__record6() are
 * one function with seven doors: arguments that an event does not have are zero. It is written by hand so
 * that arguments stay in the registers the caller put them in; where the clock is read for some events
 * only, nothing hides the price of an instruction.
 *
 *	ktr__recordN(site, a0 .. a5):
 *	AGAIN:	  if site.mask & control.special: goto cold
 *		  if site_ctl[site.plain]: goto payload
 *		  meta = site.plain, clock = control.clock_slots
 *	START:	  if rseq.rseq_cs != &descriptor: goto arm
 *		  if rseq.cpu_id != self.here_cpu: goto moved
 *	JOIN:	  if here.geom != here.ring.geom: goto disarm
 *		  head = here.ring.head
 *		  to = here.base + (head * 32 & here.mask)
 *		  if head & clock: to.time = here.ring.last
 *		  else: prefetch to + AHEAD, to.time = ticks(), here.ring.last = to.time | KTR_TIME_APPROX
 *		  to.meta = self.armed | meta; to.arg[] = a0 .. a5
 *		  next = head + 2
 *		  if there is a text:
 *			second = here.base + (next * 32 & here.mask)
 *			to.arg[site.string_at] = length of text
 *			second[] = { mark | cont[t], text }		t = head & 1
 *			cont[!t] = cont[t] + 1
 *			next = (next + 2) ^ 1
 *	COMMIT:	  here.ring.head = next
 *		  return
 *	moved:	  rseq.rseq_cs = NULL
 *	arm:	  if not self.armed: goto own
 *		  rseq.rseq_cs = &descriptor
 *		  cpu = rseq.cpu_id
 *		  if cpu >= n_rings: goto disarm
 *		  here_cpu = cpu
 *		  here = { &rings[cpu], *views[cpu] }	what this process has validated
 *		  clock = 0				the clock is read for this event
 *		  goto JOIN
 *	abort:	  goto AGAIN
 *	payload:  if not (site.flags & (KTR_SITE_STRING | KTR_SITE_STACK)) or not site.mask or site_ctl[site.id]:
 *			goto cold
 *		  if KTR_SITE_STACK: text = a0->pcs, its length a0->word (struct ktr__stack)
 *			if it is longer than 6 frames: goto cold
 *		  else: text = the string that a[site.string_at] points to, in pieces of sixteen bytes
 *			if it is NULL, reaches into another page, or is longer than 47 bytes: goto cold
 *		  meta = site.id, clock = 0
 *		  goto START
 *	disarm:	  rseq.rseq_cs = NULL
 *	cold:	  ktr__record_cold(site, { a0 .. a5 })
 *
 * Everything from START to COMMIT begins again at AGAIN when the kernel preempts, migrates or signals the
 * thread in between while rseq_cs names this descriptor. rseq_cs is left standing behind the commit. The
 * kernel clears it when it switches or signals the thread anywhere else, so that "still set" says: the
 * clock has been read since we came here. Three things make that true. The test itself is inside the
 * sequence; arming is too, so that whoever is interrupted right behind it begins again; and every way out
 * but the commit takes rseq_cs back.
 *
 * It does not say where we are: Linux 6.19 and later do not clear it where a thread was switched inside a
 * system call, also when it comes back on another CPU (include/linux/rseq_entry.h: rseq_update_usr()
 * stores the new cpu_id and is done where no interrupt came from user mode). So cpu_id, which is always
 * up to date, is compared with the CPU of here for each event, inside the sequence. Back on the same CPU
 * there, a repeated time may be as old as the system call. It never runs backwards in a ring whatever
 * rseq_cs says: what others recorded has left its time in ring.last, which each sequence that writes to a
 * ring stores. vfork(2) and fork(2) clear here.geom, which no ring that is open has.
 *
 * AHEAD: while the clock is read there is time to fetch a line that is needed a few events later. Where the
 * other core has emptied the cache they share, that takes a single stack from 340 to 150 ns at p99.99
 * (make bench). It may lie behind the ring, in the ring's own second area; nothing is stored there.
 *
 * clock is control.clock_slots, (k - 1) << 1, so that head & clock is 0 at each k-th slot, and always
 * where k is 1. Stores become visible in program order, so no fence is needed.
 *
 * The path without restartable sequences, as record_own() in ktr/record.c:
 *	own:	  if not self.own or self.nest >= KTR_LEVELS: goto cold
 *		  self.frame[self.nest] = stack pointer
 *		  level = &self.level[0][self.nest++]
 *		  if not level.geom or level.geom != level.ring.geom: goto leave
 *		  cpu = RDPID, or level.cpu, which is renewed (in C) for every 64th event
 *		  to = level.base + (level.ring.head * 32 & level.mask), prefetch to + AHEAD
 *		  to.meta = cpu << 51 | self.row << 32 | site.plain; to.arg[] = a0 .. a5
 *		  to.time = ticks()
 *		  text as above
 *		  level.ring.head = next		we are its only writer; TSO is release enough
 *		  self.nest--
 *		  return
 *	leave:	  self.nest--; goto cold
 * nest changes by one instruction each time: a handler that comes in between leaves it as it was.
 *
 * Registers, all of them ones a call may change. The arguments stay in theirs throughout, so that abort,
 * disarm and cold find them: rsi a0, xmm1 a1, rcx a2, r8 a3, r9 a4, xmm0 a5; the site is in xmm2.
 * A text is in xmm3 to xmm5, padded with zeros, its length in xmm6: read once, and never from memory where
 * it was stored a moment ago in other pieces. What lies behind its end may be read, in its page, and goes
 * no further.
 *	rdi	site; then meta, bit 31: there is a text
 *	rax	control, for its clock; then the new head, which xmm7 keeps while the clock is read
 *	rdx	rseq.cpu_id; then geom; then head, then to
 *	r10	rseq's offset from the thread pointer; then the ring
 *	r11	&descriptor; then the offset of self (own: of level) from the thread pointer; then the time
 * No stack is used but by cold.
 */
#if defined(__x86_64__) && !defined(__ILP32__) && !KTR_TSAN
#include "ktr/arch/offsets.h"

#define AHEAD		      512 /* [bytes] eight slots */
#define REC(offset)	      ktr__rec + offset(%rip)
#define SELF(offset, tls)     %fs:offset(tls)
#define HERE(field, tls)      %fs:SELF_HERE + field(tls)
#define LOAD_SELF(to)	      movq ktr__self@gottpoff(%rip), to

/* rdx = rdx * 32 & mask + base: from head to the slot. place is an offset from the thread pointer. */
#define SLOT(offset, place)                                                                      \
	shlq	$5, %rdx;                                                                        \
	andq	%fs:offset + PLACE_MASK(place), %rdx;                                            \
	addq	%fs:offset + PLACE_BASE(place), %rdx

/* The arguments into the slot at rdx. */
#define STORE_ARGS                                                                               \
	movq	%rsi, 16(%rdx);                                                                  \
	movq	%xmm1, 24(%rdx);                                                                 \
	movq	%rcx, 32(%rdx);                                                                  \
	movq	%r8, 40(%rdx);                                                                   \
	movq	%r9, 48(%rdx);                                                                   \
	movq	%xmm0, 56(%rdx)

/*
 * The second slot of an event with a text. In: rdx first slot, r10 ring, rax its head + 2, rdi the place's
 * offset from the thread pointer, less `offset`. Out: rax the next head. Clobbers rdx, rdi, r11.
 */
#define STORE_TEXT(offset)                                                                       \
	movq	%rax, %r11;                                                                      \
	shlq	$5, %r11;                                                                        \
	andq	%fs:offset + PLACE_MASK(%rdi), %r11;                                             \
	addq	%fs:offset + PLACE_BASE(%rdi), %r11;                                             \
	STORE_ARGS;                                                                              \
	movq	%xmm2, %rdi;                                                                     \
	movzbl	SITE_STRING_AT(%rdi), %edi;                                                      \
	movq	%xmm6, 16(%rdx,%rdi,8);                                                          \
	movups	%xmm3, 8(%r11);                                                                  \
	movups	%xmm4, 24(%r11);                                                                 \
	movups	%xmm5, 40(%r11);                                                                 \
	movq	$0, 56(%r11);                                                                    \
	movl	%eax, %edi;                                                                      \
	andl	$1, %edi;                                                                        \
	movq	RING_CONT(%r10,%rdi,8), %rdx;                                                    \
	btsq	$63, %rdx;                                                                       \
	movq	%rdx, (%r11);                                                                    \
	incq	%rdx;                                                                            \
	btrq	$63, %rdx;                                                                       \
	xorl	$1, %edi;                                                                        \
	movq	%rdx, RING_CONT(%r10,%rdi,8);                                                    \
	addq	$2, %rax;                                                                        \
	xorq	$1, %rax

/*
 * A piece of a text that ends in it, at the lowest bit of eax: its end is cut off. Out: edx where it ends.
 * Clobbers r10, xmm6.
 */
#define CUT_TEXT(piece)                                                                          \
	rep; bsfl %eax, %edx;                                                                      \
	leaq	.Lbelow + 16(%rip), %r10;                                                        \
	subq	%rdx, %r10;                                                                      \
	movdqu	(%r10), %xmm6;                                                                   \
	pand	%xmm6, piece

/* rax = the time. Clobbers rdx. */
#define TICKS                                                                                    \
	rdtsc;                                                                                   \
	shlq	$32, %rdx;                                                                       \
	orq	%rdx, %rax

#define DOOR(name)                                                                               \
	.globl	name;                                                                            \
	.type	name, @function;                                                                 \
	name:

	.text
	.p2align 6
DOOR(ktr__record0)
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
	jmp	1f
	.p2align 5
DOOR(ktr__record6)
	.cfi_startproc
	movq	8(%rsp), %xmm0
1:	movq	%rdx, %xmm1
	movq	%rdi, %xmm2
.Lagain:
	movq	REC(REC_CONTROL), %rax
	movq	CONTROL_SPECIAL(%rax), %r10
	testq	%r10, SITE_MASK(%rdi)
	jnz	.Lcold
	movl	SITE_PLAIN(%rdi), %r11d
	movq	REC(REC_SITE_CTL), %r10
	cmpb	$0, (%r10,%r11)
	jne	.Lpayload
	movl	%r11d, %edi
	leaq	ktr__record_cs(%rip), %r11
	movq	REC(REC_RSEQ_OFFSET), %r10
.Lstart:
	cmpq	%r11, %fs:RSEQ_CS(%r10)
	jne	.Larm
	LOAD_SELF(%r11)
	movl	%fs:RSEQ_CPU(%r10), %edx
	cmpl	%edx, SELF(SELF_HERE_CPU, %r11)
	jne	.Lmoved
	movq	HERE(PLACE_RING, %r11), %r10
	movq	HERE(PLACE_GEOM, %r11), %rdx
.Ljoin:
	cmpq	RING_GEOM(%r10), %rdx
	jne	.Ldisarm
	movq	RING_HEAD(%r10), %rdx
	testl	%edx, CONTROL_CLOCK(%rax)
	leaq	2(%rdx), %rax
	jnz	.Lrepeat
	movq	%rax, %xmm7
	SLOT(SELF_HERE, %r11)
	orq	SELF(SELF_ARMED, %r11), %rdi
	movq	%rdx, %r11
	prefetchw AHEAD(%rdx)
	TICKS
	movq	%r11, %rdx
	movq	%rax, (%rdx)
	btsq	$TIME_APPROX_BIT, %rax
	movq	%rax, RING_LAST(%r10)
	movq	%xmm7, %rax
	btrq	$31, %rdi
	jnc	.Lfill
	movq	%rdi, 8(%rdx)
	LOAD_SELF(%rdi)
	STORE_TEXT(SELF_HERE)
	jmp	.Lcommit
.Lmoved:
	movq	$0, %fs:RSEQ_CS(%r10)
	leaq	ktr__record_cs(%rip), %r11
.Larm:
	LOAD_SELF(%rdx)
	cmpq	$0, SELF(SELF_ARMED, %rdx)
	je	.Lown
	movq	%r11, %fs:RSEQ_CS(%r10)
	movl	%fs:RSEQ_CPU(%r10), %r10d
	cmpl	%r10d, REC(REC_N_RINGS)
	jbe	.Ldisarm
	movl	%r10d, SELF(SELF_HERE_CPU, %rdx)
	movq	REC(REC_VIEWS), %r11
	movq	(%r11,%r10,8), %r11
	shlq	$RING_SHIFT, %r10
	addq	REC(REC_RINGS), %r10
	movq	%r10, HERE(PLACE_RING, %rdx)
	movq	VIEW_BASE(%r11), %rax
	movq	%rax, HERE(PLACE_BASE, %rdx)
	movq	VIEW_MASK(%r11), %rax
	movq	%rax, HERE(PLACE_MASK, %rdx)
	movq	VIEW_GEOM(%r11), %rax
	movq	%rax, HERE(PLACE_GEOM, %rdx)
	movq	%rdx, %r11
	movq	%rax, %rdx
	leaq	ktr__record_cs - CONTROL_CLOCK(%rip), %rax	/* a clock of 0: the descriptor's version */
	jmp	.Ljoin
.Lrepeat:
	SLOT(SELF_HERE, %r11)
	orq	SELF(SELF_ARMED, %r11), %rdi
	movq	RING_LAST(%r10), %r11
	movq	%r11, (%rdx)
.Lfill:
	movq	%rdi, 8(%rdx)
	STORE_ARGS
.Lcommit:
	movq	%rax, RING_HEAD(%r10)
.Lend:
	ret

.Lpayload:
	testb	$SITE_STRING | SITE_STACK, SITE_FLAGS(%rdi)
	jz	.Lcold
	cmpq	$0, SITE_MASK(%rdi)
	je	.Lcold
	movl	SITE_ID(%rdi), %r11d
	cmpb	$0, (%r10,%r11)
	jne	.Lcold
	testb	$SITE_STACK, SITE_FLAGS(%rdi)
	jnz	.Lstack
	movzbl	SITE_STRING_AT(%rdi), %eax
	movq	%rsi, %r10
	testl	%eax, %eax
	jnz	.Lother
.Ltext:
	testq	%r10, %r10
	jz	.Lcold
	movl	%r10d, %eax
	andl	$4095, %eax
	cmpl	$4096 - 48, %eax
	ja	.Lcold
	pxor	%xmm4, %xmm4
	pxor	%xmm5, %xmm5
	movdqu	(%r10), %xmm3
	movdqa	%xmm3, %xmm6
	pcmpeqb	%xmm4, %xmm6
	pmovmskb %xmm6, %eax
	testl	%eax, %eax
	jz	.Lsecond
	CUT_TEXT(%xmm3)
	jmp	.Lmeasured
.Lsecond:
	movdqu	16(%r10), %xmm4
	movdqa	%xmm4, %xmm6
	pcmpeqb	%xmm5, %xmm6
	pmovmskb %xmm6, %eax
	testl	%eax, %eax
	jz	.Lthird
	CUT_TEXT(%xmm4)
	addl	$16, %edx
.Lmeasured:
	movd	%edx, %xmm6
.Lloaded:
	movl	%r11d, %edi
	btsl	$31, %edi
	leaq	ktr__record_cs(%rip), %r11
	leaq	ktr__record_cs - CONTROL_CLOCK(%rip), %rax
	movq	REC(REC_RSEQ_OFFSET), %r10
	jmp	.Lstart
.Lthird:
	movdqu	32(%r10), %xmm6
	pcmpeqb	%xmm6, %xmm5
	pmovmskb %xmm5, %eax
	movdqa	%xmm6, %xmm5
	testl	%eax, %eax
	jz	.Lcold
	CUT_TEXT(%xmm5)
	addl	$32, %edx
	jmp	.Lmeasured
.Lstack:	/* in pieces of eight bytes, as they were stored a moment ago */
	cmpw	$6 * 8, STACK_WORD(%rsi)
	ja	.Lcold
	movq	STACK_PCS(%rsi), %xmm3
	movhps	STACK_PCS + 8(%rsi), %xmm3
	movq	STACK_PCS + 16(%rsi), %xmm4
	movhps	STACK_PCS + 24(%rsi), %xmm4
	movq	STACK_PCS + 32(%rsi), %xmm5
	movhps	STACK_PCS + 40(%rsi), %xmm5
	movq	STACK_WORD(%rsi), %xmm6
	jmp	.Lloaded
.Lother:	/* below the stack pointer, where no handler writes */
	movq	%xmm1, -40(%rsp)
	movq	%rcx, -32(%rsp)
	movq	%r8, -24(%rsp)
	movq	%r9, -16(%rsp)
	movq	%xmm0, -8(%rsp)
	movq	-48(%rsp,%rax,8), %r10
	jmp	.Ltext

.Lown:
	movl	SELF(SELF_NEST, %rdx), %eax
	cmpl	$0, SELF(SELF_OWN, %rdx)
	je	.Lrestore
	cmpl	$LEVELS, %eax
	jae	.Lrestore
	movq	%rsp, %fs:SELF_FRAME(%rdx,%rax,8)
	leaq	(%rax,%rax,4), %rax
	leaq	SELF_LEVEL(%rdx,%rax,8), %r11
	incl	SELF(SELF_NEST, %rdx)
	movq	%fs:PLACE_GEOM(%r11), %rax
	testq	%rax, %rax
	jz	.Lleave
	movq	%fs:PLACE_RING(%r11), %r10
	cmpq	RING_GEOM(%r10), %rax
	jne	.Lleave
	cmpl	$0, ktr__cpu_rdpid(%rip)
	je	.Lremembered
	.byte	0xf3, 0x0f, 0xc7, 0xf8				/* rdpid %rax */
	andl	$0xfff, %eax
.Lplace:
	shlq	$THREAD_BITS, %rax
	movl	SELF(SELF_ROW, %rdx), %edx
	orq	%rdx, %rax
	shlq	$32, %rax
	movl	%edi, %edx
	btrl	$31, %edx
	orq	%rdx, %rax
	movq	RING_HEAD(%r10), %rdx
	SLOT(0, %r11)
	movq	%rax, 8(%rdx)
	STORE_ARGS
	movq	%rdx, %r11
	prefetchw AHEAD(%rdx)
	TICKS
	movq	%rax, (%r11)
	testl	%edi, %edi
	js	.Lowntext
	addq	$2, RING_HEAD(%r10)
.Lowned:
	LOAD_SELF(%rdx)
	decl	SELF(SELF_NEST, %rdx)
	ret
.Lowntext:
	LOAD_SELF(%rdi)
	movl	SELF(SELF_NEST, %rdi), %eax
	leaq	(%rax,%rax,4), %rax
	leaq	SELF_LEVEL - LEVEL_BYTES(%rdi,%rax,8), %rdi
	movq	%r11, %rdx
	movq	RING_HEAD(%r10), %rax
	addq	$2, %rax
	STORE_TEXT(0)
	movq	%rax, RING_HEAD(%r10)
	jmp	.Lowned
.Lremembered:
	testb	$126, RING_HEAD(%r10)
	movl	%fs:LEVEL_CPU(%r11), %eax
	jnz	.Lplace
.Lleave:
	LOAD_SELF(%rdx)
	decl	SELF(SELF_NEST, %rdx)
	jmp	.Lrestore

	/* The signature before an abort handler (glibc: RSEQ_SIG), in an instruction that traps. */
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053
.Labort:
	movq	%xmm2, %rdi
	jmp	.Lagain

.Ldisarm:
	movq	REC(REC_RSEQ_OFFSET), %r10
	movq	$0, %fs:RSEQ_CS(%r10)
.Lrestore:
	movq	%xmm2, %rdi
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
	.cfi_endproc
	.size	ktr__record0, . - ktr__record0
	.size	ktr__record1, . - ktr__record1
	.size	ktr__record2, . - ktr__record2
	.size	ktr__record3, . - ktr__record3
	.size	ktr__record4, . - ktr__record4
	.size	ktr__record5, . - ktr__record5
	.size	ktr__record6, . - ktr__record6

/* Loaded from 16 - n on: the first n bytes all ones, the others zero. */
	.section .rodata.ktr__record, "a"
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
	.section .note.GNU-stack, "", %progbits
