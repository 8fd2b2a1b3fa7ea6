/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where functions go first whose calls are counted: ktr/provider/fbt/trampoline_x86_64.S says how they come here,
 * with their number in r11. The place of a call is looked for among four by the two addresses; what is not there
 * is left to ktr__arcs_count(). A count is one instruction, so that a handler of a signal loses none. Whatever
 * may carry an argument is kept below the stack pointer, where no handler writes.
 *
 *	-16 rax		-24 rdx		-32 rdi		-40 rcx		-48 the number
 */
#if defined(__x86_64__) && !defined(__ILP32__)

#include "ktr/provider/arcs/arcs.h"
#include "ktr/provider/fbt/usual.h"

#define FRAME	   88 /* [bytes] of a call: what is below, and six words more */
#define NOT_COUNTED ~8 /* bits of a function's wanted but KTR__FBT_COUNTED */

	.macro	counting, next
	.cfi_startproc
	movq	%rax, -16(%rsp)
	movq	%rdx, -24(%rsp)
	movq	%rdi, -32(%rsp)
	movq	%rcx, -40(%rsp)
	movl	%r11d, -48(%rsp)
	find_function
	movq	ktr__arcs_self@gottpoff(%rip), %rax
	movq	FUNCTION_BODY(%rdx), %r11
	movl	ktr__arcs_gate(%rip), %ecx
	movq	(%rsp), %rdi
	cmpl	%ecx, %fs:ARCS_EPOCH(%rax)
	jne	.Lcall\@
	leaq	(%rdi,%r11), %rcx
	andq	%fs:ARCS_MASK(%rax), %rcx
	shlq	$ARC_SHIFT, %rcx
	addq	%fs:ARCS_SLOTS(%rax), %rcx
	cmpq	%rdi, ARC_FROM(%rcx)
	jne	.Lfurther\@
	cmpq	%r11, ARC_TO(%rcx)
	jne	.Lfurther\@
.Lfound\@:
	incq	ARC_N(%rcx)
.Lon\@:
	testl	$NOT_COUNTED, FUNCTION_WANTED(%rdx)
	jnz	.Lnext\@
	movq	-40(%rsp), %rcx
	movq	-32(%rsp), %rdi
	movq	-24(%rsp), %rdx
	movq	-16(%rsp), %rax
	notrack jmp *%r11
.Lnext\@:
	movl	-48(%rsp), %r11d
	movq	-40(%rsp), %rcx
	movq	-32(%rsp), %rdi
	movq	-24(%rsp), %rdx
	movq	-16(%rsp), %rax
	jmp	\next
.Lfurther\@:
	.rept	ARCS_BUCKET - 1
	addq	$1 << ARC_SHIFT, %rcx
	cmpq	%rdi, ARC_FROM(%rcx)
	jne	1f
	cmpq	%r11, ARC_TO(%rcx)
	je	.Lfound\@
1:
	.endr
.Lcall\@:
	subq	$FRAME, %rsp
	.cfi_adjust_cfa_offset FRAME
	movq	%r10, 0(%rsp)
	movq	%r9, 8(%rsp)
	movq	%r8, 16(%rsp)
	movq	%rsi, 24(%rsp)
	movq	%r11, 32(%rsp)
	movq	%rdx, 80(%rsp)
	movq	%rdi, %rsi
	movq	%rdx, %rdi
	movq	%rsp, %rdx
	call	ktr__arcs_count
	movq	0(%rsp), %r10
	movq	8(%rsp), %r9
	movq	16(%rsp), %r8
	movq	24(%rsp), %rsi
	movq	32(%rsp), %r11
	movq	80(%rsp), %rdx
	addq	$FRAME, %rsp
	.cfi_adjust_cfa_offset -FRAME
	jmp	.Lon\@
	.cfi_endproc
	.endm

	.text
	.globl	ktr__arcs_trampoline
	.hidden	ktr__arcs_trampoline
	.type	ktr__arcs_trampoline, @function
	.balign	64
ktr__arcs_trampoline:
	counting ktr__fbt_trampoline
	.size	ktr__arcs_trampoline, . - ktr__arcs_trampoline

	.globl	ktr__arcs_trampoline_filtered
	.hidden	ktr__arcs_trampoline_filtered
	.type	ktr__arcs_trampoline_filtered, @function
	.balign	64
ktr__arcs_trampoline_filtered:
	counting ktr__fbt_trampoline_filtered
	.size	ktr__arcs_trampoline_filtered, . - ktr__arcs_trampoline_filtered

#endif

#include "ktr/arch/property.h"
