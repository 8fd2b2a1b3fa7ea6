/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a timeline is drawn: which rows in which order under which headings, with which colours.
 * Both the terminal and the charts draw a view, so that they show the same.
 */
#ifndef VISUALIZE_VIEW_H
#define VISUALIZE_VIEW_H

#include "visualize/model/finding.h"
#include "visualize/model/label.h"
#include "visualize/model/timeline.h"

#define KTR__LEGEND_ENTRIES 24u

/* A line of the picture: a heading (rows are NULL) or a row. */
struct ktr__line {
	const struct ktr__row *row;   /* its lane and area */
	const struct ktr__row *marks; /* its marks; may be another one's: those of the thread */
	int legend;                   /* index, or -1 */
	int indent;                   /* 0 below a heading */
	unsigned said;                /* 1: the title is about it, 2: the line below that; 0: neither */
	char text[KTR__LABEL_BYTES];
};

/* Colours and letters of the labels of one group; those that cover most of the picture first. */
struct ktr__legend {
	char group[KTR__LABEL_BYTES];
	unsigned n;
	unsigned n_more; /* smaller ones that are not listed */
	struct ktr__legend_entry {
		uint16_t label;
		char letter;
		uint32_t colour;
	} entry[KTR__LEGEND_ENTRIES];
};

struct ktr__view {
	const struct ktr__timeline *timeline;
	enum ktr__timeline_by by; /* never KTR__BY_AUTO, nor KTR__BY_NAMES */
	struct ktr__line *line;   /* owned */
	unsigned n_lines;
	unsigned n_rows;            /* lines that are rows */
	unsigned n_hidden;          /* rows that have no line of their own */
	unsigned n_deeper;          /* of them, levels of scopes below one that may have a line */
	struct ktr__row *rest;      /* owned; what happens on them, as the marks of the last line */
	struct ktr__legend *legend; /* owned */
	unsigned n_legends;
	struct ktr__finding finding[KTR__FINDINGS]; /* the first two are said, if their rows have lines */
	int n_findings;
};

/*
 * Chooses and orders at most max_lines lines, headings included: where there are too many rows,
 * those that stand out and those with the most events stay. 0 or -ENOMEM; ktr__view_free() is due
 * then, too.
 */
int ktr__view_init(struct ktr__view *view, const struct ktr__timeline *timeline,
		   unsigned max_lines);
void ktr__view_free(struct ktr__view *view);

/* The texts of the lines, for ktr__label_fit_names(), with no columns yet: [n_lines], owned; NULL: no memory. */
struct ktr__label_name *ktr__view_names(const struct ktr__view *view);

#endif
