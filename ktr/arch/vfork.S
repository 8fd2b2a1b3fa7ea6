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
 *	ktr__self.in_vfork = 1			first: a handler in between must not arm again
 *	ktr__self.armed = 0; ktr__self.own = 0; ktr__self.here.geom = 0
 *	pid = vfork()				the return address waits in a register: the child's
 *						return overwrites it on the shared stack
 *	if pid != 0: ktr__self.in_vfork = 0	the parent, also when the call failed
 *	if pid < 0: errno = -pid; pid = -1
 *
 * On x86-64, as in glibc's vfork, the address is taken off the stack and pushed back, so this file
 * does not promise shadow-stack support. On AArch64 it is in x30 all the time: it is never stored,
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
	movq	ktr__self@gottpoff(%rip), %rdx
	movl	$1, %fs:SELF_IN_VFORK(%rdx)
	movq	$0, %fs:SELF_ARMED(%rdx)
	movq	$0, %fs:SELF_OWN(%rdx)
	movq	$0, %fs:SELF_HERE + PLACE_GEOM(%rdx)
	popq	%rdi
	movl	$58, %eax
	syscall
	pushq	%rdi
	testq	%rax, %rax
	jz	1f
	movq	ktr__self@gottpoff(%rip), %rdx
	movl	$0, %fs:SELF_IN_VFORK(%rdx)
	cmpq	$-4095, %rax
	jae	2f
1:	ret
2:	negl	%eax
	movl	%eax, %edi
	subq	$8, %rsp
	call	ktr__vfork_failed
	addq	$8, %rsp
	ret
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
	mov	w3, #1
	str	w3, [x2, #SELF_IN_VFORK]
	str	xzr, [x2, #SELF_ARMED]
	str	xzr, [x2, #SELF_OWN]
	str	xzr, [x2, #SELF_HERE + PLACE_GEOM]
	mov	x0, #0x4111		/* CLONE_VM | CLONE_VFORK | SIGCHLD */
	mov	x1, #0			/* on the same stack */
	mov	x8, #220		/* clone */
	svc	#0
	cbz	x0, 1f
	str	wzr, [x2, #SELF_IN_VFORK]
	cmn	x0, #4095
	b.hs	2f
1:	ret
2:	neg	w0, w0
	b	ktr__vfork_failed
	.cfi_endproc
	.size	vfork, . - vfork

/* ELF for the Arm 64-bit Architecture, "Program Property": BTI and PAC. */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.word	4, 16, 5
	.asciz	"GNU"
	.word	0xc0000000, 4, 3, 0
#endif
	.section .note.GNU-stack, "", %progbits
