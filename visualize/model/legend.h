/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours and letters for what a view shows. */
#ifndef VISUALIZE_LEGEND_H
#define VISUALIZE_LEGEND_H

#include "visualize/model/view.h"

#define KTR__LEGENDS 64u /* groups with colours of their own; later ones are grey */

/* Fills view->legend and the lines' legend. 0 or -ENOMEM. */
int ktr__legend_make(struct ktr__view *view);

/* Returns a label's colour and letter, whether or not a legend lists it. */
struct ktr__legend_entry ktr__view_entry(const struct ktr__view *view, uint16_t label);

/*
 * What is to be said about a row in a few words: "waiting for lock 81 %", "at most 64". A state's name takes what
 * there is of so many columns, and is not cut to what another one's is.
 */
void ktr__view_remark(const struct ktr__view *view, const struct ktr__line *line, unsigned columns, int ascii,
		      char *text, size_t size);

/* Its names in so many columns each: name is [KTR__LEGEND_ENTRIES]. */
void ktr__legend_fit(const struct ktr__view *view, const struct ktr__legend *legend, unsigned columns, int ascii,
		     struct ktr__label_name *name);

#endif
