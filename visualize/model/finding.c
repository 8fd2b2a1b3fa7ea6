/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks for what stands out: for each process and group, and each state that at least two of its
 * rows know, how far the greatest share of the window that a row spends in it lies above the
 * median. States that say "idle" count half, because being idle is mostly the consequence of
 * something else.
 *
 * A group of fewer than three rows has no "others"; a state that one row alone knows says that this
 * row has another job, not that it does the same job differently.
 */
#include "visualize/model/finding.h"

#include "visualize/model/label.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDING_ROWS_MIN 3u
#define FINDING_LEAST    0.2 /* smaller differences are not worth a sentence */
#define FINDING_STATES   64u /* of one group that are looked at */

struct finding_group {
	const struct ktr__rows *rows;
	const unsigned *member; /* indices of rows */
	unsigned n;
	double *share; /* scratch, n elements */
	double *sorted;
};

static int finding_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One state of a group. */
static void finding_state(const struct finding_group *g, uint16_t label, struct ktr__finding *best,
			  double *odd)
{
	double window = (double)(g->rows->grid.to_ns - g->rows->grid.from_ns), median;
	double weight = ktr__palette_is_idle(g->rows->label[label]) ? 0.5 : 1;
	unsigned n_known = 0;

	for (unsigned i = 0; i < g->n; i++) {
		const struct ktr__stay *stay = ktr__row_stay(g->rows->row[g->member[i]], label);

		n_known += stay != NULL;
		g->share[i] = stay != NULL ? (double)stay->total_ns / window : 0;
		g->sorted[i] = g->share[i];
	}
	if (n_known < 2)
		return;
	qsort(g->sorted, g->n, sizeof(double), finding_compare);
	median = (g->sorted[(g->n - 1) / 2] + g->sorted[g->n / 2]) / 2;
	for (unsigned i = 0; i < g->n; i++) {
		double score = weight * (g->share[i] - median);

		if (score > odd[g->member[i]])
			odd[g->member[i]] = score;
		if (score > best->score)
			*best = (struct ktr__finding){ g->rows->row[g->member[i]], label, score, g->share[i],
						       median };
	}
}

static void finding_group(const struct finding_group *g, struct ktr__finding *best, double *odd)
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

static int finding_same(const struct ktr__row *a, const struct ktr__row *b)
{
	return a->process_key == b->process_key && strcmp(a->group, b->group) == 0;
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

int ktr__finding_look(const struct ktr__rows *rows, struct ktr__finding finding[KTR__FINDINGS],
		      double *odd)
{
	unsigned *member = malloc((rows->n_rows + 1) * sizeof(*member));
	double *scratch = malloc((2 * (size_t)rows->n_rows + 1) * sizeof(*scratch));
	unsigned n;
	int found = 0;

	if (member == NULL || scratch == NULL) {
		free(member);
		free(scratch);
		return -ENOMEM;
	}
	n = finding_members(rows, member, odd);
	for (unsigned i = 0, k; i < n; i = k) {
		struct finding_group g = { rows, member + i, 0, scratch, scratch + rows->n_rows };
		struct ktr__finding best = { 0 };

		for (k = i; k < n && finding_same(rows->row[member[i]], rows->row[member[k]]); k++)
			g.n++;
		if (g.n >= FINDING_ROWS_MIN)
			finding_group(&g, &best, odd);
		found = finding_insert(finding, found, &best);
	}
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
	snprintf(text, size, "%s is \"%s\" %.0f %% of the time: %s, up to %s at once%s (median of %s: %.*f %%)",
		 finding->row->name, rows->label[finding->label], 100 * finding->share,
		 ktr__label_duration(stay->total_ns).text, ktr__label_duration(stay->longest_ns).text,
		 stay->open ? ", to the end" : "", finding->row->group, finding->median < 0.0995 ? 1 : 0,
		 100 * finding->median);
}
