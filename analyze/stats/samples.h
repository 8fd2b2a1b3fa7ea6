/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where threads spent their CPU time, by the samples of the provider profile, or their time altogether, by those of
 * ktr sample: each stands for some time, most of them with a stack. A sink.
 */
#ifndef ANALYZE_SAMPLES_H
#define ANALYZE_SAMPLES_H

#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

enum ktr__sample_how {
	KTR__SAMPLE_USER,
	KTR__SAMPLE_KERNEL,  /* in the system call that the stack ends in */
	KTR__SAMPLE_BLOCKED, /* while the thread blocked the signal: where is not known */
	KTR__SAMPLE_MISSED,  /* it ended before the kernel looked: likewise */
	KTR__SAMPLE_WAITING, /* in a call that does not go on: of ktr sample, whose time is that of a clock */
	KTR__SAMPLE_HOWS
};

struct ktr__sample {
	uint64_t n_ticks, ns;
	enum ktr__sample_how how;
	const struct ktr_event_bytes *stack;
};

/* Is the event one? */
int ktr__sample_of(const struct ktr_event *event, struct ktr__sample *sample);

/* What stands, within the frames of its stack, for where a sample was; NULL: the innermost of them does. */
const char *ktr__sample_word(enum ktr__sample_how how);

/* The function that a frame of a stack is in, or its address: valid until the next call. *n: its bytes. */
const char *ktr__sample_function(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
				 size_t *n, char text[24]);

/* A function that a frame is in: the one that has the code, or one that was inlined there. */
struct ktr__sample_line {
	const char *name; /* n bytes */
	size_t n;
	const char *file; /* NULL: not known */
	unsigned line;	  /* 0: likewise */
};

/*
 * Those of a frame, the innermost first; one where lines are not wanted, or not known. How many; valid until the
 * next call.
 */
unsigned ktr__sample_lines(struct ktr__symbols *symbols, const struct ktr_event *event, uint64_t pc,
			   struct ktr__sample_line line[KTR__DEBUG_LINES], char text[24]);

/* A function; of one thread, or of all. */
struct ktr__sampled {
	struct ktr__sampled *chain;
	const struct ktr_reader_thread *thread; /* NULL: of all */
	char *name; /* owned */
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
	uint64_t n, n_cut; /* samples with a stack; of which some is missing */
	const struct ktr__sampled *most; /* the function with most time for itself; after finish() */
};

struct ktr__samples {
	struct ktr_sink sink; /* hand this to ktr_reader_walk() */
	struct ktr__symbols *symbols; /* borrowed */
	struct ktr__sampled_rows function; /* of each thread, and of all */
	struct ktr__sampled_rows line; /* "file:12 function", the innermost of samples; where they are wanted */
	int wants_lines;
	struct ktr__sampled_thread *thread; /* owned; by id */
	uint32_t n_threads;
	uint8_t *is_sample; /* owned; by site: 1 no, 2 yes */
	uint32_t n_sites;
	uint64_t n; /* samples */
	uint64_t ns[KTR__SAMPLE_HOWS], n_ticks[KTR__SAMPLE_HOWS];
	uint64_t n_cut;
};

/*
 * 0 or -ENOMEM; free() is due in any case. Lines are wanted where ktr__symbols_want_lines() has been called, too.
 */
int ktr__samples_init(struct ktr__samples *samples, struct ktr_reader *reader);
void ktr__samples_finish(struct ktr__samples *samples); /* after the walk */
void ktr__samples_free(struct ktr__samples *samples);

#endif
