/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who does how much: events per second of each CPU and of the busiest threads over time, as strips
 * whose colour is the rate. A stall is a hole in a strip.
 */
#include "conf/kit/array.h"
#include "visualize/chart/plots.h"
#include "visualize/model/number.h"
#include "visualize/model/palette.h"
#include "visualize/model/row.h"
#include "visualize/model/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_CPUS    12u /* strips at most */
#define LOAD_THREADS 16u

struct load {
	struct ktr__rows rows;
	struct ktr__row **cpu; /* owned, by number */
	uint32_t n_cpus;
	struct ktr__row **thread; /* owned, by id */
	uint32_t n_threads;
};

static int load_begin(struct ktr__plot *plot, struct ktr_error *err)
{
	struct load *load = plot->state;

	if (ktr__rows_init(&load->rows, &plot->grid) != 0)
		return ktr_error_set(err, ENOMEM, "not enough memory");
	return 0;
}

static void load_end(struct ktr__plot *plot)
{
	struct load *load = plot->state;

	ktr__rows_free(&load->rows);
	free(load->cpu);
	free(load->thread);
}

/* Marks the row at an index of an array, and makes it when it is new. */
static int load_mark(struct load *load, struct ktr__row **at, const struct ktr_event *event,
		     enum ktr__row_kind kind)
{
	const struct ktr_reader_thread *thread = event->thread;
	struct ktr__row_key key = { kind, NULL, 0, "", NULL, 0 };
	char name[96];

	if (*at == NULL) {
		if (kind == KTR__ROW_CPU) {
			key.cpu = event->cpu;
			snprintf(name, sizeof(name), "CPU %" PRIu32, event->cpu);
		} else {
			key.thread = thread;
			snprintf(name, sizeof(name), "%s (%" PRIu32 ")", thread->name ? thread->name : "",
				 thread->tid);
		}
		key.ident = name;
		key.n_ident = strlen(name);
		if (ktr__rows_find(&load->rows, &key, NULL, at) != 0)
			return -ENOMEM;
		if (*at == NULL)
			return 0;
	}
	return ktr__row_mark(&load->rows, *at, event->time_ns);
}

static int load_event(struct ktr__plot *plot, const struct ktr_event *event)
{
	struct load *load = plot->state;

	if (event->time_ns < plot->grid.from_ns || event->cpu >= KTR__LOSSES_CPUS)
		return 0;
	if (ktr__array_grow(&load->cpu, &load->n_cpus, event->cpu, sizeof(struct ktr__row *)) != 0 ||
	    ktr__array_grow(&load->thread, &load->n_threads, event->thread->id,
		      sizeof(struct ktr__row *)) != 0)
		return -ENOMEM;
	if (load_mark(load, &load->cpu[event->cpu], event, KTR__ROW_CPU) != 0)
		return -ENOMEM;
	return load_mark(load, &load->thread[event->thread->id], event, KTR__ROW_THREAD);
}

static int load_by_events(const void *a, const void *b)
{
	const struct ktr__row *x = *(const struct ktr__row *const *)a;
	const struct ktr__row *y = *(const struct ktr__row *const *)b;

	if (x->n_events != y->n_events)
		return x->n_events > y->n_events ? -1 : 1;
	return strverscmp(x->name, y->name);
}

static int load_by_name(const void *a, const void *b)
{
	const struct ktr__row *x = *(const struct ktr__row *const *)a;
	const struct ktr__row *y = *(const struct ktr__row *const *)b;

	return x->kind != y->kind ? (x->kind == KTR__ROW_CPU ? -1 : 1)
				  : strverscmp(x->name, y->name);
}

/* Adds up the threads from index n on in one of them, which moves to n. Returns how many. */
static unsigned load_fold(struct ktr__plot *plot, unsigned n)
{
	struct load *load = plot->state;
	struct ktr__row *all = NULL;
	unsigned folded = 0;

	for (unsigned i = n; i < load->rows.n_rows; i++) {
		struct ktr__row *row = load->rows.row[i];

		if (row->kind == KTR__ROW_CPU || row->marks == NULL)
			continue;
		folded++;
		if (all == NULL) {
			all = row;
			load->rows.row[i] = load->rows.row[n];
			load->rows.row[n] = all;
			continue;
		}
		all->n_events += row->n_events;
		for (unsigned c = 0; c < plot->grid.n_columns; c++)
			all->marks[c] += row->marks[c];
	}
	if (folded > 1)
		all->name = "all other threads";
	return folded;
}

/* Puts the busiest CPUs and threads to the front. Returns how many; *folded: are in the last. */
static unsigned load_choose(struct ktr__plot *plot, unsigned *folded)
{
	struct load *load = plot->state;
	unsigned n = 0, of[2] = { 0, 0 };

	qsort(load->rows.row, load->rows.n_rows, sizeof(struct ktr__row *), load_by_events);
	for (unsigned i = 0; i < load->rows.n_rows; i++) {
		struct ktr__row *row = load->rows.row[i];
		unsigned *count = &of[row->kind == KTR__ROW_CPU];

		if (++*count > (row->kind == KTR__ROW_CPU ? LOAD_CPUS : LOAD_THREADS) ||
		    row->marks == NULL)
			continue;
		load->rows.row[i] = load->rows.row[n];
		load->rows.row[n++] = row;
	}
	qsort(load->rows.row, n, sizeof(struct ktr__row *), load_by_name);
	*folded = load_fold(plot, n);
	if (of[1] > LOAD_CPUS)
		ktr__frame_note(&plot->frame, "%u of %u CPUs shown, the busiest", LOAD_CPUS, of[1]);
	if (*folded > 1)
		ktr__frame_note(&plot->frame, "%u less busy threads share the last strip", *folded);
	return n + (*folded > 0);
}

static struct ktr__label_text load_share(const struct ktr__plot *plot, const struct ktr__row *row)
{
	return ktr__number_share((double)row->n_events, (double)plot->n_events);
}

/*
 * Which of the first n rows recorded most of its kind: the title is about it. NULL: several share the first
 * place, for their shares are written alike. *most: one that none has more than; *n_all: rows of the kind.
 */
static const struct ktr__row *load_top(const struct ktr__plot *plot, unsigned n, enum ktr__row_kind kind,
				       const struct ktr__row **most, unsigned *n_all)
{
	const struct load *load = plot->state;
	unsigned n_alike = 0;

	*most = NULL;
	*n_all = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct ktr__row *row = load->rows.row[i];

		*n_all += row->kind == kind;
		if (row->kind == kind && (*most == NULL || row->n_events > (*most)->n_events))
			*most = row;
	}
	for (unsigned i = 0; i < n && *most != NULL; i++)
		n_alike += load->rows.row[i]->kind == kind &&
			   strcmp(load_share(plot, load->rows.row[i]).text, load_share(plot, *most).text) == 0;
	return n_alike == 1 ? *most : NULL;
}

/* n: rows that are one thread or CPU each; folded: further threads. */
static void load_words(struct ktr__plot *plot, const struct ktr__row *top[2], unsigned n, unsigned folded)
{
	const char *recorded = ktr__losses_missing(&plot->losses, plot->info) > 0 ? "recorded " : "";
	const struct ktr__row *most[2];
	char thread[KTR__LABEL_BYTES + 64], cpu[KTR__LABEL_BYTES + 64];
	unsigned n_all[2];

	for (unsigned k = 0; k < 2; k++)
		top[k] = load_top(plot, n, k == 0 ? KTR__ROW_THREAD : KTR__ROW_CPU, &most[k], &n_all[k]);
	thread[0] = cpu[0] = '\0';
	if (most[0] != NULL && n_all[0] == 1 && folded == 0)
		snprintf(thread, sizeof(thread), "All %sevents are of %.150s", recorded, most[0]->name);
	else if (top[0] != NULL)
		snprintf(thread, sizeof(thread), "%.150s has most of the %sevents: %s", top[0]->name, recorded,
			 load_share(plot, top[0]).text);
	else if (most[0] != NULL)
		snprintf(thread, sizeof(thread), "No thread has more than %s of the %sevents, which several have",
			 load_share(plot, most[0]).text, recorded);
	if (top[1] != NULL && n_all[1] > 1)
		snprintf(cpu, sizeof(cpu), "; the busiest CPU is %s with %s", top[1]->name, load_share(plot, top[1]).text);
	snprintf(plot->frame.title, sizeof(plot->frame.title), "%s%s", thread, cpu);
	snprintf(plot->frame.subtitle, sizeof(plot->frame.subtitle),
		 "%s: events per second of each CPU and thread, %s events; a column is %s", plot->frame.program,
		 ktr__label_count(plot->n_events).text,
		 ktr__label_duration((plot->grid.to_ns - plot->grid.from_ns) / plot->grid.n_columns).text);
}

/* Labels to both sides of the strips; those that the title is about are bold. */
static void load_labels(struct ktr__plot *plot, struct ktr__chart *chart, unsigned n,
			const struct ktr__row *const said[2], double height)
{
	const struct load *load = plot->state;
	char text[4 * KTR__LABEL_BYTES];

	for (unsigned i = 0; i < n; i++) {
		const struct ktr__row *row = load->rows.row[i];
		double y = chart->top + (i + 0.5) * height;
		int is_said = row == said[0] || row == said[1];

		ktr__label_fit(text, sizeof(text), row->name, 24, 0);
		ktr__chart_text(chart, 20, y, "left", 10, is_said, KTR__INK, text);
		if (is_said)
			ktr__chart_box(chart, 10, y - height * 0.4, 4, height * 0.8, KTR__VERMILLION);
		snprintf(text, sizeof(text), "%s (%s)", ktr__label_count(row->n_events).text, load_share(plot, row).text);
		ktr__chart_text(chart, chart->width - 262, y, "left", 9, 0, KTR__FAINT, text);
	}
}

/* Strips as boxes. Returns the greatest rate. */
static double load_strips(struct ktr__plot *plot, struct ktr__chart *chart, unsigned n,
			  const struct ktr__chart_time *time)
{
	struct load *load = plot->state;
	double per_second = 1e9 * plot->grid.n_columns /
			    (double)(plot->grid.to_ns - plot->grid.from_ns);
	double most = 0;

	fputs("# from, to, floor, top, events/s\n$strips << EOD\n", chart->to);
	for (unsigned i = 0; i < n; i++) {
		const uint32_t *marks = load->rows.row[i]->marks;
		double y = n - 0.5 - i;

		for (unsigned c = 0, end; c < plot->grid.n_columns; c = end) {
			for (end = c + 1; end < plot->grid.n_columns && marks[end] == marks[c];)
				end++;
			if (marks[c] == 0)
				continue;
			most = marks[c] * per_second > most ? marks[c] * per_second : most;
			fprintf(chart->to, "%.12g %.12g %.4g %.4g %.6g\n",
				ktr__chart_time_x(time, c),
				ktr__chart_time_x(time, end) + time->per_column / 4, y - 0.4,
				y + 0.4, marks[c] * per_second);
		}
	}
	fputs("EOD\n", chart->to);
	return most;
}

static void load_gaps(struct ktr__plot *plot, struct ktr__chart *chart, unsigned n,
		      const struct ktr__chart_time *time)
{
	const struct load *load = plot->state;

	fputs("$gaps << EOD\n", chart->to);
	for (unsigned i = 0; i < n; i++)
		if (load->rows.row[i]->kind == KTR__ROW_CPU)
			ktr__chart_time_gaps(chart, time, &plot->losses, load->rows.row[i], n - 1.0 - i, n - i);
	fputs("0 0 -9 -9\nEOD\n", chart->to);
}

static int load_draw(struct ktr__plot *plot, struct ktr_error *err)
{
	const struct ktr__row *said[2];
	struct ktr__chart chart;
	struct ktr__chart_time time;
	unsigned n, folded;
	double height, most;

	if (plot->n_events == 0)
		return ktr__plot_nothing(plot, err, "no event");
	n = load_choose(plot, &folded);
	load_words(plot, said, n - (folded > 1), folded);
	if (ktr__plot_chart(plot, &chart, err) != 0)
		return -err->code;
	height = (chart.bottom - chart.top - 55.0) / n;
	height = height > 60 ? 60 : height;
	ktr__chart_area(&chart, 210, chart.width - 270, chart.top, chart.top + height * n);
	ktr__chart_time_axis(&chart, &time, &plot->grid, plot->info);
	load_labels(plot, &chart, n, said, height);
	most = load_strips(plot, &chart, n, &time);
	load_gaps(plot, &chart, n, &time);
	ktr__chart_colours(&chart, chart.width - 105, chart.top, chart.top + height * n,
			   most / 1000, most, "events per second");
	fprintf(chart.to,
		"set yrange [0:%u]\nunset ytics\nset border 1\nplot $strips " KTR__CHART_BOXES
		"palette z, " KTR__CHART_GAPS,
		n);
	return ktr__chart_end(&chart, err);
}

const struct ktr__plot_kind ktr__plot_load = {
	.name = "load",
	.help = "events per second of each CPU and of the busiest threads over time",
	.n_traces = 1,
	.n_state = sizeof(struct load),
	.begin = load_begin,
	.event = load_event,
	.draw = load_draw,
	.end = load_end,
};
