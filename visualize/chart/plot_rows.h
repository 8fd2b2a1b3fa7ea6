/* SPDX-License-Identifier: BSD-2-Clause */
/* What the charts of states and of counters have in common: a timeline of the rows of one kind. */
#ifndef VISUALIZE_PLOT_ROWS_H
#define VISUALIZE_PLOT_ROWS_H

#include "visualize/chart/plot.h"
#include "visualize/model/timeline.h"

/* What their state begins with. */
struct ktr__plot_rows {
	struct ktr__timeline timeline;
	enum ktr_event_kind kind;
};

/* 0 or -errno; ktr__timeline_free() is due in any case. */
int ktr__plot_rows_begin(struct ktr__plot *plot, enum ktr_event_kind kind, unsigned n_columns,
			 struct ktr_error *err);
int ktr__plot_rows_event(struct ktr__plot *plot, const struct ktr_event *event);
void ktr__plot_rows_loss(struct ktr__plot *plot, const struct ktr_loss *loss);

/* Ends all rows. 0 or -ENOMEM. */
int ktr__plot_rows_end(struct ktr__plot *plot, struct ktr_error *err);

/* -ENODATA: there is no row; macro: what would make one. */
int ktr__plot_rows_none(const struct ktr__plot *plot, const char *macro, struct ktr_error *err);

#endif
