/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs in another process until its agent does: copied there, at whatever address. rbx: its struct ktr__ask.
 *
 *	first thread	has no struct pthread of the C library's but an empty one, so it calls nothing but
 *			pthread_create(3), which needs little of that. Its table of descriptors is its own:
 *
 *			close_range(0, ~0, CLOSE_RANGE_UNSHARE)		before Linux 5.9: unshare(2), close(2)
 *			madvise(ask.base, ask.bytes, MADV_DONTFORK)
 *			unless ask.call:
 *				ask.fd = memfd_create("ktr-agent", MFD_CLOEXEC); ask.state = FILE
 *				wait until ask.state is FILLED, 5 s at most
 *			pthread_create(&ask.thread, NULL, second, &ask)
 *			exit
 *
 *	second thread	pthread_detach(self)
 *			call = ask.call ? ask.call : dlsym(dlopen(ask.path, RTLD_NOW), ask.symbol)
 *			return call(&ask)			a jump, for the agent unmaps what is here
 *
 * What fails is told by ask.code and DONE, and by ask.text where the loader has something to say.
 */
#if defined(__x86_64__)
#include "ktr/agent/ask.h"

#include <asm/unistd.h>

#define INJECT_CLOSE_RANGE 436
#define INJECT_NAPS	   5000 /* of 1 ms */

	.section .rodata
	.globl	inject_code, inject_code_end
	.hidden	inject_code, inject_code_end
	.balign	16
inject_code:
	syscall				/* clone; who has called it is stopped at its end and goes on elsewhere */
	xorl	%ebp, %ebp
	movl	$INJECT_CLOSE_RANGE, %eax
	xorl	%edi, %edi
	movl	$-1, %esi
	movl	$2, %edx
	syscall
	testl	%eax, %eax
	jz	2f
	movl	$__NR_unshare, %eax
	movl	$0x400, %edi
	syscall
	testl	%eax, %eax
	js	.Lfailed
	movl	$65535, %r12d
1:	movl	$__NR_close, %eax
	movl	%r12d, %edi
	syscall
	decl	%r12d
	jns	1b
2:	movl	$__NR_madvise, %eax
	movq	KTR__ASK_AT_BASE(%rbx), %rdi
	movq	KTR__ASK_AT_BYTES(%rbx), %rsi
	movl	$10, %edx
	syscall
	cmpq	$0, KTR__ASK_AT_CALL(%rbx)
	jne	.Lcreate
	movl	$__NR_memfd_create, %eax
	leaq	.Lname(%rip), %rdi
	movl	$1, %esi
	syscall
	testl	%eax, %eax
	js	.Lfailed
	movl	%eax, KTR__ASK_AT_FD(%rbx)
	movl	$KTR__ASK_FILE, KTR__ASK_AT_STATE(%rbx)
	movl	$INJECT_NAPS, %r12d
3:	cmpl	$KTR__ASK_FILLED, KTR__ASK_AT_STATE(%rbx)
	je	.Lcreate
	movl	$__NR_nanosleep, %eax
	leaq	.Lnap(%rip), %rdi
	xorl	%esi, %esi
	syscall
	decl	%r12d
	jnz	3b
	movl	$-110, %eax
	jmp	.Lfailed
.Lcreate:
	leaq	KTR__ASK_AT_THREAD(%rbx), %rdi
	xorl	%esi, %esi
	leaq	.Lsecond(%rip), %rdx
	movq	%rbx, %rcx
	call	*KTR__ASK_AT_CREATE(%rbx)
	negl	%eax
	jz	4f
.Lfailed:
	movl	%eax, KTR__ASK_AT_CODE(%rbx)
	movl	$KTR__ASK_DONE, KTR__ASK_AT_STATE(%rbx)
4:	movl	$__NR_exit, %eax
	xorl	%edi, %edi
	syscall

.Lsecond:
	pushq	%rbx
	movq	%rdi, %rbx
	movq	%fs:16, %rdi
	call	*KTR__ASK_AT_DETACH(%rbx)
	movq	KTR__ASK_AT_CALL(%rbx), %rax
	testq	%rax, %rax
	jnz	5f
	leaq	KTR__ASK_AT_PATH(%rbx), %rdi
	movl	$2, %esi
	call	*KTR__ASK_AT_DLOPEN(%rbx)
	testq	%rax, %rax
	jz	6f
	movq	%rax, %rdi
	leaq	KTR__ASK_AT_SYMBOL(%rbx), %rsi
	call	*KTR__ASK_AT_DLSYM(%rbx)
	testq	%rax, %rax
	jz	6f
5:	movq	%rbx, %rdi
	popq	%rbx
	jmp	*%rax
6:	call	*KTR__ASK_AT_ERROR(%rbx)
	leaq	KTR__ASK_AT_TEXT(%rbx), %rdi
	movl	$(KTR__ASK_TEXT - 1), %ecx
	testq	%rax, %rax
	jz	8f
7:	movb	(%rax), %dl
	movb	%dl, (%rdi)
	incq	%rax
	incq	%rdi
	testb	%dl, %dl
	jz	8f
	decl	%ecx
	jnz	7b
	movb	$0, (%rdi)
8:	movl	$-79, KTR__ASK_AT_CODE(%rbx)	/* ELIBACC */
	movl	$KTR__ASK_DONE, KTR__ASK_AT_STATE(%rbx)
	popq	%rbx
	xorl	%eax, %eax
	ret

.Lnap:	.quad	0, 1000000
.Lname:	.asciz	"ktr-agent"
inject_code_end:
	.byte	0
#endif

#include "ktr/arch/property.h"
