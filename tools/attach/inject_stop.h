/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread of another process, stopped for a moment, in which it makes system calls for us, and then goes on as
 * if nothing had been: its registers, its mask of signals, and the call that it waited in.
 */
#ifndef TOOLS_INJECT_STOP_H
#define TOOLS_INJECT_STOP_H

#if defined(__x86_64__)
#include "ktr/provider/syscall/tracee_stop.h"
#include "tools/attach/inject_maps.h"

#include <ktr/error.h>

#include <sys/types.h>

struct inject_stop {
	struct ktr__tracee_stop thread;
	int memory; /* a descriptor, borrowed */
	int alone;  /* it is the only thread there is */
	uint64_t syscall; /* where an instruction is that makes a system call */
};

/* Which code a thread that is alone must not be in: where libraries leave out locks for it. */
struct inject_avoid {
	const struct inject_object *libc, *loader;
};

/*
 * Stops one thread of the process, at a good moment if there is one within a second. memory: of
 * inject_memory_open(). 0, or -errno with err filled, with none stopped.
 */
int inject_stop_one(pid_t pid, int memory, const struct inject_avoid *avoid,
		    struct inject_stop *stop, struct ktr_error *err);

/* Makes a system call with the thread; rbx is what that register has meanwhile. Its result, or -errno. */
int64_t inject_stop_call(struct inject_stop *stop, uint64_t at, uint64_t rbx, long number,
			 const uint64_t args[6]);

/* The thread is as it was, but still stopped. */
int inject_stop_restore(struct inject_stop *stop);

/*
 * It goes on. left: where a timespec may be kept in its memory until it has made its call again, 1 being
 * returned if that is used; else 0, or -errno.
 */
int inject_stop_go(struct inject_stop *stop, uint64_t left);
#endif

#endif
