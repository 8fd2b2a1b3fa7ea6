/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What changed between two traces of a program: which spans take longer, which call sites are passed more
 * often. Each is compared block by block (blocks.h, ranks.h); all of them together are one family of
 * tests, so that with nothing changed any change at all is told with probability alpha only.
 *
 * What one trace cannot tell is how runs differ from each other without a change (layout of memory, what
 * else the machine did): changes below least are not told, however sure.
 */
#ifndef ANALYZE_DIFF_H
#define ANALYZE_DIFF_H

#include "analyze/blocks.h"
#include "analyze/ranks.h"

enum ktr__diff_verdict {
	KTR__DIFF_SAME,
	KTR__DIFF_MORE, /* B takes longer, or is passed more often */
	KTR__DIFF_LESS,
	KTR__DIFF_UNKNOWN /* too few blocks have any */
};

struct ktr__diff_test {
	enum ktr__diff_verdict verdict;
	struct ktr__ranks ranks; /* p: of it alone */
	double p;                /* of the family */
};

struct ktr__diff_span {
	const struct ktr__blocks_row *a, *b; /* NULL: not there */
	struct ktr__diff_test half;          /* the median */
	struct ktr__diff_test
		tail;        /* the 99th or 90th percentile, what the blocks are long enough for */
	unsigned tail_share; /* an index of ktr__blocks_share; 0: no tail is looked at */
};

struct ktr__diff_site {
	const struct ktr_reader_site *a, *b; /* NULL: not there */
	uint64_t n_a, n_b;
	struct ktr__diff_test rate;
};

struct ktr__diff_options {
	double alpha; /* 0.01 */
	double least; /* 0.05: of the value in A */
	int share;    /* sites by their share of all events, not by events per second */
};

struct ktr__diff {
	struct ktr__diff_options options;
	const struct ktr__blocks *a, *b; /* borrowed */
	struct ktr__diff_span *span;     /* owned */
	struct ktr__diff_site
		*site; /* owned; the call sites that were passed in one of the traces */
	unsigned n_spans, n_sites;
	unsigned n_tests;
	unsigned n_changes; /* spans and sites with one */
};

/* Compares. Both were finished, and live as long as it. 0 with an owned object, or -ENOMEM. */
int ktr__diff_new(struct ktr__diff **out, const struct ktr__blocks *a, const struct ktr__blocks *b,
		  const struct ktr__diff_options *options);
void ktr__diff_free(struct ktr__diff *diff);

/* The worse of a span's two verdicts: a change, if there is one. */
const struct ktr__diff_test *ktr__diff_worse(const struct ktr__diff_span *span);

#endif
