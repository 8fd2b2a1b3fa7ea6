/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long things took: a histogram, the share that took at most so long, and a table of
 * percentiles, for one or several series.
 */
#ifndef VISUALIZE_DISTRIBUTION_H
#define VISUALIZE_DISTRIBUTION_H

#include "analyze/stats/histogram.h"
#include "visualize/chart/chart.h"

#define KTR__DISTRIBUTIONS 7u /* series that are drawn at most */

struct ktr__distribution {
	const char *name;
	const struct ktr__histogram *histogram; /* [ns]; not empty */
	uint32_t colour;
	char remark[KTR__LABEL_BYTES]; /* last column of the table */
};

/*
 * Draws into the room that the chart's frame leaves. what: "how long spans took", for the axis; as_shares: of each
 * series' own spans, not how many.
 */
void ktr__distribution_draw(struct ktr__chart *chart, const struct ktr__distribution *series,
			    unsigned n, const char *what, int as_shares);

#endif
