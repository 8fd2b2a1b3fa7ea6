/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows threads and rows; the timeline finds the rows, and its columns, which nobody needs, are one. */
#include "visualize/model/slices.h"

#include "analyze/read/ktrgraph.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ktr__slice_open {
	const struct ktr__slice_track *track; /* NULL: it is drawn already */
	uint64_t from_ns;
	uint64_t flow;
	void *kept;
	uint32_t next; /* 1 + place: of a scope, the one around it on its thread; of a free place the next one */
};

struct ktr__slices_thread {
	struct ktr__slice_track *track;
	uint32_t inner; /* 1 + place of its innermost open scope */
};

struct ktr__slices_row {
	struct ktr__slice_track *states, *counter;
	struct ktr__slice_track **spans; /* owned; by lane */
	uint32_t n_spans;
};

int ktr__slices_init(struct ktr__slices *slices, const struct ktr_reader_info *info,
		     const struct ktr__slices_to *to, void *context)
{
	struct ktr__timeline_options options = { .by = KTR__BY_NAMES, .n_columns = 1 };

	memset(slices, 0, sizeof(*slices));
	slices->to = to;
	slices->context = context;
	if (ktr__timeline_init(&slices->timeline, info, &options) != 0)
		return -ENOMEM;
	slices->timeline.keeps = 1;
	return 0;
}

void ktr__slices_free(struct ktr__slices *slices)
{
	for (uint32_t i = 0; i < slices->n_rows; i++)
		free(slices->row[i].spans);
	/* What is still open was not ended, because something failed. */
	for (uint32_t i = 0; i < slices->n_open; i++)
		free(slices->open[i].kept);
	free(slices->open);
	for (uint32_t i = 0; i < slices->n_tracks; i++)
		free(slices->track[i]);
	free(slices->row);
	free(slices->thread);
	free(slices->track);
	ktr__pids_free(&slices->pids);
	ktr__timeline_free(&slices->timeline);
	memset(slices, 0, sizeof(*slices));
}

/* A new track; NULL with slices->error. */
static struct ktr__slice_track *slices_track(struct ktr__slices *slices,
					     const struct ktr__slice_track *like)
{
	struct ktr__slice_track *track = malloc(sizeof(*track));

	if (track == NULL || ktr__array_grow(&slices->track, &slices->track_room, slices->n_tracks,
				       sizeof(struct ktr__slice_track *)) != 0) {
		free(track);
		slices->error = -ENOMEM;
		return NULL;
	}
	slices->track[slices->n_tracks++] = track;
	*track = *like;
	track->id = slices->n_tracks;
	slices->error = slices->to->track(slices->context, track);
	return slices->error == 0 ? track : NULL;
}

static uint32_t slices_pid(struct ktr__slices *slices, const struct ktr__row *row)
{
	return ktr__pids_of(&slices->pids, row->process_key, row->pid);
}

/* The thread's record with a track; NULL where there is no room for more rows, or with an error. */
static struct ktr__slices_thread *slices_new_thread(struct ktr__slices *slices,
						    const struct ktr_reader_thread *thread)
{
	const struct ktr__timeline *t = &slices->timeline;
	struct ktr__slices_thread *at;

	if (thread->id >= t->n_threads || t->thread[thread->id] == NULL)
		return NULL;
	if (ktr__array_grow(&slices->thread, &slices->n_threads, thread->id, sizeof(*at)) != 0) {
		slices->error = -ENOMEM;
		return NULL;
	}
	at = &slices->thread[thread->id];
	if (at->track == NULL) {
		const struct ktr__row *row = t->thread[thread->id];

		at->track = slices_track(slices,
					 &(struct ktr__slice_track){ .pid = slices_pid(slices, row),
								     .tid = thread->tid,
								     .is_main = thread->tid == thread->pid,
								     .process = row->process,
								     .group = "",
								     .name = row->name });
	}
	return at->track != NULL ? at : NULL;
}

/* NULL: it has no row, or there is no memory, which slices->error says. */
static inline struct ktr__slices_thread *slices_thread(struct ktr__slices *slices,
						       const struct ktr_reader_thread *thread)
{
	if (thread->id < slices->n_threads && slices->thread[thread->id].track != NULL)
		return &slices->thread[thread->id];
	return slices_new_thread(slices, thread);
}

static struct ktr__slice_track *slices_row_track(struct ktr__slices *slices,
						 const struct ktr__row *row, int is_counter,
						 uint32_t lane)
{
	return slices_track(slices, &(struct ktr__slice_track){ .pid = slices_pid(slices, row),
								.is_counter = is_counter,
								.process = row->process,
								.group = row->group,
								.name = row->name,
								.lane = lane });
}

/* ---- slices ---- */

/* A place for a slice, with its number in *number, from 1; NULL without memory. */
static struct ktr__slice_open *slices_place(struct ktr__slices *slices, uint64_t *number)
{
	uint32_t i = slices->free_open;

	if (i != 0) {
		slices->free_open = slices->open[i - 1].next;
	} else {
		if (ktr__array_grow(&slices->open, &slices->open_room, slices->n_open, sizeof(*slices->open)) != 0)
			return NULL;
		i = ++slices->n_open;
	}
	*number = i;
	slices->open[i - 1] = (struct ktr__slice_open){ 0 };
	return &slices->open[i - 1];
}

/* Draws a slice to its end. */
static int slices_draw(struct ktr__slices *slices, struct ktr__slice_open *open, uint64_t ns,
		       enum ktr__slice_end how)
{
	const struct ktr__slice_track *track = open->track;
	void *kept = open->kept;

	open->track = NULL;
	open->kept = NULL;
	return slices->to->end(slices->context, track, open->from_ns, ns, how, kept);
}

static struct ktr__slice_track *slices_lane_track(struct ktr__slices *slices,
						  const struct ktr__row *row, uint32_t number,
						  uint32_t lane)
{
	struct ktr__slices_row *at = &slices->row[number];

	if (ktr__array_grow(&at->spans, &at->n_spans, lane, sizeof(struct ktr__slice_track *)) != 0) {
		slices->error = -ENOMEM;
		return NULL;
	}
	if (at->spans[lane] == NULL)
		at->spans[lane] = slices_row_track(slices, row, 0, lane);
	return at->spans[lane];
}

/* Is it drawn on its thread's track, where slices nest? */
static int slices_nests(const struct ktr__span *span)
{
	return span->kind == KTR_KIND_START && span->site->ident != NULL;
}

/* The track that a span or state is drawn on; NULL: it is not drawn, or with slices->error. */
static struct ktr__slice_track *slices_track_of(struct ktr__slices *slices, const struct ktr__span *span,
						struct ktr__slices_thread *thread)
{
	const struct ktr__row *row = span->row;
	struct ktr__slices_row *at;

	if (slices_nests(span))
		return thread != NULL ? thread->track : NULL;
	if (span->kind == KTR_KIND_START)
		return span->lane < KTR__LANES_MAX ? slices_lane_track(slices, row, row->number, span->lane) : NULL;
	at = &slices->row[row->number];
	if (at->states == NULL)
		at->states = slices_row_track(slices, row, 0, 0);
	return at->states;
}

static int slices_begun(struct ktr__slices *slices, struct ktr__span *span, struct ktr__slices_thread *thread,
			const struct ktr_event *event)
{
	struct ktr__slice_track *track = slices_track_of(slices, span, thread);
	struct ktr__slice_open *open;

	if (track == NULL)
		return slices->error;
	open = slices_place(slices, &span->word);
	if (open == NULL)
		return -ENOMEM;
	open->track = track;
	open->from_ns = span->from_ns;
	if (slices_nests(span)) {
		open->next = thread->inner;
		thread->inner = (uint32_t)span->word;
	} else if (span->kind == KTR_KIND_START) {
		open->flow = ++slices->n_spans;
	}
	return slices->to->begin(slices->context, track, open->from_ns, event, open->flow, &open->kept);
}

/* Slices of scopes that are on top of one on their thread's track end with it. */
static int slices_above(struct ktr__slices *slices, const struct ktr__span *span)
{
	struct ktr__slices_thread *thread = &slices->thread[span->thread->id];
	int rc = 0;

	while (thread->inner != span->word && rc == 0) {
		rc = slices_draw(slices, &slices->open[thread->inner - 1], span->to_ns, KTR__SLICE_MISSING);
		thread->inner = slices->open[thread->inner - 1].next;
	}
	thread->inner = slices->open[span->word - 1].next;
	return rc;
}

/* Where another thread ended it than began it. */
static int slices_flow(struct ktr__slices *slices, const struct ktr__span *span, uint64_t flow)
{
	const struct ktr__slices_thread *from, *to;

	if (flow == 0 || span->end_thread == NULL || span->end_thread == span->thread ||
	    span->thread->id >= slices->n_threads || slices->thread[span->thread->id].track == NULL)
		return 0;
	to = slices_thread(slices, span->end_thread);
	from = &slices->thread[span->thread->id];
	if (to == NULL)
		return slices->error;
	return slices->to->flow(slices->context, flow, from->track, span->from_ns, to->track, span->to_ns);
}

static int slices_ended(struct ktr__slices *slices, const struct ktr__span *span)
{
	enum ktr__slice_end how = !(span->flags & KTR__SPAN_NO_END)  ? KTR__SLICE_ENDED :
				  span->flags & KTR__SPAN_LEFT	     ? KTR__SLICE_LEFT :
				  span->flags & KTR__SPAN_MISSING ? KTR__SLICE_MISSING :
								    KTR__SLICE_OPEN;
	struct ktr__slice_open *open;
	uint64_t flow;
	int rc = 0;

	if (span->word == 0)
		return 0;
	open = &slices->open[span->word - 1];
	flow = open->flow;
	if (open->track != NULL && slices_nests(span))
		rc = slices_above(slices, span);
	if (open->track != NULL && rc == 0)
		rc = slices_draw(slices, open, span->to_ns, how);
	open->next = slices->free_open;
	slices->free_open = (uint32_t)span->word;
	return rc != 0 ? rc : slices_flow(slices, span, flow);
}

/* ---- rows ---- */

static int slices_count(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
			const struct ktr_event *event)
{
	struct ktr__slices_row *at = &slices->row[row->number];

	/* Viewers read JSON, which has no number for what is none. */
	if (event->site->value_arg < 0 ||
	    !isfinite(ktr__event_number(event, (unsigned)event->site->value_arg)))
		return 0;
	if (at->counter == NULL)
		at->counter = slices_row_track(slices, row, 1, 0);
	if (at->counter == NULL)
		return slices->error;
	return slices->to->count(slices->context, at->counter, ns, event);
}

static int slices_point(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
			const struct ktr_event *event)
{
	struct ktr__slices_row *at = &slices->row[row->number];

	if (at->states == NULL)
		at->states = slices_row_track(slices, row, 0, 0);
	return at->states != NULL ? slices->to->mark(slices->context, at->states, ns, event) : slices->error;
}

static int slices_row(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
		      const struct ktr_event *event)
{
	if (ktr__array_grow(&slices->row, &slices->n_rows, row->number, sizeof(*slices->row)) != 0)
		return -ENOMEM;
	switch (event->site->kind) {
	case KTR_KIND_COUNTER:
		return slices_count(slices, row, ns, event);
	case KTR_KIND_POINT:
		return slices_point(slices, row, ns, event);
	default:
		return 0;
	}
}

/* A plain event of a thread that has its track: nothing of it is of matter to rows. */
static inline int slices_is_plain(const struct ktr__slices *slices, const struct ktr_event *event)
{
	const struct ktr__timeline *t = &slices->timeline;
	uint32_t thread = event->thread->id;

	return event->site->kind == KTR_KIND_EVENT && thread < slices->n_threads &&
	       slices->thread[thread].track != NULL && event->time_ns >= t->now_ns &&
	       event->time_ns < t->rows.grid.to_ns;
}

int ktr__slices_event(struct ktr__slices *slices, const struct ktr_event *event)
{
	struct ktr__timeline *t = &slices->timeline;
	const struct ktr_reader_site *site = event->site;
	struct ktr__slices_thread *thread;
	int rc;

	if (slices_is_plain(slices, event)) {
		t->now_ns = event->time_ns;
		return slices->to->mark(slices->context, slices->thread[event->thread->id].track, t->now_ns, event);
	}
	rc = t->sink.event(&t->sink, event);
	if (rc != 0 || t->now_ns >= t->rows.grid.to_ns)
		return rc;
	thread = slices_thread(slices, event->thread);
	if (slices->error != 0)
		return slices->error;
	if (site->kind == KTR_KIND_EVENT)
		return thread ? slices->to->mark(slices->context, thread->track, t->now_ns, event) : 0;
	if (t->site[site->id].row != NULL)
		rc = slices_row(slices, t->site[site->id].row, t->now_ns, event);
	for (uint32_t i = 0; i < t->n_ended && rc == 0; i++)
		rc = slices_ended(slices, &t->ended[i]);
	return rc == 0 && t->begun != NULL ? slices_begun(slices, t->begun, thread, event) : rc;
}

int ktr__slices_loss(struct ktr__slices *slices, const struct ktr_loss *loss)
{
	return slices->timeline.sink.loss(&slices->timeline.sink, loss);
}

int ktr__slices_end(struct ktr__slices *slices)
{
	struct ktr__timeline *t = &slices->timeline;
	int rc = ktr__timeline_close(t, t->now_ns);

	/* Of what ends together, the innermost first. */
	for (uint32_t i = 0, end; i < t->n_ended && rc == 0; i = end) {
		for (end = i + 1; end < t->n_ended && t->ended[end].to_ns == t->ended[i].to_ns;)
			end++;
		for (uint32_t k = end; k-- > i && rc == 0;)
			rc = slices_ended(slices, &t->ended[k]);
	}
	return rc;
}
