/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds what the kernel tells of the traced threads (perf.h) into the session's kernel rings, as
 * events of the classes kswitch and kfault, in the session's clock. From there on they are events like
 * any others: drains, live readers and snapshots find them, and they survive a crash.
 *
 * A session has one feeder, ktr_control.feeder: the writer thread of a process, or `ktr record`. While
 * nothing of it is wanted (debug.ktr.kernel, and its class in the mask) no descriptor is open.
 *
 * A provider may have the kernel tell it of threads of its process, and what it makes of that put into the same
 * rings: whoever feeds them then is its object, for all others of the process.
 */
#ifndef WRITER_KERNEL_EVENTS_H
#define WRITER_KERNEL_EVENTS_H

#include "ktr/provider/kernel/kernel_write.h"
#include "ktr/session/session_rw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct ktr__kernel_events;

/*
 * session is borrowed, mapped to be written. all: threads of every live process in it, not only our own
 * process's; those whose processes come later are found once a second. say may be NULL. NULL: no memory.
 */
struct ktr__kernel_events *ktr__kernel_events_new(struct ktr__session_rw *session, bool all,
				void (*say)(void *context, const char *line), void *context);
void ktr__kernel_events_free(struct ktr__kernel_events *kernel);

/* Takes what there is. Lowers *pause_ns to when there may be too much to wait longer. */
void ktr__kernel_events_round(struct ktr__kernel_events *kernel, uint64_t *pause_ns);

/* True: somebody asks for events of the kernel. */
bool ktr__kernel_events_wanted(const struct ktr__session_rw *session);

/* What the kernel is to stamp with, for a session's clock. */
static inline clockid_t ktr__kernel_events_clock(const struct ktr__session_rw *session)
{
	return session->header.clock == KTR_CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW;
}

/* An event of a thread of this process, or what has become of the thread. */
struct ktr__kernel_entry {
	uint64_t ns; /* of ktr__kernel_events_clock() */
	uint32_t cpu, tid;
	const char *name; /* the thread's from now on; NULL: as before */
	bool ends;	  /* the thread has, with this */
	unsigned n_slots; /* 0: no event */
	const uint64_t (*slot)[KTR__KERNEL_WORDS]; /* but for the first word of each, and the thread */
};

struct ktr__kernel_also {
	/*
	 * What has come up to that moment, in the order of time; stays until the next call. By whoever feeds, one
	 * call at a time.
	 */
	const struct ktr__kernel_entry *(*take)(uint64_t until_ns, size_t *n);
	uint64_t pause_ns; /* between two rounds that others of the process may do, see due(); 0: they do none */
};

/*
 * This object feeds what `also` has, and for all others of the process, until unlead(); then it may be freed. The
 * session's rings for it are there. 0, or -EBUSY: another process feeds the session. Blocks for others' rounds.
 * Rounds may be asked for by any thread meanwhile, but not from within `take`; who leads sees to it that there are
 * enough of them for what `also` has.
 */
int ktr__kernel_events_lead(struct ktr__kernel_events *kernel, const struct ktr__kernel_also *also);
void ktr__kernel_events_unlead(void);
bool ktr__kernel_events_led(void); /* Does one lead? */

/*
 * A round of the leader's by who is awake anyway, if it is time for one: so that who leads need not wake up for it.
 * Lowers *pause_ns to when the next one is.
 */
void ktr__kernel_events_due(uint64_t *pause_ns);

/* [ns] since the leader's last round; UINT64_MAX: it has had none. */
uint64_t ktr__kernel_events_since_ns(const struct ktr__kernel_events *kernel);

/* In the child of a fork: the leader is its parent's. */
void ktr__kernel_events_forked(void);

#endif
