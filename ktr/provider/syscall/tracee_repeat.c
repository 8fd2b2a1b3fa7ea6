/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers of a tracee that has stopped, set so that it makes its call once more. */
#include "ktr/provider/syscall/tracee_repeat.h"

#include "ktr/provider/syscall/tracee_memory.h"
#include "ktr/provider/syscall/tracee_wait.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#if defined(__x86_64__)
void ktr__tracee_repeat(pid_t tid)
{
	uint64_t process = 0, thread = 0, blocked = 0;
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) < 0 || iov.iov_len != sizeof(regs))
		return;
	if ((int64_t)regs.orig_rax < 0 || (int64_t)regs.rax != -EINTR ||
	    !ktr__tracee_wait_repeats((long)regs.orig_rax))
		return;
	ktr__tracee_status(tid, "ShdPnd:", 16, &process);
	ktr__tracee_status(tid, "SigPnd:", 16, &thread);
	ktr__tracee_status(tid, "SigBlk:", 16, &blocked);
	if ((process | thread) & ~blocked)
		return; /* it would have ended so without us */
	regs.rip -= 2; /* back to the instruction: syscall, 0f 05 */
	regs.rax = regs.orig_rax;
	ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov);
}
#else
/* arm64 does not let a tracer see the first argument as it was, nor set it. */
void ktr__tracee_repeat(pid_t tid)
{
	(void)tid;
}
#endif
