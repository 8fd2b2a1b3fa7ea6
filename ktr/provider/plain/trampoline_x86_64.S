/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trampoline of functions that were not built to be probed; ktr/provider/fbt/trampoline_x86_64.S says how it
 * goes. What is different:
 *
 *	the compiler did not know that anything comes between a call and a function, so it may count on registers
 *	that the function leaves alone (gcc's -fipa-ra), when it is called and when it returns: all are kept
 *	for the same reason the stack may not be aligned (-fipa-stack-alignment)
 *	r11 comes at -128(%rsp), where the stub has put it, and the body is jumped to by way of the stack
 *
 * What is kept lies where it does there, as far as it does; then, by the place of the return address:
 *
 *	-128	r11
 *	-136	the return address
 *	-144	rbp, and what it points to meanwhile: for who goes along frames
 */
#if defined(__x86_64__) && !defined(__ILP32__)

#define RECORD_RET 0
#define RECORD_RBX 8

/* The return address is at 0(%rbx), the caller's rbx at 8(%rbx): DW_CFA_expression, DW_OP_breg3. */
#define CFI_RET_IN_RECORD .cfi_escape 0x10, 0x10, 2, 0x73, RECORD_RET
#define CFI_RBX_IN_RECORD .cfi_escape 0x10, 0x03, 2, 0x73, RECORD_RBX

#define PUSH(reg)                                                                                \
	pushq	reg;                                                                             \
	.cfi_adjust_cfa_offset 8

#define POP(reg)                                                                                 \
	popq	reg;                                                                             \
	.cfi_adjust_cfa_offset -8

#define WORDS 64 /* [bytes] that are pushed */
#define ROOM  80 /* below them */
#define ALL   144

/* From the stack pointer then. */
#define RBP   0
#define RET   8
#define R11   16
#define XMM   24
#define BODY  72

/* Calls a function of two arguments, on a stack that is aligned. */
#define CALL(function)                                                                           \
	movq	%rbp, RBP(%rsp);                                                                 \
	.cfi_offset 6, -ALL - 8;                                                                 \
	movq	%rsp, %rbp;                                                                      \
	.cfi_def_cfa_register 6;                                                                 \
	andq	$-16, %rsp;                                                                      \
	call	function;                                                                        \
	movq	%rbp, %rsp;                                                                      \
	.cfi_def_cfa_register 7;                                                                 \
	movq	RBP(%rsp), %rbp;                                                                 \
	.cfi_restore 6

#define ENTER(function)                                                                          \
	endbr64;                                                                                 \
	PUSH(%r10);                                                                              \
	PUSH(%rax);                                                                              \
	PUSH(%r9);                                                                               \
	PUSH(%r8);                                                                               \
	PUSH(%rcx);                                                                              \
	PUSH(%rdx);                                                                              \
	PUSH(%rsi);                                                                              \
	PUSH(%rdi);                                                                              \
	subq	$ROOM, %rsp;                                                                     \
	.cfi_adjust_cfa_offset ROOM;                                                             \
	movups	%xmm0, XMM(%rsp);                                                                \
	movups	%xmm1, XMM + 16(%rsp);                                                           \
	movups	%xmm2, XMM + 32(%rsp);                                                           \
	movq	ALL(%rsp), %rax;                                                                 \
	movq	%rax, RET(%rsp);                                                                 \
	movl	%r11d, %edi;                                                                     \
	leaq	ALL(%rsp), %rsi;                                                                 \
	CALL(function)

#define LEAVE                                                                                    \
	addq	$ROOM, %rsp;                                                                     \
	.cfi_adjust_cfa_offset -ROOM;                                                            \
	POP(%rdi);                                                                               \
	POP(%rsi);                                                                               \
	POP(%rdx);                                                                               \
	POP(%rcx);                                                                               \
	POP(%r8);                                                                                \
	POP(%r9);                                                                                \
	POP(%rax);                                                                               \
	POP(%r10)

	.text
	.globl	ktr__plain_trampoline
	.hidden	ktr__plain_trampoline
	.type	ktr__plain_trampoline, @function
	.balign	64
ktr__plain_trampoline:
	.cfi_startproc
	.cfi_personality 0x1b, ktr__fbt_personality
	ENTER(ktr__fbt_entered)
.Lentered:
	movq	%rdx, BODY(%rsp)
	movups	XMM(%rsp), %xmm0
	movups	XMM + 16(%rsp), %xmm1
	movups	XMM + 32(%rsp), %xmm2
	movq	R11(%rsp), %r11
	testq	%rax, %rax
	jnz	.Lcall
	.cfi_remember_state
	LEAVE
	notrack jmp *BODY - ALL(%rsp)

.Lcall:
	/* In full: clang's assembler before 15 goes on from where it was. */
	.cfi_restore_state
	.cfi_def_cfa_offset 8 + ALL
	/* A record that is in rbx goes on; what it holds stays. */
	cmpq	%rax, %rbx
	je	.Lagain
	movq	%rbx, RECORD_RBX(%rax)
	movq	%rax, %rbx
	CFI_RBX_IN_RECORD
.Lagain:
	CFI_RET_IN_RECORD
	LEAVE
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	notrack call *BODY - ALL - 8(%rsp)
	.globl	ktr__plain_returned
	.hidden	ktr__plain_returned
ktr__plain_returned:
	PUSH(RECORD_RET(%rbx))
	PUSH(%rax)
	PUSH(%rdx)
	subq	$ALL - 16, %rsp
	.cfi_adjust_cfa_offset ALL - 16
	movups	%xmm0, ALL - 56(%rsp)
	movups	%xmm1, ALL - 40(%rsp)
	movups	%xmm2, ALL - 72(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%rsi, 24(%rsp)
	movq	%rdi, 32(%rsp)
	movq	%r8, 40(%rsp)
	movq	%r9, 48(%rsp)
	movq	%r10, 56(%rsp)
	movq	%r11, 64(%rsp)
	movq	RECORD_RET(%rbx), %rax
	movq	%rax, RET(%rsp)
	movq	%rbx, %rdi
	leaq	ALL(%rsp), %rsi
	CALL(ktr__fbt_left)
	movups	ALL - 56(%rsp), %xmm0
	movups	ALL - 40(%rsp), %xmm1
	movups	ALL - 72(%rsp), %xmm2
	movq	16(%rsp), %rcx
	movq	24(%rsp), %rsi
	movq	32(%rsp), %rdi
	movq	40(%rsp), %r8
	movq	48(%rsp), %r9
	movq	56(%rsp), %r10
	movq	64(%rsp), %r11
	addq	$ALL - 16, %rsp
	.cfi_adjust_cfa_offset 16 - ALL
	POP(%rdx)
	POP(%rax)
	/* From its place on the stack again, for rbx is the caller's. */
	.cfi_offset 16, -8
	movq	RECORD_RBX(%rbx), %rbx
	.cfi_restore 3
	ret
	.cfi_endproc
	.size	ktr__plain_trampoline, . - ktr__plain_trampoline

/* The same while a filter is on: it goes on there. */
	.globl	ktr__plain_trampoline_filtered
	.hidden	ktr__plain_trampoline_filtered
	.type	ktr__plain_trampoline_filtered, @function
ktr__plain_trampoline_filtered:
	.cfi_startproc
	ENTER(ktr__fbt_entered_filtered)
	jmp	.Lentered
	.cfi_endproc
	.size	ktr__plain_trampoline_filtered, . - ktr__plain_trampoline_filtered

#endif

#include "ktr/arch/property.h"
