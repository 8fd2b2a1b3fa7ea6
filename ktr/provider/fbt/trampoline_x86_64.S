/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a function whose probe is on goes first, and where it comes back to if its return is asked for.
 *
 *	f - 14:	mov $number, %r11d
 *		jmp *module.trampoline(%rip)	which is here
 *	f:	jmp f - 14			or, while it is off, test $-16, %al: flags mean nothing here
 *	f + 2:	...				the body
 *
 * Entry alone: ktr__fbt_entered(), and on to the body. With return: the address that the function is to return
 * to is taken from its place on the stack into a record, and the body is called, which puts the address of
 * ktr__fbt_returned into that very place. So arguments on the stack lie where they were, and each return of the
 * CPU goes where its call came from, which is what its predictor goes by, and a shadow stack would ask for. The
 * record is in rbx while the body runs, which has to keep it: that is how an unwinder finds the way
 * (.cfi_escape below: the return address is where rbx points to, the caller's rbx after it).
 *
 * A body that ends with a jump to another function that is asked for comes here again with ktr__fbt_returned in
 * the place, and rbx its record: the record then goes on as that of the other one.
 *
 * So it goes where anything is not as usual: ktr__fbt_unusual. As long as everything is, usual.h tells of it and
 * fewer registers are kept.
 *
 * While a filter is on (filter.h), modules lead to ktr__fbt_trampoline_filtered instead: what begins there ends as
 * any other does.
 *
 * All registers that may carry arguments or results are kept, where typed.c says that they are: what is pushed,
 * and in which order, is known there. Of vectors the recorder changes the lower 16 bytes of three at most
 * (ktr/arch/record_x86_64.S). The upper parts are touched by libraries alone, which ktr__fbt_entered() sees to
 * (fire.c).
 */
#if defined(__x86_64__) && !defined(__ILP32__)

#include "ktr/provider/fbt/usual.h"

#define ROOM	56 /* [bytes] three vectors, and a word */
#define BODY	48
#define WORDS	64  /* [bytes] that are pushed */

/* Everything that may carry an argument. */
#define KEEP                                                                                     \
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
	movups	%xmm0, 0(%rsp);                                                                  \
	movups	%xmm1, 16(%rsp);                                                                 \
	movups	%xmm2, 32(%rsp)

#define BACK                                                                                     \
	movq	BODY(%rsp), %r11;                                                                \
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

	.weak	_Unwind_Resume
	.text
	.globl	ktr__fbt_trampoline
	.hidden	ktr__fbt_trampoline
	.type	ktr__fbt_trampoline, @function
	.balign	64
ktr__fbt_trampoline:
	.cfi_startproc
	KEEP_USUAL
	usual_entry .Lreturns, .Lunusual
	movq	BELOW_FUNCTION(%rsp), %r11
	movq	FUNCTION_BODY(%r11), %r11
	.cfi_remember_state
	BACK_USUAL
	notrack jmp *%r11
.Lunusual:
	.cfi_restore_state
	.cfi_def_cfa_offset 8 + KEPT_USUAL
	movq	BELOW_FUNCTION(%rsp), %r11
	.cfi_remember_state
	BACK_USUAL
	jmp	ktr__fbt_unusual
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
	movq	FUNCTION_BODY(%r11), %r11
	BACK_USUAL
	.cfi_endproc

	/* The body in r11 is called for who called the function, with its record in rbx. */
.Lbody:
	.cfi_startproc
	.cfi_personality 0x1b, ktr__fbt_personality
	CFI_RBX_IN_RECORD
	CFI_RET_IN_RECORD
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	notrack call *%r11
	.globl	ktr__fbt_returned
	.hidden	ktr__fbt_returned
ktr__fbt_returned:
	PUSH(RECORD_RET(%rbx))
	PUSH(%rax)
	PUSH(%rdx)
	usual_return .Lleft
.Lback:
	.cfi_remember_state
	POP(%rdx)
	POP(%rax)
	/* From its place on the stack again, for rbx is the caller's. */
	.cfi_offset 16, -8
	movq	RECORD_RBX(%rbx), %rbx
	.cfi_restore 3
	ret

.Lleft:
	.cfi_restore_state
	.cfi_def_cfa_offset 24
	subq	$40, %rsp
	.cfi_adjust_cfa_offset 40
	movups	%xmm0, 0(%rsp)
	movups	%xmm1, 16(%rsp)
	movq	%rbx, %rdi
	leaq	56(%rsp), %rsi
	call	ktr__fbt_left
	movups	0(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	addq	$40, %rsp
	.cfi_adjust_cfa_offset -40
	jmp	.Lback

	/*
	 * An exception, in rax, has come as far as this frame, as after the call: it goes on as if the caller had
	 * called who unwinds.
	 */
	.globl	ktr__fbt_unwound
	.hidden	ktr__fbt_unwound
ktr__fbt_unwound:
	.cfi_def_cfa_offset 0
	PUSH(RECORD_RET(%rbx))
	.cfi_offset 16, -8
	PUSH(%rax)
	movq	%rbx, %rdi
	leaq	8(%rsp), %rsi
	call	ktr__fbt_thrown
	POP(%rdi)
	movq	RECORD_RBX(%rbx), %rbx
	.cfi_restore 3
	jmp	*_Unwind_Resume@GOTPCREL(%rip)
	.cfi_endproc
	.size	ktr__fbt_trampoline, . - ktr__fbt_trampoline

/* The function is in r11, and anything may be: what is usual is told of above. */
	.type	ktr__fbt_unusual, @function
	.balign	64
ktr__fbt_unusual:
	.cfi_startproc
	KEEP
	movq	%r11, %rdi
	leaq	ROOM + WORDS(%rsp), %rsi
	call	ktr__fbt_entered
.Lentered:
	movq	%rdx, BODY(%rsp)
	movups	0(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	movups	32(%rsp), %xmm2
	testq	%rax, %rax
	jnz	.Lcall
	.cfi_remember_state
	BACK
	notrack jmp *%r11
.Lcall:
	/* In full: clang's assembler before 15 goes on from where it was. */
	.cfi_restore_state
	.cfi_def_cfa_offset 8 + WORDS + ROOM
	/* A record that is in rbx goes on; what it holds stays. */
	cmpq	%rax, %rbx
	je	.Lagain
	movq	%rbx, RECORD_RBX(%rax)
	movq	%rax, %rbx
	CFI_RBX_IN_RECORD
.Lagain:
	CFI_RET_IN_RECORD
	BACK
	jmp	.Lbody
	.cfi_endproc
	.size	ktr__fbt_unusual, . - ktr__fbt_unusual

/* The same while a filter is on: it goes on there. */
	.globl	ktr__fbt_trampoline_filtered
	.hidden	ktr__fbt_trampoline_filtered
	.type	ktr__fbt_trampoline_filtered, @function
ktr__fbt_trampoline_filtered:
	.cfi_startproc
	KEEP
	find_function
	movq	%rdx, %rdi
	leaq	ROOM + WORDS(%rsp), %rsi
	call	ktr__fbt_entered_filtered
	jmp	.Lentered
	.cfi_endproc
	.size	ktr__fbt_trampoline_filtered, . - ktr__fbt_trampoline_filtered

/*
 * ktr__fbt_wide(call, context, mask): makes the call with the upper parts of all vectors kept, those that the
 * mask of XCR0 says. XSAVE wants 64 bytes of alignment; its header, 512 bytes in, has to be zero where it is
 * not written.
 */
#define WIDE_ROOM 2816

	.globl	ktr__fbt_wide
	.hidden	ktr__fbt_wide
	.type	ktr__fbt_wide, @function
ktr__fbt_wide:
	.cfi_startproc
	endbr64
	PUSH(%rbp)
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	PUSH(%rbx)
	.cfi_offset 3, -24
	PUSH(%r12)
	.cfi_offset 12, -32
	subq	$WIDE_ROOM, %rsp
	andq	$-64, %rsp
	movl	%edx, %ebx
	movq	%rdi, %r12
	xorl	%eax, %eax
	movq	%rax, 512(%rsp)
	movq	%rax, 520(%rsp)
	movq	%rax, 528(%rsp)
	movq	%rax, 536(%rsp)
	movq	%rax, 544(%rsp)
	movq	%rax, 552(%rsp)
	movq	%rax, 560(%rsp)
	movq	%rax, 568(%rsp)
	movl	%ebx, %eax
	xorl	%edx, %edx
	xsave	(%rsp)
	movq	%rsi, %rdi
	call	*%r12
	movl	%ebx, %eax
	xorl	%edx, %edx
	xrstor	(%rsp)
	leaq	-16(%rbp), %rsp
	POP(%r12)
	POP(%rbx)
	popq	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size	ktr__fbt_wide, . - ktr__fbt_wide

/*
 * ktr__fbt_low(call, context): the same with the lower 16 bytes of vectors that there are without AVX-512, all that
 * code compiled without AVX may change; XSAVE of these alone takes ten times as long. ktr__fbt_is_low: the recorder
 * is such code, for it is compiled with the options of this file.
 */
#define LOW_ROOM 256

	.section .rodata
	.globl	ktr__fbt_is_low
	.hidden	ktr__fbt_is_low
	.type	ktr__fbt_is_low, @object
ktr__fbt_is_low:
#ifdef __AVX__
	.byte	0
#else
	.byte	1
#endif
	.size	ktr__fbt_is_low, 1
	.text

	.globl	ktr__fbt_low
	.hidden	ktr__fbt_low
	.type	ktr__fbt_low, @function
ktr__fbt_low:
	.cfi_startproc
	endbr64
	subq	$LOW_ROOM + 8, %rsp
	.cfi_adjust_cfa_offset LOW_ROOM + 8
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	%xmm\n, 16 * \n(%rsp)
	.endr
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movups	16 * \n(%rsp), %xmm\n
	.endr
	addq	$LOW_ROOM + 8, %rsp
	.cfi_adjust_cfa_offset -(LOW_ROOM + 8)
	ret
	.cfi_endproc
	.size	ktr__fbt_low, . - ktr__fbt_low

#endif

#include "ktr/arch/property.h"
