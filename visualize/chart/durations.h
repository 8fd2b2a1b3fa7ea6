/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durations out of a walk, in series with a distribution each: spans by group, states by group and
 * state, pairs of events, or the time between a thread's events.
 */
#ifndef VISUALIZE_DURATIONS_H
#define VISUALIZE_DURATIONS_H

#include "analyze/stats/histogram.h"
#include "analyze/stats/pairs.h"
#include "analyze/spans/streams.h"
#include "visualize/chart/plot.h"
#include "visualize/model/label.h"

#define KTR__DURATIONS_SERIES 64u /* the last takes all that come later */

struct ktr__duration_series {
	char name[2 * KTR__LABEL_BYTES + 16];
	uint64_t hash;                   /* of what it is known by */
	struct ktr__histogram histogram; /* [ns] */
	/* The longest; and the longest in which nothing was lost, so that it is one. */
	struct ktr__duration_longest {
		uint64_t n; /* how many it is the longest of; 0: there is none */
		uint64_t ns;
		uint64_t from_ns;
		char who[KTR__LABEL_BYTES];
	} longest, sure;
	uint64_t n_open; /* had not ended when the trace did: not in the histogram */
	uint64_t open_longest_ns;
	char open_who[KTR__LABEL_BYTES];
	uint64_t n_unsure; /* with losses between their ends; in the histogram */
};

/* What the state of a plot that times begins with. */
struct ktr__durations {
	struct ktr__plot *plot;
	struct ktr__duration_series *series; /* owned */
	unsigned n_series;
	struct ktr__spans *spans; /* owned */
	void (*call)(struct ktr__plot *plot, uint64_t from_ns, uint64_t to_ns); /* told of each; may be NULL */
	struct ktr__duration_thread {
		const struct ktr_reader_thread *who;
		uint64_t from_ns;
		uint8_t open;
	} * thread; /* owned, by id: gaps */
	uint32_t n_threads;
	struct ktr__pairs *pairs; /* owned; NULL: none is asked for */
	uint64_t n_missed;	  /* ends without a beginning */
	struct ktr__streams streams; /* gaps: what was lost in them */
	uint64_t n_doubted;          /* gaps with losses in them, which are no silence: in no series */
};

/*
 * The callbacks of kinds that time. What to time is in plot->options (group, span, pair); gap: the time between
 * consecutive events of a thread instead.
 */
int ktr__durations_begin(struct ktr__plot *plot, struct ktr_error *err);
int ktr__durations_event(struct ktr__plot *plot, const struct ktr_event *event);
int ktr__durations_gap(struct ktr__plot *plot, const struct ktr_event *event);
void ktr__durations_loss(struct ktr__plot *plot, const struct ktr_loss *loss);
void ktr__durations_end(struct ktr__plot *plot);

/* Members of a kind that has no other state, and the filter of those that time spans. */
#define KTR__DURATIONS_KIND                                                                        \
	.n_state = sizeof(struct ktr__durations), .begin = ktr__durations_begin,                   \
	.loss = ktr__durations_loss, .end = ktr__durations_end
#define KTR__DURATIONS_FILTER "kind in (\"start\", \"stop\", \"state\")"

/*
 * Hands out what is open, drops empty series, puts the others in order (most time first), and adds
 * notes to the plot's frame. 0, or -ENODATA with the reason.
 */
int ktr__durations_finish(struct ktr__durations *durations, struct ktr_error *err);

#endif
