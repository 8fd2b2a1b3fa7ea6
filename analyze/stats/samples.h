/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where threads spent their CPU time, by the samples of the provider profile, or their time altogether, by those
 * of ktr sample, or by those of profile and what is known of the time off the CPU (sampler.h): each stands for
 * some time, most of them with a stack. A sink.
 */
#ifndef ANALYZE_SAMPLES_H
#define ANALYZE_SAMPLES_H

#include "analyze/stats/sampler.h"

#include <ktr/reader.h>

/* A function; of one thread, or of all. */
struct ktr__sampled {
	struct ktr__sampled *chain;
	const struct ktr_reader_thread *thread; /* NULL: of all */
	char *name; /* owned */
	char *file; /* of a line: that of its source; owned, NULL: not known */
	unsigned line;
	uint64_t hash;
	uint64_t self_ns, total_ns; /* total: in how much of the time it is anywhere in the stack */
	uint64_t n;    /* samples with it innermost */
	uint64_t last; /* sample that it was counted for: a function that calls itself counts once */
};

struct ktr__sampled_rows {
	struct ktr__sampled **row; /* owned, each too */
	unsigned n, room;
	struct ktr__sampled **bucket; /* owned */
};

struct ktr__sampled_thread {
	const struct ktr_reader_thread *thread; /* NULL: it has none */
	uint64_t ns[KTR__SAMPLE_HOWS], n_ticks[KTR__SAMPLE_HOWS];
	uint64_t n, n_cut; /* samples with a stack, on the CPU; of which some is missing */
	uint64_t n_off;	   /* times it was off the CPU */
	const struct ktr__sampled *most; /* the function with most time for itself; after finish() */
};

struct ktr__samples {
	struct ktr_sink sink; /* hand this to ktr_reader_walk() */
	struct ktr__sampler sampler;
	struct ktr__symbols *symbols; /* borrowed */
	struct ktr__sampled_rows function; /* of each thread, and of all */
	struct ktr__sampled_rows line; /* "file:12 function", the innermost of samples; where they are wanted */
	int wants_lines;
	struct ktr__sampled_thread *thread; /* owned; by id */
	uint32_t n_threads;
	uint64_t number; /* of the last sample, of any kind */
	uint64_t n; /* samples with a stack, on the CPU; and how often one was off it */
	uint64_t n_off;
	uint64_t ns[KTR__SAMPLE_HOWS], n_ticks[KTR__SAMPLE_HOWS];
	uint64_t n_cut;
};

/*
 * 0 or -ENOMEM; free() is due in any case. Lines are wanted where ktr__symbols_want_lines() has been called, too.
 */
int ktr__samples_init(struct ktr__samples *samples, struct ktr_reader *reader);
int ktr__samples_finish(struct ktr__samples *samples); /* after the walk; 0 or -ENOMEM */
void ktr__samples_free(struct ktr__samples *samples);

#endif
