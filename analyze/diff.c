/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what two traces have in common, and tests it.
 *
 * Call sites of two builds are the same when file, function and format are; where several are alike, in
 * the order of their lines, since lines move.
 */
#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [durations] A block's percentile has this many beyond it on average, or is not looked at. */
#define DIFF_TAIL 10

/* ---- sites ---- */

static const char *diff_base(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static int diff_compare_sites(const struct ktr_reader_site *a, const struct ktr_reader_site *b)
{
	int order = strcmp(diff_base(a->file), diff_base(b->file));

	if (!order)
		order = strcmp(a->func, b->func);
	return order ? order : strcmp(a->format, b->format);
}

static int diff_by_place(const void *x, const void *y)
{
	const struct ktr_reader_site *a = *(const struct ktr_reader_site *const *)x;
	const struct ktr_reader_site *b = *(const struct ktr_reader_site *const *)y;
	int order = diff_compare_sites(a, b);

	if (order)
		return order;
	return a->line != b->line ? (a->line > b->line) - (a->line < b->line)
				  : (a->id > b->id) - (a->id < b->id);
}

/* The sites of a trace in order; their number. NULL in *list without memory. */
static unsigned diff_list(const struct ktr__blocks *blocks, const struct ktr_reader_site ***list)
{
	unsigned n = 0, n_all = blocks->reader ? ktr_reader_n_sites(blocks->reader) : 0;

	*list = calloc(n_all ? n_all : 1, sizeof(struct ktr_reader_site *));
	for (unsigned id = 0; *list && id < n_all; id++) {
		const struct ktr_reader_site *site = ktr_reader_site(blocks->reader, id);

		if (site)
			(*list)[n++] = site;
	}
	if (n)
		qsort(*list, n, sizeof(**list), diff_by_place);
	return n;
}

static const uint64_t *diff_counts(const struct ktr__blocks *blocks,
				   const struct ktr_reader_site *site)
{
	static const uint64_t none[KTR__BLOCKS];

	return site && site->id < blocks->n_sites ? blocks->site[site->id] : none;
}

static uint64_t diff_sum(const uint64_t *count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < KTR__BLOCKS; i++)
		sum += count[i];
	return sum;
}

/* Adds a pair of sites, unless none of the two was passed. */
static void diff_add_site(struct ktr__diff *diff, const struct ktr_reader_site *a,
			  const struct ktr_reader_site *b)
{
	struct ktr__diff_site *site = &diff->site[diff->n_sites];

	*site = (struct ktr__diff_site){ a,
					 b,
					 diff_sum(diff_counts(diff->a, a)),
					 diff_sum(diff_counts(diff->b, b)),
					 { .verdict = KTR__DIFF_UNKNOWN } };
	diff->n_sites += site->n_a || site->n_b;
}

static int diff_sites(struct ktr__diff *diff)
{
	const struct ktr_reader_site **a, **b;
	unsigned n_a = diff_list(diff->a, &a), n_b = diff_list(diff->b, &b);
	int rc = 0;

	diff->site = calloc(n_a + n_b + 1, sizeof(*diff->site));
	if (!a || !b || !diff->site)
		rc = -ENOMEM;
	for (unsigned i = 0, k = 0; !rc && (i < n_a || k < n_b);) {
		int order = i == n_a ? 1 : k == n_b ? -1 : diff_compare_sites(a[i], b[k]);

		diff_add_site(diff, order <= 0 ? a[i] : NULL, order >= 0 ? b[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	free(a);
	free(b);
	return rc;
}

/* Events per second, or the share of all, in each block. */
static unsigned diff_rates(const struct ktr__diff *diff, const struct ktr__blocks *blocks,
			   const struct ktr_reader_site *site, double *rate)
{
	const uint64_t *count = diff_counts(blocks, site);
	unsigned n = 0;

	for (unsigned i = 0; i < KTR__BLOCKS; i++)
		if (!diff->options.share)
			rate[n++] = (double)count[i] / ktr__blocks_seconds(blocks);
		else if (blocks->n[i])
			rate[n++] = (double)count[i] / (double)blocks->n[i];
	return n;
}

static int diff_test_site(struct ktr__diff *diff, struct ktr__diff_site *site)
{
	double a[KTR__BLOCKS], b[KTR__BLOCKS], mean_a, mean_b;
	unsigned n_a = diff_rates(diff, diff->a, site->a, a),
		 n_b = diff_rates(diff, diff->b, site->b, b);

	if (site->n_a + site->n_b < 2 * KTR__RANKS_MIN ||
	    ktr__ranks_compare(a, n_a, b, n_b, diff->options.alpha, &site->rate.ranks))
		return 0;
	site->rate.verdict = KTR__DIFF_SAME;
	/* Blocks without an event make medians of quotients useless: the ratio is that of all. */
	mean_a = (double)site->n_a /
		 (diff->options.share ? (double)diff->a->n_events : ktr__blocks_seconds(diff->a));
	mean_b = (double)site->n_b /
		 (diff->options.share ? (double)diff->b->n_events : ktr__blocks_seconds(diff->b));
	site->rate.ranks.ratio = mean_a > 0 ? mean_b / mean_a : INFINITY;
	return 1;
}

/* ---- spans ---- */

static const struct ktr__blocks_row *diff_row(const struct ktr__blocks *blocks,
					      const struct ktr__blocks_row *like)
{
	for (unsigned i = 0; i < blocks->n_rows; i++)
		if (blocks->row[i]->kind == like->kind && blocks->row[i]->pair == like->pair &&
		    strcmp(blocks->row[i]->name, like->name) == 0)
			return blocks->row[i];
	return NULL;
}

static int diff_spans(struct ktr__diff *diff)
{
	struct ktr__diff_span none = { .half.verdict = KTR__DIFF_UNKNOWN,
				       .tail.verdict = KTR__DIFF_UNKNOWN };

	diff->span = calloc(diff->a->n_rows + diff->b->n_rows + 1, sizeof(*diff->span));
	if (!diff->span)
		return -ENOMEM;
	for (unsigned i = 0; i < diff->a->n_rows; i++) {
		none.a = diff->a->row[i];
		none.b = diff_row(diff->b, none.a);
		diff->span[diff->n_spans++] = none;
	}
	none.a = NULL;
	for (unsigned i = 0; i < diff->b->n_rows; i++) {
		none.b = diff->b->row[i];
		if (!diff_row(diff->a, none.b))
			diff->span[diff->n_spans++] = none;
	}
	return 0;
}

/* The blocks that have any. */
static unsigned diff_quantiles(const struct ktr__blocks_row *row, unsigned share, double *value)
{
	unsigned n = 0;

	for (unsigned i = 0; i < KTR__BLOCKS; i++)
		if (row->n[i])
			value[n++] = row->quantile[share][i];
	return n;
}

static int diff_test_share(struct ktr__diff *diff, const struct ktr__diff_span *span,
			   unsigned share, struct ktr__diff_test *test)
{
	double a[KTR__BLOCKS], b[KTR__BLOCKS];
	unsigned n_a = diff_quantiles(span->a, share, a), n_b = diff_quantiles(span->b, share, b);

	if (ktr__ranks_compare(a, n_a, b, n_b, diff->options.alpha, &test->ranks))
		return 0;
	test->verdict = KTR__DIFF_SAME;
	return 1;
}

/* Which tail the blocks are long enough for. */
static unsigned diff_tail(const struct ktr__diff_span *span)
{
	uint64_t least = span->a->all.n < span->b->all.n ? span->a->all.n : span->b->all.n;

	for (unsigned s = KTR__BLOCKS_SHARES - 1; s > 0; s--)
		if ((double)least / KTR__BLOCKS * (1 - ktr__blocks_share[s]) >= DIFF_TAIL)
			return s;
	return 0;
}

/* ---- all together ---- */

static unsigned diff_run(struct ktr__diff *diff, struct ktr__diff_test **made)
{
	unsigned n = 0;

	for (unsigned i = 0; i < diff->n_spans; i++) {
		struct ktr__diff_span *span = &diff->span[i];

		if (!span->a || !span->b)
			continue;
		made[n] = &span->half;
		n += (unsigned)diff_test_share(diff, span, 0, &span->half);
		span->tail_share = diff_tail(span);
		made[n] = &span->tail;
		if (span->tail_share)
			n += (unsigned)diff_test_share(diff, span, span->tail_share, &span->tail);
	}
	for (unsigned i = 0; i < diff->n_sites; i++) {
		made[n] = &diff->site[i].rate;
		n += (unsigned)diff_test_site(diff, &diff->site[i]);
	}
	return n;
}

static void diff_judge(const struct ktr__diff *diff, struct ktr__diff_test *test)
{
	if (test->p > diff->options.alpha)
		return;
	if (test->ranks.ratio >= 1 + diff->options.least)
		test->verdict = KTR__DIFF_MORE;
	else if (test->ranks.ratio <= 1 - diff->options.least)
		test->verdict = KTR__DIFF_LESS;
}

static int diff_test(struct ktr__diff *diff)
{
	unsigned most = 2 * diff->n_spans + diff->n_sites + 1;
	struct ktr__diff_test **made = calloc(most, sizeof(*made));
	unsigned *order = calloc(most, sizeof(*order));
	double *p = calloc(most, sizeof(*p));
	int rc = made && order && p ? 0 : -ENOMEM;

	if (!rc) {
		diff->n_tests = diff_run(diff, made);
		for (unsigned i = 0; i < diff->n_tests; i++)
			p[i] = made[i]->ranks.p;
		ktr__ranks_holm(p, order, diff->n_tests);
		for (unsigned i = 0; i < diff->n_tests; i++) {
			made[i]->p = p[i];
			diff_judge(diff, made[i]);
		}
	}
	free(made);
	free(order);
	free(p);
	return rc;
}

static int diff_is_change(const struct ktr__diff_test *test)
{
	return test->verdict == KTR__DIFF_MORE || test->verdict == KTR__DIFF_LESS;
}

const struct ktr__diff_test *ktr__diff_worse(const struct ktr__diff_span *span)
{
	if (diff_is_change(&span->tail) &&
	    (!diff_is_change(&span->half) ||
	     fabs(log(span->tail.ranks.ratio)) > fabs(log(span->half.ranks.ratio))))
		return &span->tail;
	return &span->half;
}

int ktr__diff_new(struct ktr__diff **out, const struct ktr__blocks *a, const struct ktr__blocks *b,
		  const struct ktr__diff_options *options)
{
	struct ktr__diff *diff = calloc(1, sizeof(*diff));
	int rc = diff ? 0 : -ENOMEM;

	*out = NULL;
	if (diff) {
		diff->options = *options;
		diff->a = a;
		diff->b = b;
		rc = diff_spans(diff);
	}
	if (!rc)
		rc = diff_sites(diff);
	if (!rc)
		rc = diff_test(diff);
	if (rc) {
		ktr__diff_free(diff);
		return rc;
	}
	for (unsigned i = 0; i < diff->n_spans; i++)
		diff->n_changes += (unsigned)diff_is_change(ktr__diff_worse(&diff->span[i]));
	for (unsigned i = 0; i < diff->n_sites; i++)
		diff->n_changes += (unsigned)diff_is_change(&diff->site[i].rate);
	*out = diff;
	return 0;
}

void ktr__diff_free(struct ktr__diff *diff)
{
	if (!diff)
		return;
	free(diff->span);
	free(diff->site);
	free(diff);
}
