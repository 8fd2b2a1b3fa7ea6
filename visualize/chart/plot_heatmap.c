/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long spans take, and when: time from left to right, duration upwards, colour says how many. A
 * slow phase is a patch, a rare outlier a dot.
 */
#include "visualize/chart/durations.h"
#include "visualize/chart/plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define HEATMAP_PER_DECADE 10u
#define HEATMAP_ROWS       (14u * HEATMAP_PER_DECADE) /* 1 ns to 10^14 ns, more than a day */

struct heatmap {
	struct ktr__durations durations; /* first */
	uint32_t *cell; /* owned; row by row */
	unsigned lowest, highest;
	uint32_t most;
};

static void heatmap_duration(struct ktr__plot *plot, uint64_t from, uint64_t to)
{
	struct heatmap *map = plot->state;
	double ns = to > from ? (double)(to - from) : 1;
	unsigned row = (unsigned)floor(log10(ns) * HEATMAP_PER_DECADE);
	uint32_t *cell;

	if (row >= HEATMAP_ROWS)
		row = HEATMAP_ROWS - 1;
	cell = &map->cell[row * plot->grid.n_columns + ktr__grid_column(&plot->grid, from)];
	*cell += *cell < UINT32_MAX;
	map->most = *cell > map->most ? *cell : map->most;
	map->lowest = row < map->lowest ? row : map->lowest;
	map->highest = row > map->highest ? row : map->highest;
}

static int heatmap_begin(struct ktr__plot *plot, struct ktr_error *err)
{
	struct heatmap *map = plot->state;

	map->lowest = HEATMAP_ROWS;
	map->durations.call = heatmap_duration;
	map->cell = calloc((size_t)HEATMAP_ROWS * plot->grid.n_columns, sizeof(*map->cell));
	if (map->cell == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	return ktr__durations_begin(plot, err);
}

static void heatmap_end(struct ktr__plot *plot)
{
	struct heatmap *map = plot->state;

	ktr__durations_end(plot);
	free(map->cell);
}

static void heatmap_words(struct ktr__plot *plot, const struct heatmap *map)
{
	const struct ktr__durations *d = &map->durations;
	const struct ktr__duration_series *worst = &d->series[0];
	int lost = ktr__losses_missing(&plot->losses, plot->info) > 0;
	uint64_t all = 0, n_unsure = 0, max = 0, open_ns = 0;
	char longest[320] = "", open[96] = "";

	for (unsigned i = 0; i < d->n_series; i++) {
		all += d->series[i].histogram.n;
		n_unsure += d->series[i].n_unsure;
		max = d->series[i].histogram.max > max ? d->series[i].histogram.max : max;
		if (d->series[i].n_open > 0 && d->series[i].open_longest_ns > open_ns)
			open_ns = d->series[i].open_longest_ns;
		if (d->series[i].sure.ns > worst->sure.ns)
			worst = &d->series[i];
	}
	if (worst->sure.n > 0)
		snprintf(longest, sizeof(longest), ": the longest%s took %s (%.159s, from +%s)",
			 lost || n_unsure > 0 ? " that is certain" : "", ktr__label_duration(worst->sure.ns).text,
			 worst->sure.who, ktr__frame_since(plot->info, worst->sure.from_ns).text);
	/* The longest that ended is not the longest that there was. */
	if (open_ns > max)
		snprintf(open, sizeof(open), "; one was open for %s and had not ended",
			 ktr__label_duration(open_ns).text);
	snprintf(plot->frame.title, sizeof(plot->frame.title), "%.159s%s over time%s%s", d->series[0].name,
		 d->n_series > 1 ? " and others" : "", longest, open);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: %s spans by their beginning and duration, of %u series", plot->frame.program,
		 ktr__label_count(all).text, d->n_series);
}

/* Only cells that hold something; each is a box, so that nothing is resampled. */
static void heatmap_table(const struct ktr__plot *plot, const struct heatmap *map,
			  struct ktr__chart *chart, const struct ktr__chart_time *time)
{
	fputs("# from, to, least, greatest [ns], number\n$cells << EOD\n", chart->to);
	for (unsigned row = map->lowest; row <= map->highest; row++) {
		double low = pow(10, (double)row / HEATMAP_PER_DECADE);
		double high = pow(10, (double)(row + 1) / HEATMAP_PER_DECADE);

		for (unsigned c = 0; c < plot->grid.n_columns; c++) {
			uint32_t n = map->cell[row * plot->grid.n_columns + c];

			if (n > 0)
				fprintf(chart->to, "%.12g %.12g %.6g %.6g %u\n",
					ktr__chart_time_x(time, c), ktr__chart_time_x(time, c + 1),
					low, high, n);
		}
	}
	fputs("EOD\n", chart->to);
}

static void heatmap_axis(const struct heatmap *map, struct ktr__chart *chart)
{
	double low = pow(10, ((double)map->lowest - 1) / HEATMAP_PER_DECADE);
	double high = pow(10, ((double)map->highest + 2) / HEATMAP_PER_DECADE);

	fputs("set ylabel 'duration (log scale)'\n", chart->to);
	ktr__chart_durations(chart, 'y', low, high, 1);
}

static int heatmap_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	struct heatmap *map = plot->state;
	struct ktr__chart chart;
	struct ktr__chart_time time;

	if (ktr__durations_finish(&map->durations, err) != 0)
		return -err->code;
	heatmap_words(plot, map);
	if (ktr__plot_chart(plot, &chart, err) != 0)
		return -err->code;
	ktr__chart_area(&chart, 110, chart.width - 130, chart.top, chart.bottom - 55);
	ktr__chart_time_axis(&chart, &time, &plot->grid, plot->info);
	ktr__chart_colours(&chart, chart.width - 105, chart.top, chart.bottom - 55, 1, map->most,
			   "spans per cell");
	heatmap_axis(map, &chart);
	heatmap_table(plot, map, &chart, &time);
	fputs("$gaps << EOD\n", chart.to);
	ktr__chart_time_gaps(&chart, &time, &plot->losses, NULL, 0.1, 1e15);
	fputs("0 0 0.1 0.1\nEOD\nplot $cells " KTR__CHART_BOXES "palette z, " KTR__CHART_GAPS,
	      chart.to);
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_heatmap = {
	.name = "heatmap",
	.help = "how long spans take over time, as colours (--span, --group, --pair)",
	.n_traces = 1,
	.n_state = sizeof(struct heatmap),
	.begin = heatmap_begin,
	.event = ktr__durations_event,
	.loss = ktr__durations_loss,
	.draw = heatmap_draw,
	.end = heatmap_end,
	.filter = KTR__DURATIONS_FILTER,
};
