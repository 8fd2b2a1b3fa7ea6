/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all kinds of charts do alike: clamp time, leave out what is not in the window, count, keep
 * track of losses, and put the words around the picture.
 */
#include "visualize/chart/plot.h"

#include "analyze/derive/derive.h"
#include "analyze/read/reader.h"
#include "visualize/chart/plots.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct ktr__plot_kind *const ktr__plot_kinds[] = { &ktr__plot_rate,    &ktr__plot_latency,
							 &ktr__plot_heatmap, &ktr__plot_load,
							 &ktr__plot_states,  &ktr__plot_counters,
							 &ktr__plot_gaps,    &ktr__plot_scatter,
							 &ktr__plot_compare, NULL };

const struct ktr__plot_kind *ktr__plot_find(const char *name)
{
	for (unsigned i = 0; ktr__plot_kinds[i] != NULL; i++)
		if (strcmp(ktr__plot_kinds[i]->name, name) == 0)
			return ktr__plot_kinds[i];
	return NULL;
}

static int plot_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__plot *plot = (struct ktr__plot *)sink;
	struct ktr_event still;

	if (event->time_ns < plot->now_ns) {
		plot->n_backwards++;
		still = *event;
		still.time_ns = plot->now_ns;
		event = &still;
	}
	plot->now_ns = event->time_ns;
	if (event->time_ns >= plot->grid.to_ns)
		return 0;
	plot->n_events += event->time_ns >= plot->grid.from_ns && !ktr__derive_is(event->site);
	return plot->kind->event(plot, event);
}

static int plot_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__plot *plot = (struct ktr__plot *)sink;

	if (plot->kind->loss != NULL)
		plot->kind->loss(plot, loss);
	return ktr__losses_add(&plot->losses, loss);
}

static int plot_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct ktr__plot *plot = (struct ktr__plot *)sink;

	plot->n_damaged += note->damaged != 0;
	return 0;
}

int ktr__plot_init(struct ktr__plot *plot, const struct ktr__plot_kind *kind,
		   const struct ktr_reader_info *info, const struct ktr__plot_options *options,
		   struct ktr_error *err)
{
	uint64_t from = options->from_ns > 0 ? options->from_ns : info->first_ns;
	uint64_t to = options->to_ns > 0 && options->to_ns <= info->last_ns ? options->to_ns
									    : info->last_ns + 1;

	memset(plot, 0, sizeof(*plot));
	plot->sink = (struct ktr_sink){ plot_event, plot_loss, plot_note };
	plot->kind = kind;
	plot->options = *options;
	plot->info = info;
	ktr__grid_init(&plot->grid, from, to, KTR__PLOT_COLUMNS);
	ktr__losses_init(&plot->losses, &plot->grid);
	ktr__frame_init(&plot->frame, info, options->command ? options->command : "");
	plot->state = calloc(1, kind->n_state);
	if (plot->state == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	return kind->begin != NULL ? kind->begin(plot, err) : 0;
}

static void plot_notes(struct ktr__plot *plot)
{
	if (plot->n_backwards > 0)
		ktr__frame_note(&plot->frame, "time ran backwards at %s events",
				ktr__label_count(plot->n_backwards).text);
	if (plot->n_damaged > 0)
		ktr__frame_note(&plot->frame, "%s parts of the trace are damaged and missing",
				ktr__label_count(plot->n_damaged).text);
}

unsigned ktr__plot_wants(const void *of, const struct ktr_reader_site *site)
{
	const struct ktr__plot *plot = of;
	int wants = plot->kind->filter != NULL && site->kind != KTR_KIND_EVENT;

	if (plot->options.pair != NULL)
		wants = 1;
	else if (plot->kind->wants != NULL)
		return plot->kind->wants(plot, site);
	return wants ? KTR__READER_ALL_ARGS : 0;
}

int ktr__plot_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	if (ktr__losses_end(&plot->losses) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	plot_notes(plot);
	ktr__frame_lost(&plot->frame, plot->info, &plot->losses, plot->n_events);
	return plot->kind->draw(plot, err);
}

void ktr__plot_free(struct ktr__plot *plot)
{
	if (plot->state != NULL && plot->kind->end != NULL)
		plot->kind->end(plot);
	free(plot->state);
	ktr__losses_free(&plot->losses);
	memset(plot, 0, sizeof(*plot));
}

int ktr__plot_chart(struct ktr__plot *plot, struct ktr__chart *chart, struct ktr_error *err)
{
	int error = ktr__chart_begin(chart, plot->options.file, plot->options.width,
				     plot->options.height, err);

	if (error != 0)
		return error;
	ktr__chart_frame(chart, &plot->frame);
	ktr__chart_style(chart);
	return 0;
}

int ktr__plot_nothing(const struct ktr__plot *plot, struct ktr_error *err, const char *format, ...)
{
	char what[160], lost[64] = "";
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	if (plot->losses.n_events > 0)
		snprintf(lost, sizeof(lost), "; %s events were lost", ktr__label_count(plot->losses.n_events).text);
	if (plot->info->last_ns == 0)
		return ktr_error_set(err, ENODATA, "nothing to draw: the trace holds no events%s",
				     lost);
	if (plot->n_events == 0)
		return ktr_error_set(err, ENODATA,
				     "nothing to draw: no events between %s and %s of a trace of %s%s",
				     ktr__frame_since(plot->info, plot->grid.from_ns).text,
				     ktr__frame_since(plot->info, plot->grid.to_ns).text,
				     ktr__frame_since(plot->info, plot->info->last_ns).text, lost);
	return ktr_error_set(err, ENODATA, "nothing to draw: %s among %s events%s", what,
			     ktr__label_count(plot->n_events).text, lost);
}
