/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What changed between two programs, or two builds of one, of each of which there are traces of one run or of
 * several: how long the runs took, how often call sites, classes and spans come, and how long spans take.
 *
 * Of several runs each gives one number, and how the runs of one side differ is the noise. Of one run each the
 * noise is how its parts differ (blocks.h, noise.h); that tells nothing of how runs differ without a change.
 *
 * Each row has an interval in which the true ratio lies. All of them hold together with the confidence 1 - alpha:
 * each is made for alpha / n (Bonferroni; Dunn, "Multiple comparisons among means", 1961). The verdict is read off
 * the interval, so that the two cannot contradict each other:
 *
 *	more, less	the interval does not hold 1, and the change is of least or more
 *	same		all of the interval is nearer to 1 than least (two one-sided tests, Schuirmann 1987)
 *	cannot tell	else: it may be the same, or may not
 */
#ifndef ANALYZE_DIFF_H
#define ANALYZE_DIFF_H

#include "analyze/stats/blocks.h"

enum ktr__diff_verdict {
	KTR__DIFF_SAME,
	KTR__DIFF_MORE, /* B takes longer, or comes more often */
	KTR__DIFF_LESS,
	KTR__DIFF_UNKNOWN
};

/* What a row is of, in the order in which rows are printed. */
enum ktr__diff_what {
	KTR__DIFF_DURATION, /* [s] of a run, but for idle time at its ends */
	KTR__DIFF_EVENTS,   /* all, per second */
	KTR__DIFF_TIME,     /* [ns] of a span: its median */
	KTR__DIFF_TAIL,     /* [ns] its 99th or 90th percentile */
	KTR__DIFF_SPANS,    /* per second */
	KTR__DIFF_CLASS,    /* per second, or of all events */
	KTR__DIFF_SITE,
	KTR__DIFF_WHATS
};

/* A row. */
struct ktr__diff_row {
	enum ktr__diff_what what;
	const char *name;                      /* of a site, span or class; NULL of all */
	const struct ktr_reader_site *site[2]; /* SITE; NULL: not there */
	enum ktr_event_kind kind;              /* of spans */
	int pair;
	unsigned share;     /* TAIL: an index of ktr__blocks_share */
	int is_count;       /* too rare for a rate: value is how often it came in a run */
	uint64_t n[2];      /* events, spans, of all runs; of DURATION and EVENTS: all events */
	uint64_t n_partial[2];
	double value[2];    /* of all runs together (geometric mean); 0: not there */
	struct ktr__noise noise[2];
	int is_tested; /* 0: too few for any interval */
	enum ktr__diff_verdict verdict;
	double ratio;     /* B as a multiple of A; INFINITY: A has none */
	double low, high; /* the ratio's interval */
	double sees;      /* the smallest ratio above 1 that would have been told; INFINITY: none */
};

struct ktr__diff_options {
	double alpha; /* 0.05: of any row's being wrong */
	double least; /* 0.05: of the value in A */
	int share;    /* sites by their share of all events, not by events per second */
	int identical; /* both are one trace: all is the same, and nothing is left to chance */
};

/* Runs of A and after them runs of B. */
struct ktr__diff {
	struct ktr__diff_options options;
	const struct ktr__blocks *const *run; /* borrowed */
	unsigned n_runs[2];
	struct ktr__diff_row *row; /* owned */
	unsigned n_rows, n_tests;
	unsigned n_of[KTR__DIFF_UNKNOWN + 1]; /* rows, by verdict */
	uint64_t n_left_out;
};

/* Compares. The runs were finished, and live as long as it. 0 with an owned object, or -ENOMEM. */
int ktr__diff_new(struct ktr__diff **out, const struct ktr__blocks *const *run, unsigned n_a, unsigned n_b,
		  const struct ktr__diff_options *options);
void ktr__diff_free(struct ktr__diff *diff);

static inline int ktr__diff_is_change(const struct ktr__diff_row *row)
{
	return row->verdict == KTR__DIFF_MORE || row->verdict == KTR__DIFF_LESS;
}

/*
 * The words of a verdict, the same wherever one is told: "slower" and "faster" of times, "longer" and "shorter" of
 * runs, "more" and "fewer" of what is counted, "same", "cannot tell".
 */
const char *ktr__diff_word(const struct ktr__diff_row *row);

#endif
