/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Legends: each group of rows has one of its own, all rows with spans share one, all scopes, and all CPUs. A legend
 * lists the labels that cover most of the picture. Colours and letters are those of the table of labels, so that
 * another window, or other rows, change neither.
 */
#include "visualize/model/legend.h"

#include "visualize/model/counter.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"
#include "visualize/model/rows.h"
#include "visualize/model/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void legend_name(const struct ktr__view *view, const struct ktr__row *row, char *text,
			size_t size)
{
	if (view->by == KTR__BY_CPUS)
		snprintf(text, size, "threads");
	else if (row->nest != NULL)
		snprintf(text, size, "scopes");
	else if (row->has & KTR__ROW_STATES)
		snprintf(text, size, "%s", row->group);
	else
		snprintf(text, size, "spans");
}

/* The index of a group's legend, made when new, or -1 where there are too many. */
static int legend_find(struct ktr__view *view, const struct ktr__row *row)
{
	char name[KTR__LABEL_BYTES];

	legend_name(view, row, name, sizeof(name));
	for (unsigned i = 0; i < view->n_legends; i++)
		if (strcmp(view->legend[i].group, name) == 0)
			return (int)i;
	if (view->n_legends == KTR__LEGENDS)
		return -1;
	memcpy(view->legend[view->n_legends].group, name, sizeof(name));
	return (int)view->n_legends++;
}

/* How much of the picture each label covers on the lines of a legend. */
static void legend_weigh(const struct ktr__view *view, int legend, uint64_t *weight)
{
	unsigned n_columns = view->timeline->rows.grid.n_columns;

	for (unsigned i = 0; i < view->n_lines; i++) {
		const struct ktr__cell *cell;

		if (view->line[i].legend != legend)
			continue;
		cell = view->line[i].row->lane.cell;
		for (unsigned c = 0; c < n_columns; c++) {
			weight[cell[c].first] += cell[c].share;
			if (cell[c].second != 0)
				weight[cell[c].second] += cell[c].rest;
		}
	}
	weight[KTR__LABEL_NONE] = 0;
}

static int legend_by_label(const void *a, const void *b)
{
	const struct ktr__legend_entry *x = a, *y = b;

	return (int)x->label - (int)y->label;
}

/* Takes labels by falling weight until the legend is full; those of numbers are then in their order. */
static void legend_fill(const struct ktr__view *view, struct ktr__legend *legend, uint64_t *weight)
{
	const struct ktr__rows *rows = &view->timeline->rows;
	int numbers = 0;

	for (;;) {
		uint16_t best = 0;

		for (unsigned i = 1; i < rows->n_labels; i++)
			if (weight[i] > weight[best])
				best = (uint16_t)i;
		if (best == 0)
			break;
		if (best == KTR__LABEL_OTHER || legend->n == KTR__LEGEND_ENTRIES) {
			legend->n_more++;
		} else {
			numbers = numbers || rows->label_depth[best] > 0;
			legend->entry[legend->n++] = ktr__view_entry(view, best);
		}
		weight[best] = 0;
	}
	if (numbers)
		qsort(legend->entry, legend->n, sizeof(legend->entry[0]), legend_by_label);
}

int ktr__legend_make(struct ktr__view *view)
{
	uint64_t *weight = malloc(view->timeline->rows.n_labels * sizeof(*weight));

	view->legend = calloc(KTR__LEGENDS, sizeof(*view->legend));
	if (weight == NULL || view->legend == NULL) {
		free(weight);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < view->n_lines; i++)
		if (view->line[i].row != NULL && view->line[i].row->lane.cell != NULL)
			view->line[i].legend = legend_find(view, view->line[i].row);
	for (unsigned i = 0; i < view->n_legends; i++) {
		memset(weight, 0, view->timeline->rows.n_labels * sizeof(*weight));
		legend_weigh(view, (int)i, weight);
		legend_fill(view, &view->legend[i], weight);
	}
	free(weight);
	return 0;
}

void ktr__legend_fit(const struct ktr__view *view, const struct ktr__legend *legend, unsigned columns, int ascii,
		     struct ktr__label_name *name)
{
	for (unsigned i = 0; i < legend->n; i++)
		name[i] = (struct ktr__label_name){ .text = view->timeline->rows.label[legend->entry[i].label],
						    .columns = columns };
	ktr__label_fit_names(name, legend->n, ascii);
}

struct ktr__legend_entry ktr__view_entry(const struct ktr__view *view, uint16_t label)
{
	const struct ktr__rows *rows = &view->timeline->rows;

	return (struct ktr__legend_entry){ label, rows->label_letter[label], rows->label_colour[label] };
}

/* A name as the legend shows it in so many columns: apart from the others there. */
static void legend_state_name(const struct ktr__view *view, const struct ktr__line *line, uint16_t label,
			      unsigned columns, int ascii, char *text, size_t size)
{
	const struct ktr__legend *legend = line->legend >= 0 ? &view->legend[line->legend] : NULL;
	struct ktr__label_name name[KTR__LEGEND_ENTRIES];

	if (legend != NULL)
		ktr__legend_fit(view, legend, columns, ascii, name);
	for (unsigned i = 0; legend != NULL && i < legend->n; i++)
		if (legend->entry[i].label == label) {
			snprintf(text, size, "%s", name[i].fit);
			return;
		}
	ktr__label_fit(text, size, view->timeline->rows.label[label], columns, ascii);
}

static void legend_remark_states(const struct ktr__view *view, const struct ktr__line *line, unsigned columns,
				 int ascii, char *text, size_t size)
{
	const struct ktr__rows *rows = &view->timeline->rows;
	const struct ktr__row *row = line->row;
	char name[KTR__LABEL_BYTES];
	const struct ktr__stay *most = NULL, *any = NULL;
	uint64_t window = rows->grid.to_ns - rows->grid.from_ns;

	for (unsigned i = 0; i < row->n_stays; i++) {
		const struct ktr__stay *stay = &row->stay[i];

		if (any == NULL || stay->total_ns > any->total_ns)
			any = stay;
		if (!ktr__palette_is_idle(rows->label[stay->label]) &&
		    (most == NULL || stay->total_ns > most->total_ns))
			most = stay;
	}
	most = most != NULL ? most : any;
	if (most != NULL) {
		struct ktr__label_text share = ktr__number_share((double)most->total_ns, (double)window);
		unsigned used = (unsigned)strlen(share.text) + 1;

		legend_state_name(view, line, most->label, columns > used ? columns - used : 1, ascii, name,
				  sizeof(name));
		snprintf(text, size, "%s %s", name, share.text);
	}
}

/* All depths of a row with spans count as one. */
static void legend_remark_spans(const struct ktr__view *view, const struct ktr__row *row,
				char *text, size_t size)
{
	uint64_t window = view->timeline->rows.grid.to_ns - view->timeline->rows.grid.from_ns;
	uint64_t total = 0;

	for (unsigned i = 0; i < row->n_stays; i++)
		total += row->stay[i].total_ns;
	snprintf(text, size, "open %s", ktr__number_share((double)total, (double)window).text);
}

void ktr__view_remark(const struct ktr__view *view, const struct ktr__line *line, unsigned columns, int ascii,
		      char *text, size_t size)
{
	const struct ktr__row *row = line->row;

	text[0] = '\0';
	if (row != NULL && row->kind == KTR__ROW_ID && (row->has & KTR__ROW_STATES))
		legend_remark_states(view, line, columns, ascii, text, size);
	else if (row != NULL && (row->has & KTR__ROW_SPANS))
		legend_remark_spans(view, row, text, size);
	else if (row != NULL && row->area.cell != NULL)
		snprintf(text, size, "%.10g to %.10g%s", row->area.least, row->area.greatest,
			 ktr__counter_unit(row->name).text);
	else if (line->marks != NULL || row != NULL)
		snprintf(text, size, "%s events",
			 ktr__label_count((line->marks ? line->marks : row)->n_events).text);
}
