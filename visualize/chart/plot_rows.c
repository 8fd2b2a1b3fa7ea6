/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeds a timeline with the events of one kind. */
#include "visualize/chart/plot_rows.h"

#include <errno.h>

int ktr__plot_rows_begin(struct ktr__plot *plot, enum ktr_event_kind kind, unsigned n_columns,
			 struct ktr_error *err)
{
	struct ktr__plot_rows *rows = plot->state;
	const struct ktr__timeline_options options = { .by = KTR__BY_IDS,
						       .from_ns = plot->grid.from_ns,
						       .to_ns = plot->grid.to_ns,
						       .n_columns = n_columns,
						       .group = &plot->options.group,
						       .n_groups = plot->options.group != NULL,
						       .colours = plot->options.colours };

	rows->kind = kind;
	if (ktr__timeline_init(&rows->timeline, plot->info, &options) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	return 0;
}

int ktr__plot_rows_event(struct ktr__plot *plot, const struct ktr_event *event)
{
	struct ktr__plot_rows *rows = plot->state;

	if (event->site->kind != rows->kind)
		return 0;
	return rows->timeline.sink.event(&rows->timeline.sink, event);
}

void ktr__plot_rows_loss(struct ktr__plot *plot, const struct ktr_loss *loss)
{
	struct ktr__plot_rows *rows = plot->state;

	rows->timeline.sink.loss(&rows->timeline.sink, loss);
}

int ktr__plot_rows_end(struct ktr__plot *plot, struct ktr_error *err)
{
	struct ktr__plot_rows *rows = plot->state;

	if (rows->timeline.error != 0 || ktr__timeline_end(&rows->timeline) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	return 0;
}

int ktr__plot_rows_none(const struct ktr__plot *plot, const char *macro, struct ktr_error *err)
{
	const char *group = plot->options.group;

	return ktr__plot_nothing(plot, err, "no %s%s%.60s", macro, group != NULL ? " of a group called " : "",
				 group != NULL ? group : "");
}
