/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timeline: a sink of one walk that becomes rows and columns, for whoever draws them.
 *
 *	ktr__timeline_init(&timeline, ktr_reader_info(reader), &options);
 *	sinks[0] = &timeline.sink;
 *	ktr_reader_walk(reader, sinks, 1);
 *	ktr__timeline_end(&timeline);
 *	... rows, losses, counts ...
 *	ktr__timeline_free(&timeline);
 *
 * Who draws spans itself looks, after each event and after the end, at what began and what ended: it sets keeps.
 *
 * The walk must begin at the beginning of the source even if the window does not, or rows would not
 * be known to be in a state when the window begins.
 */
#ifndef VISUALIZE_TIMELINE_H
#define VISUALIZE_TIMELINE_H

#include "analyze/stats/calls.h"
#include "analyze/spans/spans.h"
#include "visualize/model/losses.h"
#include "visualize/model/rows.h"

#include <ktr/reader.h>

enum ktr__timeline_by {
	KTR__BY_AUTO, /* identities where the trace has any, else threads */
	KTR__BY_THREADS,
	KTR__BY_CPUS,
	KTR__BY_IDS,
	KTR__BY_NAMES /* as identities; scopes do not nest by threads, but each name has a row */
};

struct ktr__timeline_options {
	enum ktr__timeline_by by;
	uint64_t from_ns; /* like ktr_event.time_ns; 0: the first event */
	uint64_t to_ns;   /* not in the window; 0: after the last event */
	unsigned n_columns;
	const char *const *group; /* patterns of glob(7) that a group must match one of; borrowed */
	unsigned n_groups;        /* 0: all groups, and events without one */
	struct ktr__colours *colours; /* of the trace's names; NULL: nothing is drawn in colours */
};

/* What is looked up once per call site. */
struct ktr__timeline_site {
	uint8_t known;
	uint8_t wanted;       /* by the selection of groups */
	uint8_t nests;        /* a scope, on its thread's nest */
	uint8_t derived;      /* no program has recorded it */
	uint8_t lock;	      /* it is of a lock's rows */
	uint16_t label;       /* of its name; 0: not known yet */
	struct ktr__row *row; /* of its last event */
};

struct ktr__timeline {
	struct ktr_sink sink; /* first */
	struct ktr__timeline_options options;
	const struct ktr_reader_info *info;
	struct ktr__rows rows;
	uint64_t now_ns;
	struct ktr__timeline_site *site; /* by id */
	uint32_t n_sites;
	struct ktr__row **thread; /* by id; with rows by CPU thread_label stands in */
	uint16_t *thread_label;   /* by id; 0: not named yet */
	uint32_t n_threads;       /* of whichever of the two is in use */
	struct ktr__row **nest; /* by thread id; NULL: it has no scopes */
	uint32_t n_nests;
	struct ktr__calls *calls; /* how scopes lie in each other */
	unsigned level;           /* of the one that began last */
	struct ktr__row **cpu;    /* by number */
	uint32_t n_cpus;
	struct ktr__losses losses;
	struct ktr__spans *spans; /* of the rows of identities; of each, row and lane are set */
	struct ktr__row *now;     /* the row of this event */
	struct ktr__span *begun;  /* by it; NULL: none. It stays until it ends */
	struct ktr__span *ended;  /* owned, by it, in order; without their bytes */
	uint32_t n_ended, ended_room;
	int keeps; /* whether these are kept */
	uint64_t n_events;    /* in the window and the selection */
	uint64_t n_derived;   /* of them, those that no program has recorded (analyze/derive/) */
	uint64_t n_seen;      /* in the window, without these */
	uint64_t n_backwards; /* [events] earlier than the one before */
	uint64_t n_damaged;   /* notes that say that data could not be read */
	char groups[256];     /* those that were seen and not wanted, comma separated */
	int error;            /* -errno of a callback */
};

/* Borrows info and what options point to. 0 or -ENOMEM; then, too, ktr__timeline_free() is due. */
int ktr__timeline_init(struct ktr__timeline *timeline, const struct ktr_reader_info *info,
		       const struct ktr__timeline_options *options);

/* Of which sites it looks at the arguments: a ktr__reader_wants_fn, the context is the timeline, set up. */
unsigned ktr__timeline_wants(const void *timeline, const struct ktr_reader_site *site);

/* Ends what is open at a moment, or with its thread or process before that. 0 or -ENOMEM. */
int ktr__timeline_close(struct ktr__timeline *timeline, uint64_t ns);

/* Closes, and draws everything out to the end of the window. 0 or -ENOMEM. */
int ktr__timeline_end(struct ktr__timeline *timeline);
void ktr__timeline_free(struct ktr__timeline *timeline);

#endif
