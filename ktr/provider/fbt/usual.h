/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the trampolines: a function is called, or has returned, and everything is as usual. Then the event is
 * written here, for a call of C has to keep more registers. Whatever is not as usual is left to fire.c, before
 * anything has changed: there is a probe around this one, arguments are asked for, a stack has no area of records
 * yet, a class is off, or the recorder has more to do than to write an event: its own usual way
 * (ktr__record_usual() in ktr/arch/record_x86_64.S) says no then.
 *
 * Of a probe that is told of here fire.c knows nothing meanwhile, nor need it: nothing is called that could call a
 * function of the program's, and handlers of signals record what they like.
 *
 * Below the stack pointer, where no handler writes, the first word is for the call of the recorder. Where most come
 * by hardly anything jumps: a jump that is taken costs as much as four or more that are not.
 *
 * First, where the fields are that are used, in bytes; record.c holds each of them against its structure.
 */
#ifndef KTR_FBT_USUAL_H
#define KTR_FBT_USUAL_H

/* struct ktr__fbt_function, and how its number says where it is */
#define FUNCTION_BODY	0
#define FUNCTION_ENTRY	8
#define FUNCTION_RETURN 16
#define FUNCTION_SCOPE	32
#define FUNCTION_WANTED 40
#define FUNCTION_SHIFT	6
#define BLOCK_SHIFT	12

/* struct ktr_provider_probe */
#define PROBE_ON   0
#define PROBE_SITE 48

/* struct ktr__fbt_scope, whose beginning is its first */
#define SCOPE_END 136

/* struct ktr__fbt_area */
#define AREA_STACK  0
#define AREA_RECORD 64
#define STACK_SHIFT 16
#define PLACE_BITS  0xfff8 /* of its address, which say where in an area its record is */

/* struct ktr__fbt_record, as many bytes of them for each of PLACE_BITS */
#define RECORD_RET	0
#define RECORD_RBX	8
#define RECORD_FUNCTION 16
#define RECORD_BEGAN	24
#define RECORD_SCALE	4

#ifdef __ASSEMBLER__

/* From the stack pointer. */
#define BELOW_FUNCTION -16
#define BELOW_XMM2     -32
#define BELOW_RECORD   -40

/* The return address is at 0(%rbx), the caller's rbx at 8(%rbx): DW_CFA_expression, DW_OP_breg3. */
#define CFI_RET_IN_RECORD .cfi_escape 0x10, 0x10, 2, 0x73, RECORD_RET
#define CFI_RBX_IN_RECORD .cfi_escape 0x10, 0x03, 2, 0x73, RECORD_RBX

#define PUSH(reg)                                                                                \
	pushq	reg;                                                                             \
	.cfi_adjust_cfa_offset 8

#define POP(reg)                                                                                 \
	popq	reg;                                                                             \
	.cfi_adjust_cfa_offset -8

/* Registers that the recorder's usual way changes, and r11, which the number is in. */
#define KEEP_USUAL                                                                               \
	PUSH(%r10);                                                                              \
	PUSH(%rax);                                                                              \
	PUSH(%rdx);                                                                              \
	PUSH(%rdi);                                                                              \
	movups	%xmm2, BELOW_XMM2(%rsp)

#define KEPT_USUAL 32 /* [bytes] */

#define BACK_USUAL                                                                               \
	movups	BELOW_XMM2(%rsp), %xmm2;                                                         \
	POP(%rdi);                                                                               \
	POP(%rdx);                                                                               \
	POP(%rax);                                                                               \
	POP(%r10)

	/* rdx = the function whose number is in r11. Clobbers rdi, r11. */
	.macro	find_function
	movl	%r11d, %edx
	shrl	$BLOCK_SHIFT, %r11d
	andl	$(1 << BLOCK_SHIFT) - 1, %edx
	leaq	ktr__fbt_block(%rip), %rdi
	shlq	$FUNCTION_SHIFT, %rdx
	addq	(%rdi,%r11,8), %rdx
	.endm

	/* Unless there is a probe around this one. Clobbers rax. */
	.macro	unless_within, within
	movq	ktr__fbt_self@gottpoff(%rip), %rax
	cmpl	$0, %fs:(%rax)
	jne	\within
	.endm

	/* Is the probe on, whose address is in a register? Not equal, if so. Clobbers rax. */
	.macro	is_on, probe
	movq	PROBE_ON(\probe), %rax
	cmpl	$0, (%rax)
	.endm

	/* The event of the site in rdi, which is its address + 1, with a word that is in memory, or none. */
	.macro	record_usual, unusual, word
	movq	%rdi, %xmm2
	.ifnb	\word
	movhps	\word, %xmm2
	.endif
	notrack call *ktr__record_usual@GOTPCREL(%rip)
	jc	\unusual
	.endm

#if KTR_TSAN /* it has no assembly to record by */
	.macro	usual_entry, returns, unusual
	find_function
	movq	%rdx, BELOW_FUNCTION(%rsp)
	jmp	\unusual
	.endm

	.macro	usual_scope, unusual
	jmp	\unusual
	.endm

	.macro	usual_return, unusual
	jmp	\unusual
	.endm
#else
	/*
	 * The function whose number is in r11 is called, after KEEP_USUAL. Here it goes on if its entry alone is
	 * asked for; with it in rdx for usual_scope where its return is, too.
	 */
	.macro	usual_entry, returns, unusual
	find_function
	movq	%rdx, BELOW_FUNCTION(%rsp)
	unless_within \unusual
	movq	FUNCTION_ENTRY(%rdx), %rdi
	is_on	%rdi
	je	\unusual
	movq	FUNCTION_RETURN(%rdx), %r10
	is_on	%r10
	jne	\returns
	addq	$PROBE_SITE + 1, %rdi
	record_usual \unusual
	.endm

	/* Its beginning is recorded, with a record for its return. */
	.macro	usual_scope, unusual
	movq	ktr__fbt_area@gottpoff(%rip), %rax
	movq	FUNCTION_SCOPE(%rdx), %rdi
	movq	%fs:(%rax), %r10
	testq	%rdi, %rdi
	jz	\unusual
	testq	%r10, %r10
	jz	\unusual
	leaq	KEPT_USUAL(%rsp), %r11
	movq	%r11, %rax
	shrq	$STACK_SHIFT, %rax
	cmpq	%rax, AREA_STACK(%r10)
	jne	\unusual
	movl	%r11d, %eax
	andl	$PLACE_BITS, %eax
	leaq	AREA_RECORD(%r10,%rax,RECORD_SCALE), %r10
	/* What goes on in the place of another one has its record. */
	movq	(%r11), %rax
	leaq	ktr__fbt_returned(%rip), %rdx
	cmpq	%rdx, %rax
	je	\unusual
	cmpq	ktr__fbt_returned_plain(%rip), %rax
	je	\unusual
	movq	BELOW_FUNCTION(%rsp), %rdx
	movq	%rax, RECORD_RET(%r10)
	movq	%rdx, RECORD_FUNCTION(%r10)
	movq	%r11, RECORD_BEGAN(%r10)
	movq	%r10, BELOW_RECORD(%rsp)
	incq	%rdi
	record_usual \unusual, RECORD_BEGAN(%r10)
	.endm

	/*
	 * The function whose record is in rbx has returned; clobbers what the recorder does. Whether it is within a
	 * probe was found out when it was called.
	 */
	.macro	usual_return, unusual
	movq	RECORD_FUNCTION(%rbx), %rdx
	movq	FUNCTION_RETURN(%rdx), %rdi
	is_on	%rdi
	je	\unusual
	cmpq	$0, RECORD_BEGAN(%rbx)
	je	\unusual
	movq	FUNCTION_SCOPE(%rdx), %rdi
	addq	$SCOPE_END + 1, %rdi
	record_usual \unusual, RECORD_BEGAN(%rbx)
	movq	$0, RECORD_BEGAN(%rbx)
	.endm
#endif

#endif

#endif
