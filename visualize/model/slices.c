/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows threads and rows; the timeline finds the rows, and its columns, which nobody needs, are one. */
#include "visualize/model/slices.h"
#include "conf/kit/array.h"

#include "analyze/stats/ends.h"
#include "analyze/read/ktrgraph.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICES_FLOW                                                                                \
	KTR_THREAD_BITS /* a span's event is the number of its flow, and its thread below */

struct slices_scope {
	uint64_t key; /* a place on the stack: one scope at a time can have it */
	const char *name;
	uint64_t from_ns;
	void *kept;
};

struct ktr__slices_thread {
	const struct ktr_reader_thread *thread;
	struct ktr__slice_track *track;
	struct slices_scope *scope; /* owned; open ones, the innermost last */
	uint32_t n_scopes, scope_room;
};

struct ktr__slices_row {
	struct ktr__slice_track *states, *counter;
	struct ktr__slice_track **spans; /* owned; by lane */
	uint32_t n_spans;
	struct ktr__lanes lanes;
	uint64_t state_ns; /* of the open state; 0: none is */
	uint64_t state_end_ns;
	void *kept;
};

int ktr__slices_init(struct ktr__slices *slices, const struct ktr_reader_info *info,
		     const struct ktr__slices_to *to, void *context)
{
	struct ktr__timeline_options options = { .by = KTR__BY_AUTO, .n_columns = 1 };

	memset(slices, 0, sizeof(*slices));
	slices->to = to;
	slices->context = context;
	return ktr__timeline_init(&slices->timeline, info, &options);
}

/* What is still open was not ended, because something failed. */
static void slices_free_row(struct ktr__slices_row *row)
{
	if (row->state_ns != 0)
		free(row->kept);
	for (uint32_t i = 0; i < row->lanes.n; i++)
		if (row->lanes.span[i].open)
			free(row->lanes.span[i].kept);
	free(row->spans);
	free(row->lanes.span);
}

void ktr__slices_free(struct ktr__slices *slices)
{
	for (uint32_t i = 0; i < slices->n_rows; i++)
		slices_free_row(&slices->row[i]);
	for (uint32_t i = 0; i < slices->n_threads; i++) {
		while (slices->thread[i].n_scopes > 0)
			free(slices->thread[i].scope[--slices->thread[i].n_scopes].kept);
		free(slices->thread[i].scope);
	}
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
static struct ktr__slices_thread *slices_thread(struct ktr__slices *slices,
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

		at->thread = thread;
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

static int slices_begin(struct ktr__slices *slices, const struct ktr__slice_track *track,
			uint64_t ns, const struct ktr_event *event, uint64_t flow, void **kept)
{
	*kept = NULL;
	return slices->to->begin ? slices->to->begin(slices->context, track, ns, event, flow, kept)
				 : 0;
}

static int slices_finish(struct ktr__slices *slices, const struct ktr__slice_track *track,
			 uint64_t from_ns, uint64_t ns, enum ktr__slice_end how, void *kept)
{
	return slices->to->end ? slices->to->end(slices->context, track, from_ns, ns, how, kept)
			       : 0;
}

static int slices_mark(struct ktr__slices *slices, const struct ktr__slice_track *track,
		       uint64_t ns, const struct ktr_event *event)
{
	return slices->to->mark ? slices->to->mark(slices->context, track, ns, event) : 0;
}

/* ---- scopes: slices of threads ---- */

/* The open scope of this key, counted from 1; 0: there is none. */
static uint32_t slices_scope_find(const struct ktr__slices_thread *thread, uint64_t key)
{
	uint32_t i = thread->n_scopes;

	while (i > 0 && thread->scope[i - 1].key != key)
		i--;
	return i;
}

/* Ends a scope, counted from 1, and those within it, which have lost their STOP. */
static int slices_scope_end(struct ktr__slices *slices, struct ktr__slices_thread *thread, uint32_t i,
			    uint64_t ns, enum ktr__slice_end how)
{
	int rc = 0;

	while (i > 0 && thread->n_scopes >= i && rc == 0) {
		struct slices_scope *scope = &thread->scope[--thread->n_scopes];

		rc = slices_finish(slices, thread->track, scope->from_ns, ns,
				   thread->n_scopes + 1 == i ? how : KTR__SLICE_REPLACED, scope->kept);
	}
	return rc;
}

/* Where the key is open still, the STOP of that scope is missing. */
static int slices_scope_start(struct ktr__slices *slices, struct ktr__slices_thread *thread,
			      uint64_t ns, const struct ktr_event *event)
{
	uint64_t key = event->arg[event->site->value_arg];
	struct slices_scope *scope;
	int rc = slices_scope_end(slices, thread, slices_scope_find(thread, key), ns, KTR__SLICE_REPLACED);

	if (rc != 0 || thread->n_scopes == KTR__LANES_MAX)
		return rc;
	if (ktr__array_grow(&thread->scope, &thread->scope_room, thread->n_scopes, sizeof(*scope)) != 0)
		return -ENOMEM;
	scope = &thread->scope[thread->n_scopes++];
	scope->key = key;
	scope->name = event->site->ident;
	scope->from_ns = ns;
	return slices_begin(slices, thread->track, ns, event, 0, &scope->kept);
}

/* Where another scope has the key, its own START is missing. */
static int slices_scope_stop(struct ktr__slices *slices, struct ktr__slices_thread *thread,
			     uint64_t ns, const struct ktr_event *event)
{
	uint32_t i = slices_scope_find(thread, event->arg[event->site->value_arg]);
	int same = i > 0 && strcmp(thread->scope[i - 1].name, event->site->ident) == 0;

	return slices_scope_end(slices, thread, i, ns, same ? KTR__SLICE_ENDED : KTR__SLICE_REPLACED);
}

/* ---- rows ---- */

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

static int slices_start(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
			const struct ktr_event *event)
{
	struct ktr__slices_row *at = &slices->row[row->number];
	struct ktr__lane_span span = { .key = event->arg[event->site->value_arg],
				       .event = ++slices->n_spans << SLICES_FLOW |
						event->thread->id,
				       .from_ns = ns,
				       .n_losses = slices->timeline.rows.n_losses };
	struct ktr__slice_track *track;
	struct ktr__lane_span *now;
	uint64_t replaced_ns;
	int rc = 0;

	now = ktr__lanes_start(&at->lanes, &span, 0, &replaced_ns, &rc);
	if (now == NULL)
		return rc;
	track = slices_lane_track(slices, row, row->number, (uint32_t)(now - at->lanes.span));
	if (track == NULL)
		return slices->error;
	if (replaced_ns != 0)
		rc = slices_finish(slices, track, replaced_ns, ns, KTR__SLICE_REPLACED, now->kept);
	if (rc != 0)
		return rc;
	return slices_begin(slices, track, ns, event, slices->n_spans, &now->kept);
}

static int slices_stop(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
		       const struct ktr_event *event)
{
	struct ktr__slices_row *at = &slices->row[row->number];
	struct ktr__lane_span *span = ktr__lanes_stop(&at->lanes,
						      event->arg[event->site->value_arg]);
	struct ktr__slices_thread *to;
	uint32_t began;
	int rc;

	if (span == NULL)
		return 0;
	began = (uint32_t)(span->event & ((1u << SLICES_FLOW) - 1));
	rc = slices_finish(slices, at->spans[span - at->lanes.span], span->from_ns, ns,
			   KTR__SLICE_ENDED, span->kept);
	if (rc != 0 || began == event->thread->id || slices->to->flow == NULL ||
	    began >= slices->n_threads || slices->thread[began].track == NULL)
		return rc;
	to = slices_thread(slices, event->thread);
	if (to == NULL)
		return slices->error;
	return slices->to->flow(slices->context, span->event >> SLICES_FLOW,
				slices->thread[began].track, span->from_ns, to->track, ns);
}

static int slices_state(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
			const struct ktr_event *event)
{
	struct ktr__slices_row *at = &slices->row[row->number];
	int rc = 0;

	if (at->states == NULL)
		at->states = slices_row_track(slices, row, 0, 0);
	if (at->states == NULL)
		return slices->error;
	if (at->state_ns != 0)
		rc = slices_finish(slices, at->states, at->state_ns, ns, KTR__SLICE_ENDED,
				   at->kept);
	at->state_ns = 0;
	if (rc == 0)
		rc = slices_begin(slices, at->states, ns, event, 0, &at->kept);
	at->state_ns = ns;
	return rc;
}

static int slices_count(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
			const struct ktr_event *event)
{
	struct ktr__slices_row *at = &slices->row[row->number];

	/* Viewers read JSON, which has no number for what is none. */
	if (slices->to->count == NULL || event->site->value_arg < 0 ||
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
	return at->states != NULL ? slices_mark(slices, at->states, ns, event) : slices->error;
}

static int slices_row(struct ktr__slices *slices, const struct ktr__row *row, uint64_t ns,
		      const struct ktr_event *event)
{
	if (ktr__array_grow(&slices->row, &slices->n_rows, row->number, sizeof(*slices->row)) != 0)
		return -ENOMEM;
	switch (event->site->kind) {
	case KTR_KIND_STATE:
		return slices_state(slices, row, ns, event);
	case KTR_KIND_COUNTER:
		return slices_count(slices, row, ns, event);
	case KTR_KIND_START:
		return slices_start(slices, row, ns, event);
	case KTR_KIND_STOP:
		return slices_stop(slices, row, ns, event);
	default:
		return slices_point(slices, row, ns, event);
	}
}

int ktr__slices_event(struct ktr__slices *slices, const struct ktr_event *event)
{
	struct ktr__timeline *t = &slices->timeline;
	const struct ktr_reader_site *site = event->site;
	struct ktr__slices_thread *thread;
	int rc = t->sink.event(&t->sink, event);

	if (rc != 0 || t->now_ns >= t->rows.grid.to_ns)
		return rc;
	thread = slices_thread(slices, event->thread);
	if (slices->error != 0)
		return slices->error;
	if (site->kind == KTR_KIND_EVENT)
		return thread ? slices_mark(slices, thread->track, t->now_ns, event) : 0;
	if (site->ident != NULL && site->kind == KTR_KIND_START)
		return thread ? slices_scope_start(slices, thread, t->now_ns, event) : 0;
	if (site->ident != NULL && site->kind == KTR_KIND_STOP)
		return thread ? slices_scope_stop(slices, thread, t->now_ns, event) : 0;
	return t->site[site->id].row ? slices_row(slices, t->site[site->id].row, t->now_ns, event)
				     : 0;
}

int ktr__slices_loss(struct ktr__slices *slices, const struct ktr_loss *loss)
{
	return slices->timeline.sink.loss(&slices->timeline.sink, loss);
}

/* What is open when its thread or process ends. */
static uint64_t slices_left(uint64_t end_ns, uint64_t from_ns, uint64_t ns)
{
	if (end_ns == 0 || end_ns > ns)
		return ns;
	return end_ns > from_ns ? end_ns : from_ns;
}

static int slices_end_row(struct ktr__slices *slices, uint32_t number, uint64_t ns)
{
	struct ktr__slices_row *at = &slices->row[number];
	uint64_t row_ns = ktr__row_end_ns(slices->timeline.rows.row[number]);
	uint64_t end_ns = slices_left(row_ns, at->state_ns, ns);
	int rc = 0;

	if (at->state_ns != 0)
		rc = slices_finish(slices, at->states, at->state_ns, end_ns,
				   end_ns < ns ? KTR__SLICE_ENDED : KTR__SLICE_OPEN, at->kept);
	at->state_ns = 0;
	for (uint32_t i = at->lanes.n; i-- > 0 && rc == 0;) {
		if (!at->lanes.span[i].open)
			continue;
		at->lanes.span[i].open = 0;
		rc = slices_finish(slices, at->spans[i], at->lanes.span[i].from_ns,
				   slices_left(row_ns, at->lanes.span[i].from_ns, ns), KTR__SLICE_OPEN,
				   at->lanes.span[i].kept);
	}
	return rc;
}

int ktr__slices_end(struct ktr__slices *slices)
{
	uint64_t ns = slices->timeline.now_ns;
	int rc = 0;

	for (uint32_t i = 0; i < slices->n_threads && rc == 0; i++) {
		struct ktr__slices_thread *thread = &slices->thread[i];
		uint64_t end_ns = thread->thread != NULL ? ktr__ends_thread(thread->thread) : 0;

		while (thread->n_scopes > 0 && rc == 0) {
			struct slices_scope *scope = &thread->scope[--thread->n_scopes];

			rc = slices_finish(slices, thread->track, scope->from_ns,
					   slices_left(end_ns, scope->from_ns, ns),
					   KTR__SLICE_OPEN, scope->kept);
		}
	}
	for (uint32_t i = 0; i < slices->n_rows && i < slices->timeline.rows.n_rows && rc == 0; i++)
		rc = slices_end_row(slices, i, ns);
	return rc;
}
