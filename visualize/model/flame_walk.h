/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills trees of frames (flame.h) out of a walk: one of the spans that were open on a thread, in nanoseconds, one
 * of the stacks of CTRSTACK, in how often, and one of the samples of ktr profile and ktr sample, in nanoseconds.
 * Around the frames are those of the program and, if asked for, of the thread.
 *
 * A span is a frame by its name, from its start to its end, of the thread that began it, within those that this
 * thread had open then; whoever ends it. What had begun before the walk does is not counted, what had not ended
 * when it ends is counted until then. A function is one frame, wherever in it a stack was taken.
 */
#ifndef VISUALIZE_FLAME_WALK_H
#define VISUALIZE_FLAME_WALK_H

#include "analyze/stats/sampler.h"
#include "analyze/spans/spans.h"
#include "visualize/model/flame.h"

#include <ktr/reader.h>

/* [spans] Of a thread that are told apart at a time. */
#define KTR__FLAME_DEPTH 64u

enum ktr__flame_threads {
	KTR__FLAME_MERGED,
	KTR__FLAME_BY_NAME, /* those of one name are one */
	KTR__FLAME_EACH     /* name and thread id */
};

/* Of samples. */
enum ktr__flame_part {
	KTR__FLAME_WHOLE,
	KTR__FLAME_ON,	/* the CPU */
	KTR__FLAME_OFF
};

/* What both sides of a comparison go to. */
struct ktr__flame_pair {
	struct ktr__flame spans, stacks, samples;
};

struct ktr__flame_walk {
	struct ktr_sink sink; /* first */
	struct ktr__flame_pair *to;
	unsigned side;
	enum ktr__flame_threads by;
	struct ktr__symbols *symbols; /* of the reader, or NULL */
	struct ktr__spans *engine;
	struct ktr__sampler sampler;
	enum ktr__flame_part part;
	struct ktr__flame_thread **thread; /* by id */
	uint32_t n_threads;
	uint64_t first_ns, last_ns; /* of the events */
	int begun;
	uint64_t n_spans, n_stacks, n_samples;
	uint64_t n_off;	     /* times that threads were off the CPU */
	uint64_t n_waiting;  /* samples of threads that wait: their time is that of a clock */
	uint64_t n_before;   /* spans that had begun before: not counted */
	uint64_t n_open;     /* without an end: counted until it can have come at the earliest */
	uint64_t n_unsure;   /* something was lost between their ends */
	uint64_t n_too_deep; /* beyond KTR__FLAME_DEPTH: not counted */
};

/* 0 or -ENOMEM. Borrows all. */
int ktr__flame_walk_begin(struct ktr__flame_walk *walk, struct ktr__flame_pair *to, unsigned side,
			  enum ktr__flame_threads by, struct ktr_reader *reader);

/* Ends what is still open. 0 or -ENOMEM. */
int ktr__flame_walk_end(struct ktr__flame_walk *walk);
void ktr__flame_walk_free(struct ktr__flame_walk *walk);

#endif
