/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace in blocks of equally many: how fast each call site, class and span comes, and how long spans took, in the
 * order of time. What a comparison of traces is made of (diff.h, pace.h, noise.h).
 *
 *	ktr__blocks_new(&blocks, reader, from_ns, to_ns, share, NULL);
 *	ktr__reader_wants(reader, ktr__blocks_wants, blocks);
 *	ktr_reader_walk(reader, &sink, 1);	sink = &blocks->sink
 *	ktr__blocks_finish(blocks);
 *
 * Spans go by group, scopes by name, states by group and state: ids are mostly those of one run.
 */
#ifndef ANALYZE_BLOCKS_H
#define ANALYZE_BLOCKS_H

#include "analyze/stats/histogram.h"
#include "analyze/stats/pace.h"
#include "analyze/stats/pairs.h"

#include <ktr/reader.h>

/*
 * [durations] Kept of each row for its noise; of more, each is kept with an equal chance. 16 Ki floats know a
 * median to 1 % of the spread, and take 64 KiB; fewer widen the noise.
 */
#define KTR__BLOCKS_KEPT     16384u

/* [rows] Spans that are told apart: 80 MiB at most, where each has so many. What comes later is left out. */
#define KTR__BLOCKS_ROWS_MAX 1024

#define KTR__BLOCKS_SHARES   3 /* 0.5, 0.9, 0.99 */
extern const double ktr__blocks_share[KTR__BLOCKS_SHARES];

struct ktr__blocks_row {
	char name[512];           /* any bytes made text */
	enum ktr_event_kind kind; /* START or STATE */
	int pair;
	struct ktr__histogram all;
	struct ktr__pace pace; /* of their ends */
	float *kept;           /* owned: [ns] in the order of time */
	unsigned n_kept, n_room;
	uint64_t n_thinned;   /* one of so many is kept */
	uint64_t n_partial; /* without one of their ends, or across a loss: not among them */
};

struct ktr__blocks_class {
	char name[64];
	struct ktr__pace pace;
	unsigned n_sites; /* that were passed */
};

/* Which row the last spans of a name went to: most names come again and again, and making one takes long. */
#define KTR__BLOCKS_MEMO      64u /* names */
#define KTR__BLOCKS_MEMO_TEXT 32u /* [bytes] */

struct ktr__blocks_memo {
	const struct ktr_reader_site *site; /* NULL: none yet */
	enum ktr_event_kind kind;
	uint32_t n_bytes;
	char text[KTR__BLOCKS_MEMO_TEXT]; /* what of the name is not the site's */
	struct ktr__blocks_row *row;
};

/* A call site. */
struct ktr__blocks_site {
	struct ktr__pace pace;
	unsigned class; /* + 1; 0: it was not passed */
};

struct ktr__blocks {
	struct ktr_sink sink; /* hand this to a walk */
	const struct ktr_reader *reader; /* borrowed; NULL in tests */
	uint64_t from_ns, to_ns;         /* [from, to] */
	int share; /* time is the running number of the event: what comes more often than the others do */
	uint64_t n_events, n_lost;
	struct ktr__pace all;  /* of all events, in time */
	struct ktr__blocks_site *site; /* owned, by id */
	uint32_t n_sites;
	struct ktr__blocks_class *class; /* owned */
	unsigned n_classes, class_room;
	struct ktr__blocks_row **row; /* owned */
	unsigned n_rows, row_room;
	struct ktr__blocks_memo memo[KTR__BLOCKS_MEMO];
	uint64_t n_left_out; /* spans beyond KTR__BLOCKS_ROWS_MAX */
	uint64_t dice;       /* which durations are kept: the same in each run */
	struct ktr__spans *spans;
	struct ktr__pairs *pairs; /* NULL: spans and states */
};

/* The times are those of the events that are to come. 0 with an owned object in *out, or -ENOMEM. */
int ktr__blocks_new(struct ktr__blocks **out, const struct ktr_reader *reader, uint64_t from_ns,
		    uint64_t to_ns, int share, const struct ktr__pair *pair);
void ktr__blocks_free(struct ktr__blocks *blocks);

/* Of which sites the walk is to fill in arguments: a ktr__reader_wants_fn, the context is the blocks. */
unsigned ktr__blocks_wants(const void *blocks, const struct ktr_reader_site *site);

/* After the last event. 0 or -ENOMEM. */
int ktr__blocks_finish(struct ktr__blocks *blocks);

/* What the sink does with a span that has ended, and with an event of a site. 0 or -ENOMEM. */
int ktr__blocks_span(struct ktr__blocks *blocks, const char *name, enum ktr_event_kind kind,
		     int pair, uint64_t end_ns, uint64_t ns);
int ktr__blocks_event(struct ktr__blocks *blocks, uint32_t site, const char *class, uint64_t ns);

/*
 * The logarithm of a share (an index of ktr__blocks_share) of a row's durations, and its noise. 0, -1 where there
 * are too few, or -ENOMEM.
 */
int ktr__blocks_time(const struct ktr__blocks_row *row, unsigned share, struct ktr__noise *noise);

/* [ns] From the first to the last event but for idle time at both ends: all events at their pace. 0: too few. */
double ktr__blocks_active(const struct ktr__blocks *blocks);

#endif
