/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What viewers draw, out of a walk: tracks, with slices that begin and end on them, marks and numbers.
 *
 * A thread has a track with its events as marks, and its KTR_SCOPEs as slices. They nest there: one that outlives
 * the one around it is drawn up to where that ends. Each row
 * (process, group, id) has one for its states, one for its counter, and one for each of its spans that
 * are open at the same time, so that slices of one track always nest, whatever was lost. Slices begin
 * and end in the order of time.
 */
#ifndef VISUALIZE_SLICES_H
#define VISUALIZE_SLICES_H

#include "visualize/model/pids.h"
#include "visualize/model/timeline.h"

#include <ktr/reader.h>

enum ktr__slice_end {
	KTR__SLICE_ENDED,
	KTR__SLICE_MISSING, /* it had ended by then, or nests no more: its STOP is missing */
	KTR__SLICE_OPEN,    /* it had not ended when the trace did */
	KTR__SLICE_LEFT     /* its thread or process ended then */
};

struct ktr__slice_track {
	uint32_t id; /* from 1 */
	uint32_t pid; /* of ktr__pids_of() */
	uint32_t tid; /* of a thread's track; else 0 */
	int is_main;  /* the first thread of its process */
	int is_counter;
	const char *process; /* clean, as are the others */
	const char *group;   /* "" for a thread */
	const char *name;
	uint32_t lane; /* 0, 1...: of a row with several tracks for spans */
};

/* All return 0 or -errno. */
struct ktr__slices_to {
	/* A track, before it is used. It stays where it is. */
	int (*track)(void *context, const struct ktr__slice_track *track);
	/*
	 * A slice; *kept is the exporter's until the end: NULL, or memory of malloc(3). Flow: a number
	 * for what flow() may follow.
	 */
	int (*begin)(void *context, const struct ktr__slice_track *track, uint64_t ns,
		     const struct ktr_event *event, uint64_t flow, void **kept);
	/* Frees kept. */
	int (*end)(void *context, const struct ktr__slice_track *track, uint64_t from_ns,
		   uint64_t ns, enum ktr__slice_end how, void *kept);
	int (*mark)(void *context, const struct ktr__slice_track *track, uint64_t ns,
		    const struct ktr_event *event);
	int (*count)(void *context, const struct ktr__slice_track *track, uint64_t ns,
		     const struct ktr_event *event);
	/* A span that began on one thread ended on another one. */
	int (*flow)(void *context, uint64_t flow, const struct ktr__slice_track *from,
		    uint64_t from_ns, const struct ktr__slice_track *to, uint64_t ns);
};

struct ktr__slices {
	struct ktr__timeline timeline; /* for its rows */
	const struct ktr__slices_to *to;
	void *context;
	struct ktr__slices_row *row; /* by number */
	uint32_t n_rows;
	struct ktr__slices_thread *thread; /* by id */
	uint32_t n_threads;
	struct ktr__slice_open *open; /* owned: slices that have not ended, and free places */
	uint32_t n_open, open_room;
	uint32_t free_open; /* 1 + the first free place; 0: there is none */
	struct ktr__pids pids;
	struct ktr__slice_track **track; /* owned, and what they point to */
	uint32_t n_tracks, track_room;
	uint64_t n_spans;
	int error;
};

/* 0 or -ENOMEM; ktr__slices_free() is due in any case. */
int ktr__slices_init(struct ktr__slices *slices, const struct ktr_reader_info *info,
		     const struct ktr__slices_to *to, void *context);
void ktr__slices_free(struct ktr__slices *slices);

/* 0 or -errno. */
int ktr__slices_event(struct ktr__slices *slices, const struct ktr_event *event);
int ktr__slices_loss(struct ktr__slices *slices, const struct ktr_loss *loss);

/* Ends what is open. 0 or -errno. */
int ktr__slices_end(struct ktr__slices *slices);

#endif
