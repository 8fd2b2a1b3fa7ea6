/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples as events of a trace, in the form that those of the profiler have (ktr-profile(1)): each stands for the
 * time to the next round.
 */
#ifndef TOOLS_SAMPLE_TRACE_H
#define TOOLS_SAMPLE_TRACE_H

#include "analyze/live/live_rounds.h"
#include "analyze/live/live_take.h"

#include <ktr/error.h>

struct sample_trace;

/*
 * Nothing is on the disk before the first sample; an older trace moves aside then. path, err: borrowed until it
 * is closed; cmdline: of whoever samples. Owned; NULL without memory.
 */
struct sample_trace *sample_trace_new(const char *path, const char *cmdline, uint64_t period_ns,
				      struct ktr_error *err);

/* A sample of a process, whose objects `live` has. 0, or -errno with err filled. */
int sample_trace_add(struct sample_trace *trace, pid_t pid, struct ktr__live *live,
		     const struct ktr__live_sample *sample);

/*
 * A thread's stack, for a trace whose period is 0: the event says `what` it does, and is counted, not weighed by a
 * time. 0, or -errno with err filled.
 */
int sample_trace_thread(struct sample_trace *trace, const struct ktr__live_taken *taken, struct ktr__live *live,
			const char *what, const struct ktr__live_frame *frame, unsigned n, int is_cut);

/* For a sink's `forget`: what is kept with a row goes. */
void sample_trace_forget(struct ktr__live_row *row);

/* Ends it, and frees all. 0, or -errno with err filled. */
int sample_trace_close(struct sample_trace *trace);

#endif
