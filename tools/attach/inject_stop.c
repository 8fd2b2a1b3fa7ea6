/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread is stopped as tracee_stop.c does: where it is one that waits in a call which the kernel makes again,
 * nothing shows. It is let go and another moment waited for
 *
 *	- in a restartable sequence (rseq(2)): the kernel would not see any more that it was interrupted there,
 *	- where the process has no other thread, in the C library or the loader, and while it maps memory: they
 *	  leave out locks and atomic instructions as long as there is one thread, and we make a second.
 *
 * A system call of ours is made from wherever an instruction for that is, under two stops, at its begin and end, so
 * that no instruction after it is run, and no signal is taken for ours. Signals are blocked meanwhile, but for
 * SIGSYS, whose handler the kernel would forget if a filter sent a blocked one.
 *
 * A call that was interrupted is made again by the kernel at the end of a stop of the kind that we have asked for
 * first, so the thread is led to one of these before it is let go.
 */
#include "tools/attach/inject_stop.h"

#if defined(__x86_64__)
#include "ktr/provider/syscall/tracee_proc.h"
#include "tools/attach/inject_memory.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

#define INJECT_STOP_MS      1000000ull
#define INJECT_STOP_PATIENT (1000 * INJECT_STOP_MS) /* for a good moment */
#define INJECT_STOP_TIMED   (200 * INJECT_STOP_MS)  /* for one without a time that is partly over */
#define INJECT_STOP_NAP     500000
#define INJECT_STOP_SYSCALL (SIGTRAP | 0x80)
#define INJECT_STOP_PIECE   4096

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

struct inject_rseq { /* struct ptrace_rseq_configuration, which headers of before Linux 5.13 lack */
	uint64_t area;
	uint32_t bytes, signature, flags, pad;
};

static void inject_stop_nap(long ns)
{
	const struct timespec nap = { 0, ns };

	nanosleep(&nap, NULL);
}

/* ---- whom, and when ---- */

static int inject_stop_within(uint64_t at, const struct inject_object *object)
{
	return object && at >= object->text && at < object->text_end;
}

/* Is it in a restartable sequence? */
static int inject_stop_in_sequence(const struct inject_stop *stop)
{
	struct inject_rseq rseq;
	uint64_t cs = 0, of[3]; /* version and flags, start, length after it */

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, stop->thread.tid, sizeof(rseq), &rseq) < 0 || !rseq.area)
		return 0;
	if (!inject_memory_read(stop->memory, rseq.area + 8, &cs, sizeof(cs)) || !cs)
		return 0;
	if (!inject_memory_read(stop->memory, cs, of, sizeof(of)))
		return 1;
	return stop->thread.regs.rip - of[1] < of[2];
}

/*
 * Would a signal that the process ignores be kept because this thread has a tracer? One to the process is sent to
 * its first thread, and SIGCHLD to the one that has made the child.
 */
static int inject_stop_parent(pid_t pid, pid_t tid)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	return tid == pid || ktr__tracee_text(path, text, sizeof(text)) > 0;
}

static int inject_stop_good(const struct inject_stop *stop, const struct inject_avoid *avoid)
{
	long call = (long)stop->thread.regs.orig_rax;

	if (inject_stop_in_sequence(stop))
		return 0;
	if (!stop->alone)
		return !inject_stop_parent(stop->thread.pid, stop->thread.tid);
	if (call >= 0)
		return !ktr__tracee_wait_maps(call);
	return !inject_stop_within(stop->thread.regs.rip, avoid->libc) &&
	       !inject_stop_within(stop->thread.regs.rip, avoid->loader);
}

static void inject_stop_consider(struct inject_stop *stop, pid_t tid,
				 const struct ktr__tracee_wait *wait)
{
	if (wait->rank >= stop->thread.wait.rank)
		return;
	stop->thread.wait = *wait;
	stop->thread.tid = tid;
}

/*
 * The thread that a stop does the least to, of all; stop->alone says whether there is another. The first thread,
 * and one that has children, are taken where there is no good other one: as long as they have a tracer, the kernel
 * does not drop signals that are ignored (SIGCHLD), but gives them to another thread, whose call ends with EINTR.
 * 0 or -errno.
 */
static int inject_stop_choose(struct inject_stop *stop)
{
	struct ktr__tracee_wait wait, first = { .rank = KTR__RANK_NEVER };
	struct dirent *entry;
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)stop->thread.pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	stop->thread.wait.rank = KTR__RANK_NEVER;
	while ((entry = readdir(dir)) != NULL && stop->thread.wait.rank != KTR__RANK_RESTARTS) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		n++;
		ktr__tracee_wait_look("/proc", stop->thread.pid, tid, &wait);
		if (tid != stop->thread.pid && wait.rank < KTR__RANK_TIMED &&
		    inject_stop_parent(stop->thread.pid, tid))
			wait.rank = KTR__RANK_TIMED;
		if (tid == stop->thread.pid)
			first = wait;
		else
			inject_stop_consider(stop, tid, &wait);
	}
	closedir(dir);
	if (n > 1 && first.rank < KTR__RANK_TIMED)
		first.rank = KTR__RANK_TIMED;
	inject_stop_consider(stop, stop->thread.pid, &first);
	stop->alone = n < 2 && stop->thread.tid == stop->thread.pid;
	return n ? 0 : -ESRCH;
}

/* ---- stops ---- */

static int inject_stop_search(struct inject_stop *stop, const struct inject_object *libc)
{
	static const uint8_t bytes[2] = { 0x0f, 0x05 };
	uint8_t piece[INJECT_STOP_PIECE];
	const uint8_t *found = NULL;

	if (stop->thread.regs.orig_rax + 1 != 0 &&
	    inject_memory_read(stop->memory, stop->thread.regs.rip - 2, piece, 2) &&
	    memcmp(piece, bytes, 2) == 0) {
		stop->syscall = stop->thread.regs.rip - 2;
		return 0;
	}
	for (uint64_t at = libc->text; at < libc->text_end && !found; at += sizeof(piece))
		if (inject_memory_read(stop->memory, at, piece, sizeof(piece))) {
			found = memmem(piece, sizeof(piece), bytes, sizeof(bytes));
			stop->syscall = found ? at + (uint64_t)(found - piece) : 0;
		}
	return found ? 0 : -ENOEXEC;
}

/* The chosen one. 0; -EAGAIN: at a bad moment, it goes on; -errno. */
static int inject_stop_try(struct inject_stop *stop, const struct inject_avoid *avoid, int patient)
{
	int rc = ktr__tracee_stop(&stop->thread);

	if (rc)
		return rc == -ESRCH ? -EAGAIN : rc;
	if (stop->thread.is_group_stop)
		rc = -EBUSY;
	if (!rc)
		rc = inject_stop_search(stop, avoid->libc);
	if (!rc && (patient || inject_stop_in_sequence(stop)) && !inject_stop_good(stop, avoid))
		rc = -EAGAIN;
	if (rc)
		inject_stop_go(stop, 0);
	return rc;
}

int inject_stop_one(pid_t pid, int memory, const struct inject_avoid *avoid,
		    struct inject_stop *stop, struct ktr_error *err)
{
	uint64_t began = ktr__tracee_wait_now(), over = 0;
	int rc = -EAGAIN;

	*stop = (struct inject_stop){
		.thread = { .pid = pid, .libc = avoid->libc->text, .libc_end = avoid->libc->text_end },
		.memory = memory,
	};
	for (; rc == -EAGAIN && over < 2 * INJECT_STOP_PATIENT; over = ktr__tracee_wait_now() - began) {
		int patient = over < INJECT_STOP_PATIENT;

		rc = inject_stop_choose(stop);
		if (rc)
			break;
		rc = -EAGAIN;
		if (stop->thread.wait.rank != KTR__RANK_NEVER &&
		    (stop->thread.wait.rank < KTR__RANK_BUSY || !patient) &&
		    (stop->thread.wait.rank != KTR__RANK_TIMED || over >= INJECT_STOP_TIMED))
			rc = inject_stop_try(stop, avoid, patient);
		if (rc == -EAGAIN)
			inject_stop_nap(INJECT_STOP_NAP);
	}
	switch (rc) {
	case 0:
		return 0;
	case -ENOENT:
	case -ENOEXEC: /* memory is that of the program before */
	case -ESRCH:
		return ktr_error_set(err, ESRCH,
				     "it has ended meanwhile, or become another program");
	case -EBUSY:
		return ktr_error_set(err, EBUSY, "it is stopped: kill -CONT %d first", (int)pid);
	case -EAGAIN:
	case -ETIMEDOUT:
		return ktr_error_set(
			err, EAGAIN,
			"none of its threads can be stopped for a moment: it waits for a child of "
			"vfork(2), or for a device");
	default:
		return ktr_error_set(err, -rc, "its thread %d cannot be stopped: %m",
				     (int)stop->thread.tid);
	}
}

/* ---- calls of ours ---- */

int64_t inject_stop_call(struct inject_stop *stop, uint64_t at, uint64_t rbx, long number,
			 const uint64_t args[6])
{
	struct user_regs_struct regs = stop->thread.regs;
	uint64_t blocked = ~(1ull << (SIGSYS - 1));
	int status, n = 0, rc;

	regs.rip = at;
	regs.rax = (uint64_t)number;
	regs.orig_rax = UINT64_MAX;
	regs.rbx = rbx;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	rc = ktr__tracee_regs(&stop->thread, &regs, 1);
	if (rc)
		return rc;
	if (ptrace(PTRACE_SETSIGMASK, stop->thread.tid, sizeof(blocked), &blocked) < 0)
		return -errno;
	while (n < 2) {
		if (ptrace(PTRACE_SYSCALL, stop->thread.tid, NULL, NULL) < 0)
			return -errno;
		status = ktr__tracee_await(stop->thread.tid);
		if (status < 0)
			return status;
		if (status >> 16 == 0 && WSTOPSIG(status) == SIGSYS)
			return -EACCES; /* a filter; the signal goes no further */
		n += WSTOPSIG(status) == INJECT_STOP_SYSCALL;
	}
	rc = ktr__tracee_regs(&stop->thread, &regs, 0);
	return rc ? rc : (int64_t)regs.rax;
}

int inject_stop_restore(struct inject_stop *stop)
{
	int rc = ktr__tracee_regs(&stop->thread, &stop->thread.regs, 1);

	if (!rc && ptrace(PTRACE_SETSIGMASK, stop->thread.tid, sizeof(stop->thread.mask), &stop->thread.mask) < 0)
		rc = -errno;
	if (!rc && ptrace(PTRACE_INTERRUPT, stop->thread.tid, NULL, NULL) < 0)
		rc = -errno;
	if (!rc && ptrace(PTRACE_CONT, stop->thread.tid, NULL, NULL) < 0)
		rc = -errno;
	if (rc)
		return rc;
	rc = ktr__tracee_await(stop->thread.tid);
	return rc < 0 ? rc : 0;
}

int inject_stop_go(struct inject_stop *stop, uint64_t left)
{
	return ktr__tracee_go(&stop->thread, left);
}
#endif
