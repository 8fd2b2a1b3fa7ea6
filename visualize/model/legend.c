/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours and letters: each group of rows has a legend of its own, all rows with spans share one,
 * and so do all CPUs. Within a legend the labels that cover most of the picture get the colours
 * that differ most. Idle states are pale, and vermillion is kept for the state that stands out.
 */
#include "visualize/model/legend.h"

#include "visualize/model/palette.h"
#include "visualize/model/rows.h"
#include "visualize/model/view.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void legend_name(const struct ktr__view *view, const struct ktr__row *row, char *text,
			size_t size)
{
	if (view->by == KTR__BY_CPUS)
		snprintf(text, size, "threads");
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

/* A letter that no other entry has: of the name's own, if there is one. */
static char legend_letter(const struct ktr__legend *legend, const char *name, int idle)
{
	static const char any[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	char wish[2 * KTR__LABEL_BYTES + 8 + sizeof(any)];
	size_t n = 0;

	if (idle)
		n = (size_t)snprintf(wish, sizeof(wish), ".:-");
	for (const char *p = name; *p != '\0' && n < 2 * KTR__LABEL_BYTES; p++) {
		if (!isalnum((unsigned char)*p) || !isascii((unsigned char)*p))
			continue;
		wish[n++] = (char)toupper((unsigned char)*p);
		wish[n++] = (char)tolower((unsigned char)*p);
	}
	memcpy(wish + n, any, sizeof(any));
	for (const char *w = wish; *w != '\0'; w++) {
		unsigned i = 0;

		while (i < legend->n && legend->entry[i].letter != *w)
			i++;
		if (i == legend->n)
			return *w;
	}
	return '?';
}

static int legend_stands_out(const struct ktr__view *view, const struct ktr__legend *legend,
			     uint16_t label)
{
	for (int i = 0; i < view->n_findings; i++)
		if (view->finding[i].label == label &&
		    strcmp(view->finding[i].row->group, legend->group) == 0)
			return 1;
	return 0;
}

static void legend_add(struct ktr__view *view, struct ktr__legend *legend, uint16_t label, unsigned *n_colours)
{
	const char *name = view->timeline->rows.label[label];
	int idle = ktr__palette_is_idle(name);
	uint32_t colour = KTR__PALE;

	if (!idle)
		colour = legend_stands_out(view, legend, label) ? KTR__VERMILLION
								: ktr__palette((*n_colours)++);
	if (colour == KTR__GREY || label == KTR__LABEL_OTHER || legend->n == KTR__LEGEND_ENTRIES) {
		legend->n_more++;
		return;
	}
	legend->entry[legend->n] = (struct ktr__legend_entry){ label, legend_letter(legend, name, idle), colour };
	legend->n++;
}

/* Takes labels by falling weight until all of them are in the legend. */
static void legend_fill(struct ktr__view *view, struct ktr__legend *legend, uint64_t *weight)
{
	unsigned n_colours = 0;

	for (;;) {
		uint16_t best = 0;

		for (unsigned i = 1; i < view->timeline->rows.n_labels; i++)
			if (weight[i] > weight[best])
				best = (uint16_t)i;
		if (best == 0)
			return;
		if (legend->n + legend->n_more >= 2 * KTR__LEGEND_ENTRIES)
			legend->n_more++; /* grey for certain; no need to order them */
		else
			legend_add(view, legend, best, &n_colours);
		weight[best] = 0;
	}
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

struct ktr__legend_entry ktr__view_entry(const struct ktr__view *view, const struct ktr__line *line,
					 uint16_t label)
{
	struct ktr__legend_entry none = { label, '*', KTR__GREY };

	if (line->legend >= 0) {
		const struct ktr__legend *legend = &view->legend[line->legend];

		for (unsigned i = 0; i < legend->n; i++)
			if (legend->entry[i].label == label)
				return legend->entry[i];
	}
	return none;
}

static void legend_remark_states(const struct ktr__view *view, const struct ktr__row *row,
				 char *text, size_t size)
{
	const struct ktr__rows *rows = &view->timeline->rows;
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
	if (most != NULL)
		snprintf(text, size, "%s %.*f %%", rows->label[most->label],
			 most->total_ns * 10 < window ? 1 : 0,
			 100 * (double)most->total_ns / (double)window);
}

/* All depths of a row with spans count as one. */
static void legend_remark_spans(const struct ktr__view *view, const struct ktr__row *row,
				char *text, size_t size)
{
	uint64_t window = view->timeline->rows.grid.to_ns - view->timeline->rows.grid.from_ns;
	uint64_t total = 0;

	for (unsigned i = 0; i < row->n_stays; i++)
		total += row->stay[i].total_ns;
	snprintf(text, size, "open %.*f %%", total * 10 < window ? 1 : 0,
		 100 * (double)total / (double)window);
}

void ktr__view_remark(const struct ktr__view *view, const struct ktr__line *line, char *text,
		      size_t size)
{
	const struct ktr__row *row = line->row;

	text[0] = '\0';
	if (row != NULL && row->kind == KTR__ROW_ID && (row->has & KTR__ROW_STATES))
		legend_remark_states(view, row, text, size);
	else if (row != NULL && (row->has & KTR__ROW_SPANS))
		legend_remark_spans(view, row, text, size);
	else if (row != NULL && row->area.cell != NULL)
		snprintf(text, size, "%.10g to %.10g", row->area.least, row->area.greatest);
	else if (line->marks != NULL || row != NULL)
		snprintf(text, size, "%s events",
			 ktr__label_count((line->marks ? line->marks : row)->n_events).text);
}
