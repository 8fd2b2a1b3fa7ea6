/* SPDX-License-Identifier: BSD-2-Clause */
/* What charts over time have in common: the time axis and the hatching of gaps. */
#ifndef VISUALIZE_CHART_TIME_H
#define VISUALIZE_CHART_TIME_H

#include "visualize/chart/axis.h"
#include "visualize/chart/chart.h"
#include "visualize/model/rows.h"

struct ktr__chart_time {
	struct ktr__axis axis;
	double from;       /* [axis unit] since the trace began, of column 0 */
	double per_column; /* [axis unit] */
	unsigned n_columns;
};

/* Fits the axis to a window and writes range, ticks and label. */
void ktr__chart_time_axis(struct ktr__chart *chart, struct ktr__chart_time *time,
			  const struct ktr__grid *grid, const struct ktr_reader_info *info);

/* Takes the text of the axis away again, for a panel that stands above another one. */
void ktr__chart_time_quiet(struct ktr__chart *chart, const struct ktr__chart_time *time);

/*
 * Range and ticks of a logarithmic axis of durations [ns], 'x' or 'y', above 0: 10 us, 20 us, 50 us, or powers
 * of ten alone where it is long. Without text: for a panel that stands above another one.
 */
void ktr__chart_durations(struct ktr__chart *chart, char axis, double low, double high, int with_text);

/* Where a column begins, in the axis' unit. */
double ktr__chart_time_x(const struct ktr__chart_time *time, unsigned column);

/*
 * Writes the columns that lie in gaps as boxes "from to floor top" into the table that is open:
 * those of a row (ktr__row_lost), or, of NULL, of all rings.
 */
void ktr__chart_time_gaps(struct ktr__chart *chart, const struct ktr__chart_time *time,
			  const struct ktr__losses *losses, const struct ktr__row *row, double floor, double top);

/*
 * The end of a plot command that hatches the table $gaps, whose rows ktr__chart_time_gaps() wrote.
 */
#define KTR__CHART_GAPS                                                                            \
	"$gaps using 1:3:1:2:3:4 with boxxyerror fs transparent pattern 4 noborder"                \
	" lc rgb '#000000'\n"

#endif
