/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks for what stands out: for each process and group, and each state that at least two of its
 * rows know, how far the greatest share of the window that a row spends in it lies above the
 * median. States that say "idle" count half, because being idle is mostly the consequence of
 * something else.
 *
 * A group of fewer than three rows has no "others"; a state that one row alone knows says that this
 * row has another job, not that it does the same job differently.
 *
 * Of many rows one always has the most. It is told only where chance would hardly make it so (finding_chance()).
 * Of m numbers that are spread exponentially, which is as far as shares reach in practice, the greatest has more
 * than a part g of their sum with a probability of at most m (1 - g)^(m - 1) (Fisher, "Tests of significance in
 * harmonic analysis", 1929; as a test for outliers: Barnett and Lewis, "Outliers in Statistical Data", 6.3). So
 * the number of rows is in it. What an exponential sample has above one of its order statistics is an
 * exponential sample again (Epstein and Sobel, "Some theorems relevant to life testing from an exponential
 * distribution", 1954): shares are looked at as they are, for a state that rows are seldom in, and above the
 * median, for one that all are in alike. Both tests, and those of all states, share the chance by Bonferroni's
 * inequality (Dunn, "Multiple comparisons among means", 1961). States in which all rows together spend too
 * little for a finding are not tested; how much that is tells nothing of how it is spread (Basu, "On statistics
 * independent of a complete sufficient statistic", 1955).
 *
 * A lock that is held long stands out by no more than the time that others have waited for it.
 *
 * Where a row's rings lost events nobody knows what it did. Its share lies between what is known and that and
 * all of the gaps; a row stands out if its least does so among the greatest of the others.
 */
#include "visualize/model/finding.h"

#include "analyze/derive/derive.h"
#include "visualize/model/label.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDING_ROWS_MIN 3u
#define FINDING_LEAST    0.2 /* smaller differences are not worth a sentence */
#define FINDING_STATES   64u /* of one group that are looked at */
#define FINDING_CHANCE   0.05 /* of a sentence that chance alone would have made; of all of them together */

struct finding_group {
	const struct ktr__rows *rows;
	const unsigned *member; /* indices of rows */
	const double *unknown;  /* [of the window] by row: lies in gaps of its rings */
	unsigned n;
	double *least; /* [of the window] scratch, n elements: what is known of each member */
	double *most;  /* that, and what may be in gaps */
	double *sorted;
	double chance; /* what a finding's may be; 0: the states are only counted */
	unsigned n_states; /* that several of its rows know, and that could be a finding's */
};

static int finding_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The probability that one of m numbers, sorted, has so much of their sum, all less base. */
static double finding_part(const double *sorted, unsigned m, double one, double base)
{
	double sum = 0, part;

	for (unsigned i = 0; i < m; i++)
		sum += sorted[i] - base;
	part = sum > 0 ? (one - base) / sum : 0;
	return part > 0 && part <= 1 ? m * pow(1 - part, m - 1) : 1;
}

/* The chance that one of n sorted shares is so great, of both tests; see above. */
static double finding_chance(const double *sorted, unsigned n, double one)
{
	unsigned middle = n / 2;

	return 2 * fmin(finding_part(sorted, n, one, 0),
			finding_part(sorted + middle, n - middle, one, sorted[middle - 1]));
}

static int finding_same(const struct ktr__row *a, const struct ktr__row *b)
{
	return a->process_key == b->process_key && strcmp(a->group, b->group) == 0;
}

/* [of the window] How long threads have waited for the lock of a row: that is a row beside it (analyze/derive/). */
static double finding_waited(const struct finding_group *g, const struct ktr__row *lock)
{
	double window = (double)(g->rows->grid.to_ns - g->rows->grid.from_ns), ns = 0;
	size_t n = strlen(lock->name);

	for (unsigned i = 0; i < g->rows->n_rows; i++) {
		const struct ktr__row *row = g->rows->row[i];

		if (!finding_same(row, lock) || strncmp(row->name, lock->name, n) != 0 ||
		    strcmp(row->name + n, KTR__DERIVE_WAITERS) != 0)
			continue;
		for (unsigned k = 0; k < row->n_stays; k++)
			ns += g->rows->label_depth[row->stay[k].label] > 0 ? (double)row->stay[k].total_ns : 0;
	}
	return ns / window;
}

/* The member that has the state most, for certain, among the others with all that they may have. */
static void finding_top(const struct finding_group *g, uint16_t label, unsigned top, struct ktr__finding *best)
{
	const struct ktr__row *row = g->rows->row[g->member[top]];
	double weight = ktr__palette_is_idle(g->rows->label[label]) ? 0.5 : 1, median, score;
	int unsure = 0;

	for (unsigned i = 0; i < g->n; i++) {
		g->sorted[i] = i == top ? g->least[i] : g->most[i];
		unsure |= g->most[i] > g->least[i];
	}
	qsort(g->sorted, g->n, sizeof(double), finding_compare);
	median = (g->sorted[(g->n - 1) / 2] + g->sorted[g->n / 2]) / 2;
	score = weight * (g->least[top] - median);
	/* A lock that nobody waits for may be held as long as one likes. */
	if (score > best->score && row->is_lock)
		score = fmin(score, finding_waited(g, row));
	if (score > best->score && finding_chance(g->sorted, g->n, g->least[top]) <= g->chance)
		*best = (struct ktr__finding){ row, label, score, g->least[top], median, unsure };
}

/* One state of a group. */
static void finding_state(struct finding_group *g, uint16_t label, struct ktr__finding *best, double *odd)
{
	double window = (double)(g->rows->grid.to_ns - g->rows->grid.from_ns), median;
	double weight = ktr__palette_is_idle(g->rows->label[label]) ? 0.5 : 1;
	unsigned n_known = 0, top = 0;
	double sum = 0;

	for (unsigned i = 0; i < g->n; i++) {
		const struct ktr__stay *stay = ktr__row_stay(g->rows->row[g->member[i]], label);

		n_known += stay != NULL;
		g->least[i] = stay != NULL ? (double)stay->total_ns / window : 0;
		g->most[i] = fmin(1, g->least[i] + g->unknown[g->member[i]]);
		g->sorted[i] = g->least[i];
		sum += g->least[i];
		if (g->least[i] > g->least[top])
			top = i;
	}
	if (n_known < 2)
		return;
	g->n_states += sum >= FINDING_LEAST;
	if (g->chance <= 0)
		return;
	qsort(g->sorted, g->n, sizeof(double), finding_compare);
	median = (g->sorted[(g->n - 1) / 2] + g->sorted[g->n / 2]) / 2;
	for (unsigned i = 0; i < g->n; i++) {
		double score = weight * (g->least[i] - median);

		if (score > odd[g->member[i]])
			odd[g->member[i]] = score;
	}
	finding_top(g, label, top, best);
}

static void finding_group(struct finding_group *g, struct ktr__finding *best, double *odd)
{
	uint16_t seen[FINDING_STATES];
	unsigned n_seen = 0;

	for (unsigned i = 0; i < g->n; i++) {
		const struct ktr__row *row = g->rows->row[g->member[i]];

		for (unsigned k = 0; k < row->n_stays && n_seen < FINDING_STATES; k++) {
			unsigned at = 0;

			while (at < n_seen && seen[at] != row->stay[k].label)
				at++;
			if (at < n_seen)
				continue;
			seen[n_seen++] = row->stay[k].label;
			finding_state(g, row->stay[k].label, best, odd);
		}
	}
}

static int finding_by_group(const void *a, const void *b, void *context)
{
	const struct ktr__rows *rows = context;
	const struct ktr__row *x = rows->row[*(const unsigned *)a];
	const struct ktr__row *y = rows->row[*(const unsigned *)b];

	if (x->process_key != y->process_key)
		return x->process_key < y->process_key ? -1 : 1;
	return strcmp(x->group, y->group);
}

/* Puts one in its place among at most KTR__FINDINGS. */
static int finding_insert(struct ktr__finding *list, int n, const struct ktr__finding *one)
{
	int at = n < (int)KTR__FINDINGS ? n : (int)KTR__FINDINGS - 1;

	if (one->score < FINDING_LEAST)
		return n;
	for (; at > 0; at--) {
		const struct ktr__finding *before = &list[at - 1];
		int own = one->row->thread != NULL, its = before->row->thread != NULL;

		if (own < its || (own == its && one->score <= before->score))
			break;
		list[at] = list[at - 1];
	}
	list[at] = *one;
	return n < (int)KTR__FINDINGS ? n + 1 : n;
}

/* The indices of rows with states, group by group. */
static unsigned finding_members(const struct ktr__rows *rows, unsigned *member, double *odd)
{
	unsigned n = 0;

	for (unsigned i = 0; i < rows->n_rows; i++) {
		odd[i] = 0;
		if (rows->row[i]->kind == KTR__ROW_ID && (rows->row[i]->has & KTR__ROW_STATES))
			member[n++] = i;
	}
	qsort_r(member, n, sizeof(*member), finding_by_group, (void *)(uintptr_t)rows);
	return n;
}

/* [of the window] How much of each row's time lies in gaps of its rings. */
static void finding_gaps(const struct ktr__rows *rows, const struct ktr__losses *losses, double *unknown)
{
	for (unsigned i = 0; i < rows->n_rows; i++) {
		const struct ktr__row *row = rows->row[i];
		double sum = 0;

		for (unsigned c = 0; losses->n_lanes > 0 && row->n_stays > 0 && c < rows->grid.n_columns; c++)
			sum += ktr__row_lost(row, losses, c);
		unknown[i] = sum / 255 / rows->grid.n_columns;
	}
}

/* Goes through the groups; of chance 0: only counts. Returns how many states are tested; *found: findings. */
static unsigned finding_groups(struct finding_group *g, unsigned n, struct ktr__finding *finding, int *found,
			       double *odd)
{
	const unsigned *member = g->member;
	unsigned n_states = 0;

	for (unsigned i = 0, k; i < n; i = k) {
		struct ktr__finding best = { 0 };

		g->member = member + i;
		g->n = g->n_states = 0;
		for (k = i; k < n && finding_same(g->rows->row[member[i]], g->rows->row[member[k]]); k++)
			g->n++;
		if (g->n >= FINDING_ROWS_MIN)
			finding_group(g, &best, odd);
		n_states += g->n_states;
		*found = finding_insert(finding, *found, &best);
	}
	g->member = member;
	return n_states;
}

int ktr__finding_look(const struct ktr__rows *rows, const struct ktr__losses *losses,
		      struct ktr__finding finding[KTR__FINDINGS], double *odd)
{
	unsigned *member = malloc((rows->n_rows + 1) * sizeof(*member)), n, n_states;
	double *scratch = malloc((4 * (size_t)rows->n_rows + 1) * sizeof(*scratch));
	struct finding_group g = { .rows = rows, .member = member, .unknown = scratch };
	int found = 0;

	if (member == NULL || scratch == NULL) {
		free(member);
		free(scratch);
		return -ENOMEM;
	}
	n = finding_members(rows, member, odd);
	finding_gaps(rows, losses, scratch);
	g.least = scratch + rows->n_rows;
	g.most = g.least + rows->n_rows;
	g.sorted = g.most + rows->n_rows;
	n_states = finding_groups(&g, n, finding, &found, odd);
	g.chance = FINDING_CHANCE / (n_states > 0 ? n_states : 1);
	finding_groups(&g, n, finding, &found, odd);
	free(member);
	free(scratch);
	return found;
}

void ktr__finding_text(const struct ktr__rows *rows, const struct ktr__finding *finding, char *text,
		       size_t size)
{
	const struct ktr__stay *stay;

	text[0] = '\0';
	stay = ktr__row_stay(finding->row, finding->label);
	if (stay == NULL)
		return;
	/* What lasted longer than is known may have lasted on. */
	snprintf(text, size, "%s is \"%s\" %s%s of the time: %s, %s%s%s at once%s (median of %s: %s%s)",
		 finding->row->name, rows->label[finding->label], finding->unsure ? "at least " : "",
		 ktr__number_share(finding->share, 1).text, ktr__label_duration(stay->total_ns).text,
		 finding->unsure ? "" : "up to ", ktr__label_duration(stay->longest_ns).text,
		 finding->unsure ? " of it" : "", stay->open ? ", to the end" : "", finding->row->group,
		 finding->unsure ? "at most " : "", ktr__number_share(finding->median, 1).text);
}
