/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what the runs have in common, and judges it.
 *
 * Everything that a run has is a part: a call site, a class, a row of spans. The parts of all runs are sorted by
 * what they are known by, so that those of one row lie side by side. Call sites of two builds are the same when
 * file, function and format are; where several are alike, in the order of their lines, since lines move.
 */
#include "analyze/stats/diff.h"

#include "writer/format/ident.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [events] Below that a run's count is compared and not its rate: there is none yet. */
#define DIFF_RARE 24

/* [durations] A run's percentile has this many beyond it, or is not looked at. */
#define DIFF_TAIL 10

/* The spread of a quantile that is off by half a step of the histogram (a rectangle's: width / sqrt(12)). */
#define DIFF_STEP (2 * KTR__HISTOGRAM_ERROR / 3.4641)

struct diff_part {
	enum ktr__diff_what what; /* SITE, CLASS, TIME */
	const char *key[3];
	unsigned nth; /* among those with the same key; of spans: kind and whether a pair */
	unsigned run;
	const struct ktr__pace *pace;
	const struct ktr_reader_site *site;
	const struct ktr__blocks_row *row;
};

/* The parts of one row: one for each run, or NULL. */
struct diff_group {
	const struct diff_part *first;
	const struct diff_part **of; /* by run */
};

struct diff_work {
	struct ktr__diff *diff;
	struct diff_part *part; /* owned */
	size_t n_parts;
	struct diff_group group;
	double *number; /* owned: by run */
	unsigned n_runs;
	int failed;
};

/* ---- parts ---- */

static int diff_same_row(const struct diff_part *a, const struct diff_part *b)
{
	int order = (a->what > b->what) - (a->what < b->what);

	for (int i = 0; i < 3 && !order; i++)
		order = strcmp(a->key[i], b->key[i]);
	return order ? order : (a->nth > b->nth) - (a->nth < b->nth);
}

static int diff_by_row(const void *x, const void *y)
{
	const struct diff_part *a = x, *b = y;
	int order = diff_same_row(a, b);

	return order ? order : (a->run > b->run) - (a->run < b->run);
}

static int diff_by_line(const void *x, const void *y)
{
	const struct diff_part *a = x, *b = y;
	int order = diff_same_row(a, b);

	if (order)
		return order;
	return a->site->line != b->site->line ? (a->site->line > b->site->line) - (a->site->line < b->site->line)
					      : (a->site->id > b->site->id) - (a->site->id < b->site->id);
}

static struct diff_part *diff_add(struct diff_work *work, enum ktr__diff_what what, unsigned run)
{
	struct diff_part *part = &work->part[work->n_parts++];

	*part = (struct diff_part){ .what = what, .key = { "", "", "" }, .run = run };
	return part;
}

/* Sites of one run that are alike get their number. */
static void diff_sites(struct diff_work *work, unsigned run)
{
	const struct ktr__blocks *blocks = work->diff->run[run];
	size_t first = work->n_parts;

	for (unsigned id = 0; blocks->reader && id < ktr_reader_n_sites(blocks->reader); id++) {
		const struct ktr_reader_site *site = ktr_reader_site(blocks->reader, id);
		struct diff_part *part;

		if (!site || site->id >= blocks->n_sites || !blocks->site[site->id].pace.n)
			continue;
		part = diff_add(work, KTR__DIFF_SITE, run);
		part->key[0] = ktr__ident_base(site->file);
		part->key[1] = site->func;
		part->key[2] = site->format;
		part->site = site;
		part->pace = &blocks->site[site->id].pace;
	}
	if (work->n_parts - first > 1)
		qsort(work->part + first, work->n_parts - first, sizeof(*work->part), diff_by_line);
	for (size_t i = first + 1; i < work->n_parts; i++) {
		struct diff_part *before = &work->part[i - 1], *part = &work->part[i];
		unsigned nth = before->nth;

		part->nth = 0;
		before->nth = 0;
		if (diff_same_row(before, part) == 0)
			part->nth = nth + 1;
		before->nth = nth;
	}
}

static void diff_run_parts(struct diff_work *work, unsigned run)
{
	const struct ktr__blocks *blocks = work->diff->run[run];
	struct diff_part *part;

	diff_sites(work, run);
	for (unsigned i = 0; i < blocks->n_classes; i++) {
		part = diff_add(work, KTR__DIFF_CLASS, run);
		part->key[0] = blocks->class[i].name;
		part->pace = &blocks->class[i].pace;
	}
	for (unsigned i = 0; i < blocks->n_rows; i++) {
		part = diff_add(work, KTR__DIFF_TIME, run);
		part->row = blocks->row[i];
		part->key[0] = part->row->name;
		part->nth = (unsigned)part->row->kind * 2 + (part->row->pair != 0);
		part->pace = &part->row->pace;
	}
}

static int diff_parts(struct diff_work *work)
{
	size_t n = 1;

	for (unsigned i = 0; i < work->n_runs; i++) {
		const struct ktr__blocks *blocks = work->diff->run[i];

		n += (size_t)blocks->n_classes + blocks->n_rows + blocks->n_sites;
	}
	work->part = calloc(n, sizeof(*work->part));
	work->group.of = calloc(work->n_runs, sizeof(*work->group.of));
	work->number = calloc(work->n_runs, sizeof(*work->number));
	/* Each part makes three rows at most, and the runs as a whole two. */
	work->diff->row = calloc(3 * n + 2, sizeof(*work->diff->row));
	if (!work->part || !work->group.of || !work->number || !work->diff->row)
		return -ENOMEM;
	for (unsigned i = 0; i < work->n_runs; i++)
		diff_run_parts(work, i);
	qsort(work->part, work->n_parts, sizeof(*work->part), diff_by_row);
	return 0;
}

/* ---- numbers ---- */

static int diff_is_single(const struct ktr__diff *diff)
{
	return diff->n_runs[0] == 1 && diff->n_runs[1] == 1;
}

static int diff_side(const struct ktr__diff *diff, unsigned run)
{
	return run >= diff->n_runs[0];
}

/* Both sides' noise out of one number for each run. */
static void diff_of_runs(struct diff_work *work, struct ktr__diff_row *row)
{
	unsigned n_a = work->diff->n_runs[0];

	ktr__noise_runs(work->number, n_a, &row->noise[0]);
	ktr__noise_runs(work->number + n_a, work->diff->n_runs[1], &row->noise[1]);
	row->is_tested = row->noise[0].df > 0 || row->noise[1].df > 0;
}

/* A row with nothing judged yet; those that have no value are not shown. */
static struct ktr__diff_row *diff_row(struct diff_work *work, enum ktr__diff_what what)
{
	struct ktr__diff_row *row = &work->diff->row[work->diff->n_rows++];
	const struct diff_part *first = work->group.first;

	*row = (struct ktr__diff_row){ .what = what, .verdict = KTR__DIFF_UNKNOWN, .ratio = NAN };
	if (!first)
		return row;
	row->name = what == KTR__DIFF_SITE ? first->site->name : first->key[0];
	if (first->row) {
		row->kind = first->row->kind;
		row->pair = first->row->pair;
	}
	for (unsigned i = 0; i < work->n_runs; i++) {
		const struct diff_part *part = work->group.of[i];
		int side = diff_side(work->diff, i);

		if (!part)
			continue;
		row->n[side] += part->pace->n;
		row->site[side] = row->site[side] ? row->site[side] : part->site;
		row->n_partial[side] += part->row ? part->row->n_partial : 0;
	}
	return row;
}

/* ---- how often ---- */

/* In how long: the base of a share is all events. */
static double diff_base_of(const struct ktr__diff *diff, const struct ktr__blocks *blocks)
{
	return diff->options.share ? (double)blocks->n_events : ktr__blocks_active(blocks) / 1e9;
}

static double diff_unit(const struct ktr__diff *diff)
{
	return diff->options.share ? 1 : 1e9;
}

/*
 * One run each. What comes often has its pace; a side where it is rare, or has no pace, has the count itself, as a
 * Poisson process would: its logarithm varies by 1 / n (a half is added, so that none is a number, too).
 */
static void diff_often_single(struct diff_work *work, struct ktr__diff_row *row)
{
	struct ktr__diff *diff = work->diff;
	struct ktr__noise all[2] = { { 0 } };
	double base[2];
	int is_paced[2];

	for (int i = 0; i < 2; i++) {
		const struct diff_part *part = work->group.of[i];

		base[i] = diff_base_of(diff, diff->run[i]);
		if (!diff->options.share)
			(void)ktr__pace_noise(&diff->run[i]->all, &all[i]);
		is_paced[i] = part && !ktr__pace_noise(part->pace, &row->noise[i]);
		row->noise[i].mean = -row->noise[i].mean + log(diff_unit(diff));
	}
	if (is_paced[0] && is_paced[1]) {
		row->is_tested = 1;
	} else if (base[0] > 0 && base[1] > 0) {
		for (int i = 0; i < 2; i++) {
			double n = (double)row->n[i] + 0.5, noise = 1 / n, df = 1e6;

			/* Bursts are as many events as they say something new. */
			if (is_paced[i] && row->noise[i].variance > noise)
				noise = row->noise[i].variance;
			/* The time that it is divided by is not known for sure, either. */
			if (all[i].variance > 0.1 * noise)
				df = all[i].df;
			row->noise[i] = (struct ktr__noise){ log(n / base[i]), noise + all[i].variance, df };
		}
		row->is_tested = 1;
	}
	for (int i = 0; i < 2; i++)
		row->value[i] = !row->n[i] ? 0 : is_paced[i] && is_paced[!i] ? exp(row->noise[i].mean)
					       : base[i] > 0		   ? (double)row->n[i] / base[i]
									   : 0;
}

/* The rate of a run, where all runs have one: 1 with numbers in work->number. */
static int diff_paces(struct diff_work *work)
{
	for (unsigned i = 0; i < work->n_runs; i++) {
		const struct diff_part *part = work->group.of[i];
		struct ktr__noise noise;

		if (!part || part->pace->n < DIFF_RARE || ktr__pace_noise(part->pace, &noise))
			return 0;
		work->number[i] = log(diff_unit(work->diff)) - noise.mean;
	}
	return 1;
}

/*
 * Several runs: rates, or how often in a run. Counts vary as those of a Poisson process at least, unless all are
 * one number.
 */
static void diff_often_runs(struct diff_work *work, struct ktr__diff_row *row)
{
	const struct ktr__diff *diff = work->diff;
	int is_one = diff->n_runs[0] >= 3 && diff->n_runs[1] >= 3;
	uint64_t n_first = work->group.of[0] ? work->group.of[0]->pace->n : 0;

	row->is_count = !diff_paces(work);
	for (unsigned i = 0; i < work->n_runs && row->is_count; i++) {
		uint64_t n = work->group.of[i] ? work->group.of[i]->pace->n : 0;
		double base = diff->options.share && diff->run[i]->n_events ? (double)diff->run[i]->n_events : 1;

		is_one &= n == n_first;
		work->number[i] = log(((double)n + 0.5) / base);
	}
	diff_of_runs(work, row);
	for (int i = 0; i < 2 && row->is_count; i++) {
		double least = 1 / ((double)row->n[i] + 0.5);

		if (!is_one && row->noise[i].variance < least)
			row->noise[i].variance = least;
	}
	for (int i = 0; i < 2; i++)
		row->value[i] = !row->n[i]	? 0
				: row->is_count ? (double)row->n[i] / diff->n_runs[i]
						: exp(row->noise[i].mean);
}

static void diff_often(struct diff_work *work, enum ktr__diff_what what)
{
	struct ktr__diff_row *row = diff_row(work, what);

	if (!row->n[0] && !row->n[1]) {
		work->diff->n_rows--;
		return;
	}
	if (diff_is_single(work->diff))
		diff_often_single(work, row);
	else
		diff_often_runs(work, row);
}

/* ---- how long ---- */

static double diff_quantile(const struct ktr__blocks_row *row, unsigned share)
{
	uint64_t ns = row ? ktr__histogram_quantile(&row->all, ktr__blocks_share[share]) : 0;

	return ns ? (double)ns : 0.5;
}

/* Which tail the runs are long enough for; 0: none. */
static unsigned diff_tail(const struct diff_work *work)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < work->n_runs; i++) {
		uint64_t n = work->group.of[i] ? work->group.of[i]->row->all.n : 0;

		least = n < least ? n : least;
	}
	for (unsigned s = KTR__BLOCKS_SHARES - 1; s > 0; s--)
		if ((double)least * (1 - ktr__blocks_share[s]) >= DIFF_TAIL * (diff_is_single(work->diff) ? 6 : 1))
			return s;
	return 0;
}

static void diff_value(struct diff_work *work, struct ktr__diff_row *row)
{
	double sum[2] = { 0 };
	unsigned n[2] = { 0 };

	for (unsigned i = 0; i < work->n_runs; i++) {
		const struct diff_part *part = work->group.of[i];
		int side = diff_side(work->diff, i);

		if (!part || !part->row->all.n)
			continue;
		sum[side] += log(diff_quantile(part->row, row->share));
		n[side]++;
	}
	for (int i = 0; i < 2; i++)
		row->value[i] = n[i] ? exp(sum[i] / n[i]) : 0;
}

static void diff_time(struct diff_work *work, enum ktr__diff_what what, unsigned share)
{
	struct ktr__diff_row *row = diff_row(work, what);
	int is_there = 1;

	row->share = share;
	diff_value(work, row);
	for (unsigned i = 0; i < work->n_runs; i++)
		is_there &= work->group.of[i] && work->group.of[i]->row->all.n;
	/* What one side has none of is told by how often it comes. */
	if (!(row->value[0] > 0) || !(row->value[1] > 0)) {
		work->diff->n_rows--;
		return;
	}
	if (diff_is_single(work->diff)) {
		int rc[2];

		for (int i = 0; i < 2; i++) {
			rc[i] = ktr__blocks_time(work->group.of[i]->row, share, &row->noise[i]);
			work->failed |= rc[i] == -ENOMEM;
		}
		row->is_tested = !rc[0] && !rc[1];
	} else if (is_there) {
		for (unsigned i = 0; i < work->n_runs; i++)
			work->number[i] = log(diff_quantile(work->group.of[i]->row, share));
		diff_of_runs(work, row);
	}
	/* Neither the clock nor the histogram is finer than that. */
	for (int i = 0; i < 2; i++)
		row->noise[i].variance += DIFF_STEP * DIFF_STEP + 1 / (12 * row->value[i] * row->value[i]);
}

static void diff_span(struct diff_work *work)
{
	unsigned share = diff_tail(work);

	diff_time(work, KTR__DIFF_TIME, 0);
	if (share)
		diff_time(work, KTR__DIFF_TAIL, share);
	diff_often(work, KTR__DIFF_SPANS);
}

/* ---- all of it ---- */

/* How long the run took but for its idle ends, and its events per second. */
static void diff_whole(struct diff_work *work, enum ktr__diff_what what)
{
	struct ktr__diff *diff = work->diff;
	struct ktr__diff_row *row;
	int good = 1;

	work->group.first = NULL;
	row = diff_row(work, what);
	for (unsigned i = 0; i < work->n_runs; i++) {
		const struct ktr__blocks *blocks = diff->run[i];
		int side = diff_side(diff, i);

		row->n[side] += blocks->n_events;
		good &= !ktr__pace_noise(&blocks->all, &row->noise[side]);
		work->number[i] = row->noise[side].mean +
				  (what == KTR__DIFF_DURATION ? log((double)blocks->n_events) : 0) - log(1e9);
		work->number[i] *= what == KTR__DIFF_DURATION ? 1 : -1;
		row->noise[side].mean = work->number[i];
	}
	if (good && diff_is_single(diff))
		row->is_tested = 1;
	else if (good)
		diff_of_runs(work, row);
	for (int i = 0; i < 2; i++)
		row->value[i] = good ? exp(row->noise[i].mean) : 0;
}

/* A class of which there is but one call site, or which is all there is, says nothing that is not said. */
static int diff_is_class_of_many(const struct diff_work *work)
{
	int many = 0;

	for (unsigned i = 0; i < work->n_runs; i++) {
		const struct ktr__blocks *blocks = work->diff->run[i];

		for (unsigned k = 0; work->group.of[i] && k < blocks->n_classes; k++)
			many |= &blocks->class[k].pace == work->group.of[i]->pace && blocks->class[k].n_sites > 1 &&
				blocks->n_classes > 1;
	}
	return many;
}

static void diff_rows(struct diff_work *work)
{
	diff_whole(work, KTR__DIFF_DURATION);
	if (!work->diff->options.share)
		diff_whole(work, KTR__DIFF_EVENTS);
	for (size_t i = 0, end; i < work->n_parts; i = end) {
		work->group.first = &work->part[i];
		memset(work->group.of, 0, work->n_runs * sizeof(*work->group.of));
		for (end = i; end < work->n_parts && diff_same_row(&work->part[i], &work->part[end]) == 0; end++)
			work->group.of[work->part[end].run] = &work->part[end];
		if (work->part[i].what == KTR__DIFF_TIME)
			diff_span(work);
		else if (work->part[i].what == KTR__DIFF_SITE || diff_is_class_of_many(work))
			diff_often(work, work->part[i].what);
	}
}

static void diff_judge(const struct ktr__diff *diff, struct ktr__diff_row *row)
{
	double least = log1p(diff->options.least), change, half;

	row->sees = INFINITY;
	row->high = INFINITY;
	row->ratio = row->value[0] > 0 ? row->value[1] / row->value[0] : row->value[1] > 0 ? INFINITY : NAN;
	if (diff->options.identical) {
		row->verdict = KTR__DIFF_SAME;
		row->ratio = row->low = row->high = 1;
		row->sees = 1 + diff->options.least;
		return;
	}
	if (!row->is_tested ||
	    ktr__noise_compare(&row->noise[0], &row->noise[1], diff->options.alpha / diff->n_tests, &change, &half))
		return;
	/* Of something that one side has none of there is no ratio, only an interval. */
	if (row->value[0] > 0 && row->value[1] > 0)
		row->ratio = exp(change);
	row->low = exp(change - half);
	row->high = exp(change + half);
	row->sees = exp(half > least ? half : least);
	if (fabs(change) > half && fabs(change) >= least)
		row->verdict = change > 0 ? KTR__DIFF_MORE : KTR__DIFF_LESS;
	else if (fabs(change) + half <= least)
		row->verdict = KTR__DIFF_SAME;
}


static int diff_work(struct diff_work *work)
{
	struct ktr__diff *diff = work->diff;
	int rc = diff_parts(work);

	if (rc)
		return rc;
	diff_rows(work);
	if (work->failed)
		return -ENOMEM;
	for (unsigned i = 0; i < diff->n_rows; i++)
		diff->n_tests += (unsigned)diff->row[i].is_tested;
	for (unsigned i = 0; i < diff->n_rows; i++) {
		diff_judge(diff, &diff->row[i]);
		diff->n_of[diff->row[i].verdict]++;
	}
	for (unsigned i = 0; i < work->n_runs; i++)
		diff->n_left_out += diff->run[i]->n_left_out;
	return 0;
}

int ktr__diff_new(struct ktr__diff **out, const struct ktr__blocks *const *run, unsigned n_a, unsigned n_b,
		  const struct ktr__diff_options *options)
{
	struct ktr__diff *diff = calloc(1, sizeof(*diff));
	struct diff_work work = { .diff = diff, .n_runs = n_a + n_b };
	int rc = -ENOMEM;

	*out = NULL;
	if (diff) {
		diff->options = *options;
		diff->run = run;
		diff->n_runs[0] = n_a;
		diff->n_runs[1] = n_b;
		rc = diff_work(&work);
	}
	free(work.part);
	free(work.group.of);
	free(work.number);
	if (rc)
		ktr__diff_free(diff);
	else
		*out = diff;
	return rc;
}

void ktr__diff_free(struct ktr__diff *diff)
{
	if (!diff)
		return;
	free(diff->row);
	free(diff);
}

const char *ktr__diff_word(const struct ktr__diff_row *row)
{
	static const char *const more[KTR__DIFF_WHATS] = { [KTR__DIFF_DURATION] = "longer",
							   [KTR__DIFF_TIME] = "slower",
							   [KTR__DIFF_TAIL] = "slower" };
	static const char *const less[KTR__DIFF_WHATS] = { [KTR__DIFF_DURATION] = "shorter",
							   [KTR__DIFF_TIME] = "faster",
							   [KTR__DIFF_TAIL] = "faster" };

	switch (row->verdict) {
	case KTR__DIFF_MORE:
		return more[row->what] ? more[row->what] : "more";
	case KTR__DIFF_LESS:
		return less[row->what] ? less[row->what] : "fewer";
	case KTR__DIFF_SAME:
		return "same";
	default:
		return "cannot tell";
	}
}
