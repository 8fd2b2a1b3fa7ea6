/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace in blocks of time: how often each call site was passed in each, and how long spans took that
 * ended in it. What a comparison of two traces is made of (diff.h).
 *
 *	ktr__blocks_new(&blocks, reader, from_ns, to_ns, NULL);
 *	ktr_reader_walk(reader, &sink, 1);	sink = ktr__blocks_sink(blocks)
 *	ktr__blocks_finish(blocks);
 *
 * Spans go by group, scopes by name, states by group and state: ids are mostly those of one run.
 */
#ifndef ANALYZE_BLOCKS_H
#define ANALYZE_BLOCKS_H

#include "analyze/histogram.h"
#include "analyze/pairs.h"

#include <ktr/reader.h>

/*
 * [blocks] Enough for a test of ranks to tell a change from noise at a probability of 1e-9, long enough
 * to stand for themselves; half as many find changes of twice the size.
 */
#define KTR__BLOCKS          40

/* [rows] Spans that are told apart; with their histograms they stay below 32 MiB. What comes later is left out. */
#define KTR__BLOCKS_ROWS_MAX 1024

#define KTR__BLOCKS_SHARES   3 /* 0.5, 0.9, 0.99 */
extern const double ktr__blocks_share[KTR__BLOCKS_SHARES];

struct ktr__blocks_row {
	char name[160];           /* any bytes made text */
	enum ktr_event_kind kind; /* START or STATE */
	int pair;
	struct ktr__histogram all;
	struct ktr__histogram now; /* of the block that is open */
	uint64_t n[KTR__BLOCKS];
	double quantile[KTR__BLOCKS_SHARES][KTR__BLOCKS]; /* [ns], where n is not 0 */
	uint64_t n_partial; /* without one of their ends, or across a loss: not among them */
};

struct ktr__blocks {
	struct ktr_sink sink;
	const struct ktr_reader *reader; /* borrowed; NULL in tests */
	uint64_t from_ns, to_ns;         /* [from, to] */
	uint64_t n_events, n_lost;
	uint64_t n[KTR__BLOCKS];       /* events of all sites */
	uint64_t (*site)[KTR__BLOCKS]; /* owned, by id */
	uint32_t n_sites;
	struct ktr__blocks_row **row; /* owned */
	unsigned n_rows;
	uint64_t n_left_out; /* spans beyond KTR__BLOCKS_ROWS_MAX */
	unsigned open;       /* the block that is open */
	struct ktr__spans *spans;
	struct ktr__pairs *pairs; /* NULL: spans and states */
};

/* The times are those of the events that are to come. 0 with an owned object in *out, or -ENOMEM. */
int ktr__blocks_new(struct ktr__blocks **out, const struct ktr_reader *reader, uint64_t from_ns,
		    uint64_t to_ns, const struct ktr__pair *pair);
void ktr__blocks_free(struct ktr__blocks *blocks);

static inline struct ktr_sink *ktr__blocks_sink(struct ktr__blocks *blocks)
{
	return &blocks->sink;
}

/* After the last event. 0 or -ENOMEM. */
int ktr__blocks_finish(struct ktr__blocks *blocks);

/* What the sink does with a span that has ended, and with an event of a site. 0 or -ENOMEM. */
int ktr__blocks_span(struct ktr__blocks *blocks, const char *name, enum ktr_event_kind kind,
		     int pair, uint64_t end_ns, uint64_t ns);
int ktr__blocks_event(struct ktr__blocks *blocks, uint32_t site, uint64_t ns);

/* [s] A block's length. */
double ktr__blocks_seconds(const struct ktr__blocks *blocks);

#endif
