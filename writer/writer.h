/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer of this process: what writer.c and handover.c share. There is one, guarded by its lock, which is
 * held for moments only, never while the thread drains.
 */
#ifndef WRITER_WRITER_H
#define WRITER_WRITER_H

#include "ktr/provider/kernel/kernel_events.h"
#include "ktr/session/session_rw.h"
#include "writer/drain.h"
#include "writer/last.h"
#include "writer/message.h"
#include "writer/verbose.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

enum ktr__writer_state {
	WRITER_NONE,
	WRITER_SUCCESSOR, /* of a parent's writer: waits until that has gone */
	WRITER_STARTING,
	WRITER_RUNNING,
	WRITER_STOPPING,
	WRITER_ENDED, /* by itself: its thread waits to be joined */
	WRITER_JOINING
};

struct ktr__writer {
	pthread_mutex_t lock;
	pthread_cond_t done; /* for those who wait for the thread */
	pthread_t thread;
	enum ktr__writer_state state;
	uint32_t wake_word;	       /* futex: the thread sleeps on it; +1 when something is wanted */
	uint32_t leave;	       /* 1: it is to end, says one who may not wake it; 2: it has */
	uint64_t flush_wanted; /* requests so far */
	uint64_t flush_done;
	int flush_rc;
	/* For the time of starting: */
	struct ktr__session_rw *session;
	const char *path;
	struct ktr_error *err;
	int start_rc;
	/* For children: */
	pid_t pid;	  /* the writer's process */
	pid_t forks;	  /* the process that forks, and */
	uint64_t pid_ns;  /* where pid is its number */
	bool kin;	  /* whether its numbers are ours, pid among them: both are of one pid namespace */
	bool apart;	  /* the successor's thread shares root and working directory with nobody */
	int can_hand_over; /* 1: the process had no other thread when it forked */
	const struct ktr_control *control; /* of the session when it forked */
	char full_path[PATH_MAX];
	bool draining;		/* the thread has a trace */
	struct ktr__verbose *verbose; /* stays over the thread's lives, so that nothing goes unprinted */
	struct ktr__message message; /* as it was at the start; the thread has its own */
};

extern struct ktr__writer ktr__writer;

/* What the thread alone has. */
struct ktr__writer_thread {
	struct ktr__session_map map;
	struct ktr_control control; /* a copy, as of this round: control.c */
	int control_fd;		    /* for what is told there; -1: it cannot be */
	bool cut;		    /* the file is shorter than it was */
	bool fed;		    /* the feed may have something open */
	void *base;		    /* the session mapped; see ktr__writer_base() */
	bool owns_descriptors;
	bool alone; /* the process has no thread left but ours */
	uid_t user; /* who the process was when it began the trace */
	bool yielded; /* somebody else goes on with the trace */
	struct ktr__last_files last;
	struct ktr__drain *drain; /* NULL: there is no trace, the thread only prints */
	struct ktr__kernel_events *kernel_events;	  /* of the kernel's events */
	unsigned level;		  /* debug.ktr.verbose as it was last on */
	struct ktr__message message;
};

/* For the thread: undoes the sharing of descriptors and lets go of the host's. 0 or -errno. */
int ktr__writer_own_descriptors(struct ktr__writer_thread *self);

/* Opens the session and, if one is wanted, the trace. 0 or -errno, ktr__writer.err filled. */
int ktr__writer_open(struct ktr__writer_thread *self, enum ktr__drain_from from);

/* Undoes ktr__writer_open() but for the drain. */
void ktr__writer_shut(struct ktr__writer_thread *self);

/*
 * The mapping, through which ring headers are looked at, if the process records, and then would die of a file
 * that is cut short anyway; else NULL, and all is read by pread(2).
 */
static inline const void *ktr__writer_base(const struct ktr__writer_thread *self)
{
	return __atomic_load_n(&ktr__writer.session->records, __ATOMIC_RELAXED) ? self->base : NULL;
}

/* Starts the thread; waits: for a parent's writer to end. 0 or an error number. */
int ktr__writer_create(void *waits);

/* Wakes the thread. Async-signal-safe. */
void ktr__writer_ring(void);

/* In a forked child: gives the lock back, and makes the condition anew. */
void ktr__writer_renew(void);

/* A moment on the clock of ktr__writer.done, so many nanoseconds from now. */
struct timespec ktr__writer_until(uint64_t ns);

#endif
