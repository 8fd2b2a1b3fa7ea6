/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where threads were, on the CPU and off it: each event of a walk is taken in, and samples come out. On the CPU
 * they are those of the provider profile or of ktr sample. Off it they are put together of two sources: of the
 * kernel's context switches, which say when, and of calls that waited (the provider offcpu), which say where. A
 * thread of whose switches nothing is known was off the CPU for as long as its calls say.
 *
 * What is off the CPU is told where the trace has calls that waited, or was asked to have them; of the time in
 * which a thread waited elsewhere it is said that it is not known where, or, as the kernel tells that, that a page
 * had to come or that others had the CPU.
 */
#ifndef ANALYZE_SAMPLER_H
#define ANALYZE_SAMPLER_H

#include "analyze/stats/sample.h"

#include <ktr/reader.h>

struct ktr__sampler_thread;

struct ktr__sampler {
	/*
	 * event: its thread and time alone count, and the CPU of one that is on it. Returns 0 or an error of its
	 * own.
	 */
	int (*found)(void *context, const struct ktr_event *event, const struct ktr__sample *sample);
	void *context;
	uint8_t *kind; /* owned; by site */
	unsigned n_sites;
	struct ktr__sampler_thread **thread; /* owned, each too; by id */
	uint32_t n_threads;
	int wants_off; /* the trace has calls that waited */
	int has_switches; /* some thread's were seen */
	uint64_t first_ns, last_ns; /* of all events */
};

/* 0 or -ENOMEM; free() is due in any case. The reader is borrowed for the call. */
int ktr__sampler_init(struct ktr__sampler *sampler, const struct ktr_reader *reader,
		      int (*found)(void *context, const struct ktr_event *event, const struct ktr__sample *sample),
		      void *context);

/*
 * 1: it was a sample, or tells of one, which may be told later; 0: neither. Or what found() has returned, or
 * -ENOMEM.
 */
int ktr__sampler_event(struct ktr__sampler *sampler, const struct ktr_event *event);
void ktr__sampler_loss(struct ktr__sampler *sampler);

/*
 * For how long a thread was on a CPU by the kernel's context switches, after finish(): more than its CPU clock says
 * where interrupts or a hypervisor took of it. 0: not known.
 */
uint64_t ktr__sampler_on_ns(const struct ktr__sampler *sampler, uint32_t id);

/* Who is off the CPU at the end was so until then. As ktr__sampler_event(). */
int ktr__sampler_finish(struct ktr__sampler *sampler);
void ktr__sampler_free(struct ktr__sampler *sampler);

#endif
