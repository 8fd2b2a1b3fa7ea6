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
 *	ktr__self.armed = 0; ktr__self.own = 0
 *	pid = vfork()				the return address waits in a register: the child's
 *						return overwrites it on the shared stack
 *	if pid != 0: ktr__self.in_vfork = 0	the parent, also when the call failed
 *	if pid < 0: errno = -pid; pid = -1
 *
 * As in glibc's vfork the address is taken off the stack and pushed back, so this file does not promise
 * shadow-stack support.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
	.text
	.globl	vfork
	.type	vfork, @function
	.p2align 4
vfork:
	movq	ktr__self@gottpoff(%rip), %rdx
	movl	$1, %fs:8(%rdx)
	movq	$0, %fs:(%rdx)
	movl	$0, %fs:20(%rdx)
	popq	%rdi
	movl	$58, %eax
	syscall
	pushq	%rdi
	testq	%rax, %rax
	jz	1f
	movq	ktr__self@gottpoff(%rip), %rdx
	movl	$0, %fs:8(%rdx)
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
#endif
	.section .note.GNU-stack, "", %progbits
