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

#include "ktr/provider/fbt/usual.h"

#define WORDS 64 /* [bytes] that are pushed */
#define ROOM  80 /* below them */
#define ALL   144

/* From the stack pointer then. */
#define RBP   0
#define RET   8
#define R11   16
#define XMM   24
#define BODY  72

/* As those of usual.h; r11 lies where the stub has put it. */
#define BELOW_BODY    -56
#define BELOW_OLD_R11 KEPT_USUAL - 128
#define BELOW_R10     -40
#define BELOW_R11     -48

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

#define ENTER                                                                                    \
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
	movq	%rax, RET(%rsp)

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
	KEEP_USUAL
	usual_entry .Lreturns, .Lunusual
	movq	BELOW_FUNCTION(%rsp), %r11
	movq	FUNCTION_BODY(%r11), %r10
	movq	%r10, BELOW_BODY(%rsp)
	movq	BELOW_OLD_R11(%rsp), %r11
	.cfi_remember_state
	BACK_USUAL
	notrack jmp *BELOW_BODY - KEPT_USUAL(%rsp)
.Lunusual:
	.cfi_restore_state
	.cfi_def_cfa_offset 8 + KEPT_USUAL
	movq	BELOW_FUNCTION(%rsp), %r11
	.cfi_remember_state
	BACK_USUAL
	jmp	ktr__plain_unusual
	.p2align 4
.Lreturns:
	.cfi_restore_state
	.cfi_def_cfa_offset 8 + KEPT_USUAL
	usual_scope .Lunusual
	movq	BELOW_RECORD(%rsp), %r11
	movq	%rbx, RECORD_RBX(%r11)
	movq	%r11, %rbx
	CFI_RBX_IN_RECORD
	movq	BELOW_FUNCTION(%rsp), %r11
	movq	FUNCTION_BODY(%r11), %r10
	movq	%r10, BODY - ALL + KEPT_USUAL(%rsp)
	movq	BELOW_OLD_R11(%rsp), %r11
	BACK_USUAL
	.cfi_endproc

	/* The body at BODY - ALL is called for who called the function, with its record in rbx. */
.Lbody:
	.cfi_startproc
	.cfi_personality 0x1b, ktr__fbt_personality
	CFI_RBX_IN_RECORD
	CFI_RET_IN_RECORD
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	notrack call *BODY - ALL - 8(%rsp)
	.globl	ktr__plain_returned
	.hidden	ktr__plain_returned
ktr__plain_returned:
	PUSH(RECORD_RET(%rbx))
	PUSH(%rax)
	PUSH(%rdx)
	PUSH(%rdi)
	movups	%xmm2, BELOW_XMM2(%rsp)
	movq	%r10, BELOW_R10(%rsp)
	movq	%r11, BELOW_R11(%rsp)
	usual_return .Lleft
	movups	BELOW_XMM2(%rsp), %xmm2
	movq	BELOW_R10(%rsp), %r10
	movq	BELOW_R11(%rsp), %r11
	.cfi_remember_state
	POP(%rdi)
.Lback:
	POP(%rdx)
	POP(%rax)
	/* From its place on the stack again, for rbx is the caller's. */
	.cfi_offset 16, -8
	movq	RECORD_RBX(%rbx), %rbx
	.cfi_restore 3
	ret

.Lleft:
	.cfi_restore_state
	.cfi_def_cfa_offset 32
	movups	BELOW_XMM2(%rsp), %xmm2
	movq	BELOW_R10(%rsp), %r10
	movq	BELOW_R11(%rsp), %r11
	POP(%rdi)
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
	jmp	.Lback
	.cfi_endproc
	.size	ktr__plain_trampoline, . - ktr__plain_trampoline

/* The function is in r11, and anything may be: what is usual is told of above. */
	.type	ktr__plain_unusual, @function
	.balign	64
ktr__plain_unusual:
	.cfi_startproc
	ENTER
	movq	%r11, %rdi
	leaq	ALL(%rsp), %rsi
	CALL(ktr__fbt_entered)
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
	jmp	.Lbody
	.cfi_endproc
	.size	ktr__plain_unusual, . - ktr__plain_unusual

/* The same while a filter is on: it goes on there. */
	.globl	ktr__plain_trampoline_filtered
	.hidden	ktr__plain_trampoline_filtered
	.type	ktr__plain_trampoline_filtered, @function
ktr__plain_trampoline_filtered:
	.cfi_startproc
	ENTER
	find_function
	movq	%rdx, %rdi
	leaq	ALL(%rsp), %rsi
	CALL(ktr__fbt_entered_filtered)
	jmp	.Lentered
	.cfi_endproc
	.size	ktr__plain_trampoline_filtered, . - ktr__plain_trampoline_filtered

#endif

#include "ktr/arch/property.h"
