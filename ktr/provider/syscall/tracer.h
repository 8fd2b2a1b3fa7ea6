/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracer of system calls: other processes by ptrace(2), their calls, signals, threads and children, told to a
 * sink (tracee_event.h). One thread makes all calls of a tracer, the one that made it, for a tracee belongs to a
 * thread. When that thread is killed, the kernel lets all tracees go, and they run on.
 */
#ifndef KTR_TRACER_H
#define KTR_TRACER_H

#include "ktr/provider/syscall/tracee_event.h"
#include "ktr/provider/syscall/tracees.h"

#define KTR__TRACER_IO_MAX 4096 /* [bytes] of data of one call, as kern.ktrace.genio_size is by default */

/* A tracee that has stopped before the one that made it has told of it: it waits for that. */
struct ktr__tracer_early {
	pid_t tid, maker; /* its number, and that of the process that has made it */
	int status;	  /* of its stop */
};

struct ktr__tracer {
	struct ktr__tracees tracees;
	struct ktr__tracer_early *early;
	uint32_t n_early, room_early;
	struct ktr__tracee_sink sink;
	uint32_t filter; /* a program's that was launched: call_filter.h; 0: it has none */
	int error; /* what the sink has said: 0 or -errno */
	char buffer[KTR__TRACER_IO_MAX + 64];
};

/* What of a process is traced. */
struct ktr__tracer_want {
	uint32_t points; /* enum ktr__tracee_points */
	int inherit;	 /* its children, too, from their beginning */
};

/* Begins with nothing traced. */
void ktr__tracer_init(struct ktr__tracer *tracer, const struct ktr__tracee_sink *sink);

/*
 * Traces a process that waits to become another program: nothing is told before it calls execve(2). Returns when it
 * may go on, 0 or -errno. If it filters its calls before (call_filter.h), it and its children end with their
 * tracer: they are not let go of then, but nothing more is told of them.
 */
int ktr__tracer_launch(struct ktr__tracer *tracer, pid_t pid, const struct ktr__tracer_want *want);

/*
 * Traces a running process, all its threads. 0 or -errno, with nothing of it traced: -ESRCH, there is none;
 * -EPERM, the kernel refuses, or another traces it. One that is traced by us already wants this, too.
 */
int ktr__tracer_attach(struct ktr__tracer *tracer, pid_t pid, const struct ktr__tracer_want *want);

/* Stops tracing some points of a process, and lets it go if none is left, and it can be. -ESRCH: it is not ours. */
int ktr__tracer_clear(struct ktr__tracer *tracer, pid_t pid, uint32_t points);
void ktr__tracer_clear_all(struct ktr__tracer *tracer);

/*
 * Waits for one stop of a tracee, and lets it go on. 1; 0: a signal to us came instead, or no tracee is left,
 * which tracees.n_tasks says; else what the sink has said, once: all tracees are let go of then, in further
 * steps. SIGCHLD must not be ignored.
 */
int ktr__tracer_step(struct ktr__tracer *tracer);

void ktr__tracer_free(struct ktr__tracer *tracer);

#endif
