/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread of another process, stopped for a moment. It goes on as if nothing had been: its registers, its mask
 * of signals, and the call that it waited in. One thread makes all calls for a stop. When that is killed, the
 * kernel lets the other one go.
 */
#ifndef KTR_TRACEE_STOP_H
#define KTR_TRACEE_STOP_H

#include "ktr/provider/syscall/tracee_wait.h"

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct ktr__tracee_stop {
	pid_t pid, tid;
	struct ktr__tracee_wait wait; /* what it was in before, of ktr__tracee_wait_look() */
	uint64_t libc, libc_end;      /* the C library's code: the time of a call of it may be set; 0, 0: none */
	struct user_regs_struct regs;
	uint64_t mask;
	uint64_t asked_ns; /* when it was asked to stop, and */
	uint64_t ran_ns;   /* when it was seen last not to have done so: on a busy CPU long after that */
	int is_group_stop; /* SIGSTOP: it stays stopped when it is let go */
};

/* PTRACE_SEIZE: 0 or -errno; -ESRCH, it has ended, also where it is a zombie. */
int ktr__tracee_seize(pid_t tid, long options);

/*
 * Stops the thread stop->tid, within two seconds, and reads its registers. 0, or -errno with nothing stopped:
 * -ESRCH, it has ended; -ETIMEDOUT, it does not come out of the kernel, and stops when it does, until we end;
 * -ENOEXEC, it is of another machine than this; -EPERM and others: the kernel's.
 */
int ktr__tracee_stop(struct ktr__tracee_stop *stop);

/*
 * It goes on. left: where a timespec may be kept in its memory until it has made its call again, 1 being
 * returned if that is used, 0: nowhere; else 0, or -errno.
 */
int ktr__tracee_go(struct ktr__tracee_stop *stop, uint64_t left);

/* One that did not stop in time: 1, it has done so since, or ended, and is let go; 0: not yet. */
int ktr__tracee_late(pid_t tid);

/* Of a stopped one, its registers: 0 or -errno. */
int ktr__tracee_regs(const struct ktr__tracee_stop *stop, struct user_regs_struct *regs, int set);

/* Its next stop's status, while it is seized; -ESRCH, it has ended; -ETIMEDOUT. */
int ktr__tracee_await(pid_t tid);

#endif
