/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charts: one kind each, a sink of one walk that becomes one picture.
 *
 *	ktr__plot_init(&plot, ktr__plot_find("latency"), info, &options, err);
 *	... walk with &plot.sink ...
 *	ktr__plot_draw(&plot, err);
 *	ktr__plot_free(&plot);
 *
 * Memory does not grow with the number of events.
 */
#ifndef VISUALIZE_PLOT_H
#define VISUALIZE_PLOT_H

#include "analyze/stats/pairs.h"
#include "visualize/chart/chart_time.h"
#include "visualize/model/losses.h"

struct ktr__plot;

struct ktr__plot_options {
	const char *file;       /* NULL or "-": text on standard output */
	unsigned width, height; /* [pixels], or characters of text */
	uint64_t from_ns;       /* 0: the first event */
	uint64_t to_ns;         /* 0: after the last event */
	const char *command;    /* for the caption */
	const char *group;      /* pattern of glob(7); NULL: all */
	const char *span;       /* pattern of a group, an id or a state whose durations are meant */
	const struct ktr__pair *pair; /* from one site's event to another one's; NULL: spans */
	const char *site;             /* pattern of "file.c:42", or part of a format */
	const char *x, *y;            /* names of arguments, or "time" */
	struct ktr__colours *colours; /* of the trace's names; NULL: none are known */
};

struct ktr__plot_kind {
	const char *name;
	const char *help; /* one line */
	unsigned n_traces;
	int as_text; /* makes sense without colours */
	size_t n_state; /* [bytes] of plot->state, which is zeroed before begin and freed after end */
	/* begin, event and draw may fail with -errno and a sentence; begin, loss and end may be NULL. */
	int (*begin)(struct ktr__plot *plot, struct ktr_error *err);
	int (*event)(struct ktr__plot *plot, const struct ktr_event *event);
	void (*loss)(struct ktr__plot *plot, const struct ktr_loss *loss);
	int (*draw)(struct ktr__plot *plot, struct ktr_error *err);
	void (*end)(struct ktr__plot *plot); /* frees what the state owns */
	const char *filter; /* ktr-filter(7): what it looks at, unless pairs are timed; NULL: all events */
	/*
	 * Which arguments of the site's events it looks at, bit by bit. NULL: with a filter at those of all that
	 * are no plain events, without one at none.
	 */
	unsigned (*wants)(const struct ktr__plot *plot, const struct ktr_reader_site *site);
};

#define KTR__PLOT_COLUMNS 300u /* of charts over time */

struct ktr__plot {
	struct ktr_sink sink; /* first */
	const struct ktr__plot_kind *kind;
	struct ktr__plot_options options;
	const struct ktr_reader_info *info;
	struct ktr__grid grid;
	struct ktr__losses losses;
	struct ktr__frame frame;
	uint64_t now_ns;
	uint64_t n_events; /* in the window */
	uint64_t n_backwards;
	uint64_t n_damaged;
	struct ktr__plot *other; /* the second trace of a comparison, or NULL */
	/*
	 * What a comparison says of the series of that name, in words; NULL, or nothing in them, where nothing is
	 * said. Charts make no verdicts of their own.
	 */
	void (*verdict)(void *context, const char *name, char *words, size_t size);
	void *verdict_context;
	void *state; /* owned; the kind's own */
};

/* All kinds, in the order in which they are listed; the last has no name. */
extern const struct ktr__plot_kind *const ktr__plot_kinds[];

/* The kind of that name or NULL. */
const struct ktr__plot_kind *ktr__plot_find(const char *name);

/* Borrows info and what options point to. 0 or -errno; ktr__plot_free() is due then, too. */
int ktr__plot_init(struct ktr__plot *plot, const struct ktr__plot_kind *kind,
		   const struct ktr_reader_info *info, const struct ktr__plot_options *options,
		   struct ktr_error *err);

/*
 * Of which sites a reader is to fill in arguments: a ktr__reader_wants_fn, the context is the plot, which
 * is set up.
 */
unsigned ktr__plot_wants(const void *plot, const struct ktr_reader_site *site);

/* Draws. -ENODATA with the reason where there is nothing to draw. */
int ktr__plot_draw(struct ktr__plot *plot, struct ktr_error *err);
void ktr__plot_free(struct ktr__plot *plot);

/* For kinds: begins the chart with its frame; ends it. 0 or -errno. */
int ktr__plot_chart(struct ktr__plot *plot, struct ktr__chart *chart, struct ktr_error *err);

/* For kinds: -ENODATA, with a sentence that says what was looked for and why there is none. */
int ktr__plot_nothing(const struct ktr__plot *plot, struct ktr_error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
