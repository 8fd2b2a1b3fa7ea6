/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draining somebody else's session, live or dead, into a trace: what `ktr record`, `ktr snapshot`
 * and `ktr salvage` do. Its processes need not help, nor even live; the session is only read.
 */
#ifndef WRITER_ATTACH_H
#define WRITER_ATTACH_H

#include "ktr/provider/kernel/kernel_events.h"
#include "writer/drain.h"

struct ktr__attach {
	const char *session; /* path of the session file */
	const char *trace;   /* path of the trace */
	enum ktr__drain_from from;
	uint64_t max_bytes; /* this and what follows: see struct ktr__drain_plan */
	uint64_t max_ns;
	uint32_t n_keep;
	uint32_t follow;
	uint64_t for_ns;	 /* recording ends after so long; 0: with the session */
	bool writes; /* as its process's writer would: control.writer tells, and debug.ktr.alq_enable ends it */
	bool over; /* a session that nobody is left in goes when all of it is written */
	struct ktr__kernel_events *kernel_events; /* borrowed; fed into the session too; may be NULL */
	const volatile int *stop; /* recording ends when this is not 0; may be NULL */
	void (*say)(void *context, const char *line); /* may be NULL */
	void *context;
};

/*
 * Records until the session has no process left, or as above. 0 or -errno with err filled; *stats
 * (may be NULL) is filled either way. -ENODEV: the session is dead already.
 */
int ktr__record_session(const struct ktr__attach *attach, struct ktr__drain_stats *stats,
			struct ktr_error *err);

/*
 * Takes what the rings hold now, once; of a dead session, all that is left of it. With from
 * KTR__DRAIN_RESUME the trace is one that a killed writer has left: what the session still has is
 * added, and what it has no longer is counted.
 */
int ktr__snapshot_session(const struct ktr__attach *attach, struct ktr__drain_stats *stats,
			  struct ktr_error *err);

#endif
