/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands out in a timeline: the row that spends a much greater share of its time in some state
 * than the rows of its group do, by more than the number of rows explains. A fact about the data, put into one
 * sentence; no judgement of cause.
 */
#ifndef VISUALIZE_FINDING_H
#define VISUALIZE_FINDING_H

#include "visualize/model/rows.h"

#include <stddef.h>

struct ktr__finding {
	const struct ktr__row *row;
	uint16_t label;
	double score;  /* how far it stands out */
	double share;  /* of the window; where the row's rings lost events, at least */
	double median; /* of the rows of the same process and group; where their rings lost events, at most */
	int unsure;    /* the row's or the median is such a bound */
};

#define KTR__FINDINGS 4u

/*
 * Finds at most KTR__FINDINGS of them, one for each process and group: first those about rows that
 * are a thread's own, then by how much they stand out. losses: where the rows' rings lost events. odd (owned by the
 * caller, rows->n_rows elements) gets how much each row stands out, from 0 to 1. Returns how many, or -ENOMEM.
 */
int ktr__finding_look(const struct ktr__rows *rows, const struct ktr__losses *losses,
		      struct ktr__finding finding[KTR__FINDINGS], double *odd);

/* One sentence. */
void ktr__finding_text(const struct ktr__rows *rows, const struct ktr__finding *finding, char *text,
		       size_t size);

#endif
