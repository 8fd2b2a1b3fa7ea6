/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vfork(2) with a note for the recorder.
 *
 * A vfork child runs on its parent's memory, thread-local data included, but the kernel has taken the
 * registration for restartable sequences from it: it could be preempted in the middle of an entry and
 * nobody would restart it. So the child's events are dropped and counted, by a mark in the thread's
 * state that stands while the child runs; the parent is suspended meanwhile. The mark is set here
 * because C cannot wrap a function that returns twice.
 *
 *	ktr__self.in_vfork++			first: a handler in between must not arm again
 *	ktr__self.armed = 0; ktr__self.own = 0
 *	ktr__self.here.geom = 0; ktr__self.here_cpu = SELF_NOWHERE
 *	pid = vfork()				the return address waits in a register: the child's
 *						return overwrites it on the shared stack
 *	if pid != 0: ktr__self.in_vfork--	the parent, also when the call failed
 *	if pid < 0: errno = -pid; pid = -1
 *
 * The mark is a count, for a child may call vfork(2) in its turn, and so may a handler that comes between any
 * two of these lines: the outer child still does not record when the inner one has ended. Whoever counts up
 * counts down, but for children; theirs is their parent's memory, where the parent does it. A child of
 * fork(2) that was made by one of vfork(2) keeps the count: it has no registration either, which fork inherits.
 *
 * From Linux 6.19 on rseq_cs may still name the recorder's sequence in the child. here_cpu is no CPU then, so that
 * the sequence is left before it looks at any ring.
 *
 * On x86-64, as in glibc's vfork, the address is taken off the stack and pushed back. A shadow stack, where
 * there is one, is shared like the stack: had the child taken the address from it, its next call would
 * overwrite what the parent returns by. So it goes back by a jump, and its shadow stack stays one entry too
 * deep, which only a return from vfork's caller would notice, and children must not do that (glibc:
 * sysdeps/unix/sysv/linux/x86_64/vfork.S since "x86/CET: Update vfork to prevent child return", 2020).
 * rdsspq does nothing where there is no shadow stack.
 *
 * On AArch64 the address is in x30 all the time: it is never stored,
 * so there is nothing to sign, and the note at the end may promise pointer authentication as well
 * as the landing pad. It does not promise a guarded control stack, from which the child takes its
 * parent's entry.
 */
#include "ktr/arch/offsets.h"

#if defined(__x86_64__) && !defined(__ILP32__)
	.text
	.globl	vfork
	.type	vfork, @function
	.p2align 4
vfork:
	.cfi_startproc
	movq	ktr__self@gottpoff(%rip), %rdx
	xorl	%eax, %eax
	incl	%fs:SELF_IN_VFORK(%rdx)
	movq	%rax, %fs:SELF_ARMED(%rdx)
	movq	%rax, %fs:SELF_OWN(%rdx)
	movq	%rax, %fs:SELF_HERE + PLACE_GEOM(%rdx)
	movl	$SELF_NOWHERE, %fs:SELF_HERE_CPU(%rdx)
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	movl	$58, %eax
	syscall
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rip, -8	/* .cfi_restore means "nowhere" to libgcc */
	testq	%rax, %rax
	jz	2f
	decl	%fs:SELF_IN_VFORK(%rdx)
	cmpq	$-4095, %rax
	jae	3f
1:	ret
2:	xorl	%esi, %esi
	rdsspq	%rsi
	testq	%rsi, %rsi
	jz	1b
	.cfi_remember_state
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	jmp	*%rdi
	.cfi_restore_state
3:	negl	%eax
	movl	%eax, %edi
	subq	$8, %rsp
	.cfi_def_cfa_offset 16	/* in numbers: LLVM 14 counts on from before .cfi_restore_state */
	call	ktr__vfork_failed
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	vfork, . - vfork

#elif defined(__aarch64__) && !defined(__ILP32__)
/*
 * x2 is &ktr__self. The kernel returns to both sides with all registers but x0 as they were. A
 * failed call ends in ktr__vfork_failed(), which returns for it.
 */
	.text
	.globl	vfork
	.type	vfork, %function
	.p2align 4
vfork:
	.cfi_startproc
	hint	#34			/* bti c: may be called through a pointer */
	mrs	x2, tpidr_el0
	adrp	x3, :gottprel:ktr__self
	ldr	x3, [x3, :gottprel_lo12:ktr__self]
	add	x2, x2, x3
	ldr	w3, [x2, #SELF_IN_VFORK]
	add	w3, w3, #1
	str	w3, [x2, #SELF_IN_VFORK]
	str	xzr, [x2, #SELF_ARMED]
	str	xzr, [x2, #SELF_OWN]
	str	xzr, [x2, #SELF_HERE + PLACE_GEOM]
	mov	w3, #SELF_NOWHERE
	str	w3, [x2, #SELF_HERE_CPU]
	mov	x0, #0x4111		/* CLONE_VM | CLONE_VFORK | SIGCHLD */
	mov	x1, #0			/* on the same stack */
	mov	x8, #220		/* clone */
	svc	#0
	cbz	x0, 1f
	ldr	w3, [x2, #SELF_IN_VFORK]
	sub	w3, w3, #1
	str	w3, [x2, #SELF_IN_VFORK]
	cmn	x0, #4095
	b.hs	2f
1:	ret
2:	neg	w0, w0
	b	ktr__vfork_failed
	.cfi_endproc
	.size	vfork, . - vfork
#endif

#include "ktr/arch/property.h"
