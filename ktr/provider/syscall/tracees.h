/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes and threads that are traced, and what is known of each. */
#ifndef KTR_TRACEES_H
#define KTR_TRACEES_H

#include "ktr/provider/syscall/calls.h"

#include <stdint.h>
#include <sys/types.h>

#define KTR__TRACEES_BUCKETS 256
#define KTR__TRACEES_SIGNALS 65
#define KTR__HANDLER_UNKNOWN UINT64_MAX /* it is caught, by a handler that was set before we looked */

struct ktr__process {
	pid_t pid;
	uint32_t points;  /* enum ktr__tracee_points */
	int inherit;	  /* children are traced, too */
	int leaving;	  /* its threads are let go of as they stop, or nothing more is told of them: filter */
	uint32_t filter;  /* call_filter.h: the points whose calls it stops for; 0: it has none */
	int started, ended; /* that it has was told */
	int killed;	  /* by SIGKILL, which was told */
	int is_32bit;
	int renames;	  /* a thread has opened some thread's name */
	unsigned n_tasks; /* known */
	unsigned n_alive; /* of them, those that have not begun to end */
	uint64_t handler[KTR__TRACEES_SIGNALS]; /* 0: none was set while we looked */
	struct ktr__process *next;
};

struct ktr__task {
	pid_t tid;
	struct ktr__process *process;
	char comm[16];
	uint8_t is_new;	     /* has not stopped for the first time */
	uint8_t hidden;	     /* nothing is told before its first exec */
	uint8_t in_call;
	uint8_t interrupted; /* a stop is due that we have asked for */
	uint8_t ending;
	uint8_t has_parent;  /* a tracee has made it, and number is the call */
	uint64_t number;     /* of its call, or of the one that made it */
	uint64_t args[KTR__CALL_ARGS];
	const struct ktr__call *call; /* NULL: unknown */
	uint64_t new_handler; /* what its rt_sigaction() sets, */
	uint32_t new_signal;  /* for this signal; 0: none */
	struct ktr__task *next;
};

struct ktr__tracees {
	struct ktr__task *task[KTR__TRACEES_BUCKETS];
	struct ktr__process *process[KTR__TRACEES_BUCKETS];
	unsigned n_tasks;
};

struct ktr__task *ktr__tracees_task(const struct ktr__tracees *tracees, pid_t tid);
struct ktr__process *ktr__tracees_process(const struct ktr__tracees *tracees, pid_t pid);

/* Finds or adds one. NULL: not enough memory. */
struct ktr__process *ktr__tracees_add_process(struct ktr__tracees *tracees, pid_t pid);
struct ktr__task *ktr__tracees_add_task(struct ktr__tracees *tracees, struct ktr__process *process, pid_t tid);

/* Forgets a task, and its process with the last. */
void ktr__tracees_remove(struct ktr__tracees *tracees, struct ktr__task *task);

/* Forgets a process that has no task. */
void ktr__tracees_drop(struct ktr__tracees *tracees, struct ktr__process *process);

/* A task has another number from here on. */
void ktr__tracees_renumber(struct ktr__tracees *tracees, struct ktr__task *task, pid_t tid);

/* Calls for each task; which may be removed meanwhile. */
void ktr__tracees_each(struct ktr__tracees *tracees, void (*call)(void *context, struct ktr__task *task),
		       void *context);

void ktr__tracees_free(struct ktr__tracees *tracees);

#endif
