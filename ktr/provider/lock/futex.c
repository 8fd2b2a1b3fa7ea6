/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call of syscall(2) may be any: one that makes a child on the caller's stack, too. So nothing lies on the stack
 * between the program and the kernel, but where a wait is told of. The call that comes before the real one is found
 * is done here, as the C library does it.
 */
#include "ktr/provider/lock/futex.h"

#include "ktr/provider/lock/probes.h"
#include "ktr/provider/profile/off.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

/* What the code below refers to, which compilers do not read. */
#define FUTEX_FOR_CODE __attribute__((visibility("hidden"), used))

FUTEX_FOR_CODE void *ktr__futex_real;
FUTEX_FOR_CODE uint32_t ktr__futex_on; /* atomic */

FUTEX_FOR_CODE long ktr__futex_failed(long code);
FUTEX_FOR_CODE long ktr__futex_traced(long n, long word, long op, long value, long time, long word2, long value3);

_Static_assert(SYS_futex == 202, "as the code has it");

__asm__(".pushsection .text\n"
	".balign 16\n"
	".globl ktr__futex_syscall\n"
	".type ktr__futex_syscall, %function\n"
	"ktr__futex_syscall:\n"
	"\t.cfi_startproc\n"
	"\tendbr64\n"
	"\tcmpl $0, ktr__futex_on(%rip)\n"
	"\tjne 2f\n"
	"1:\tmovq ktr__futex_real(%rip), %r11\n"
	"\ttestq %r11, %r11\n"
	"\tje 3f\n"
	"\tjmp *%r11\n"
	"2:\tcmpq $202, %rdi\n"
	"\tjne 1b\n"
	"\tjmp ktr__futex_traced\n"
	"3:\tmovq %rdi, %rax\n"
	"\tmovq %rsi, %rdi\n"
	"\tmovq %rdx, %rsi\n"
	"\tmovq %rcx, %rdx\n"
	"\tmovq %r8, %r10\n"
	"\tmovq %r9, %r8\n"
	"\tmovq 8(%rsp), %r9\n"
	"\tsyscall\n"
	"\tcmpq $-4095, %rax\n"
	"\tjae 4f\n"
	"\tret\n"
	"4:\tmovq %rax, %rdi\n"
	"\tjmp ktr__futex_failed\n"
	"\t.cfi_endproc\n"
	"\t.size ktr__futex_syscall, . - ktr__futex_syscall\n"
	".popsection\n"
	".symver ktr__futex_syscall, syscall@@GLIBC_2.2.5\n");

long ktr__futex_failed(long code)
{
	errno = (int)-code;
	return -1;
}

static bool futex_waits(long op)
{
	switch ((int)op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case 13: /* FUTEX_LOCK_PI2, since Linux 5.14 */
		return true;
	default:
		return false;
	}
}

/* It is jumped to: the caller is the program. */
long ktr__futex_traced(long n, long word, long op, long value, long time, long word2, long value3)
{
	long (*real)(long, ...) = (long (*)(long, ...))(uintptr_t)ktr__futex_real;
	const void *caller = KTR__LOCK_CALLER(), *lock = (const void *)word; // NOLINT
	uint64_t began_ns, ns;
	struct ktr__off off;
	long rc;
	int code;

	if (!futex_waits(op))
		return real(n, word, op, value, time, word2, value3);
	began_ns = ktr__lock_now_ns();
	KTR__LOCK_FIRE(FUTEX_BLOCK, caller, 2, lock);
	ktr__off_begin(&off);
	rc = real(n, word, op, value, time, word2, value3);
	code = rc < 0 ? errno : 0;
	ns = ktr__lock_now_ns() - began_ns;
	ktr__off_end(&off, "futex", caller);
	KTR__LOCK_FIRE(FUTEX_BLOCKED, caller, 4, lock, ns, code);
	if (code)
		errno = code;
	return rc;
}

void ktr__futex_resolve(void)
{
	__atomic_store_n(&ktr__futex_real, dlsym(RTLD_NEXT, "syscall"), __ATOMIC_RELEASE);
}

void ktr__futex_lead(bool on)
{
	__atomic_store_n(&ktr__futex_on, on && ktr__futex_real, __ATOMIC_RELEASE);
}
