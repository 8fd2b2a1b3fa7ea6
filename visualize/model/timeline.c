/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink of a timeline: finds the row that an event belongs to and says what happens there.
 *
 * With rows by identity the KTR_STATE family goes to rows of identities; with rows by thread each
 * event also marks its thread; KTR__BY_AUTO keeps both, since only the end tells which is wanted. Scopes go to the
 * nest of their thread, if a row per name is not asked for.
 * With rows by CPU an event weighs for its thread on its CPU's row.
 *
 * Time is made to stand still where a source has it run backwards, and such events are counted.
 */
#include "visualize/model/timeline.h"

#include "analyze/derive/derive.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "conf/eval/glob.h"
#include "conf/kit/array.h"
#include "ktr/session/kernel_event.h"
#include "visualize/model/label.h"
#include "visualize/model/row.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Remembers a group that is left out, so that an empty picture can say what there would be. */
static void timeline_note_group(struct ktr__timeline *t, const char *group)
{
	char clean[64];
	size_t used = strlen(t->groups),
	       n = ktr__label_clean(clean, sizeof(clean), group, strlen(group));
	const char *at = strstr(t->groups, clean);

	if (at != NULL && (at == t->groups || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
		return;
	if (used + n + 3 < sizeof(t->groups))
		snprintf(t->groups + used, sizeof(t->groups) - used, "%s%s", used ? ", " : "",
			 clean);
}

static int timeline_wants(struct ktr__timeline *t, const struct ktr_reader_site *site)
{
	if (t->options.n_groups == 0)
		return 1;
	if (site->group == NULL)
		return 0;
	for (unsigned i = 0; i < t->options.n_groups; i++)
		if (ktr__glob(t->options.group[i], strlen(t->options.group[i]), site->group,
			      strlen(site->group)))
			return 1;
	timeline_note_group(t, site->group);
	return 0;
}

/* A scope: of the kind that the engine has on a stack of its thread. */
static int timeline_nests(const struct ktr__timeline *t, const struct ktr_reader_site *site)
{
	return t->options.by != KTR__BY_NAMES && t->options.by != KTR__BY_CPUS && site->ident != NULL &&
	       (site->kind == KTR_KIND_START || site->kind == KTR_KIND_STOP) && strcmp(site->group, "scope") == 0;
}

static struct ktr__timeline_site *timeline_site(struct ktr__timeline *t,
						const struct ktr_reader_site *site)
{
	struct ktr__timeline_site *at;

	if (ktr__array_grow(&t->site, &t->n_sites, site->id, sizeof(*t->site)) != 0)
		return NULL;
	at = &t->site[site->id];
	if (!at->known) {
		at->wanted = (uint8_t)timeline_wants(t, site);
		at->nests = (uint8_t)timeline_nests(t, site);
		at->derived = (uint8_t)ktr__derive_is(site);
		at->lock = (uint8_t)ktr__derive_is_lock(site);
		at->known = 1;
	}
	return at;
}

/* "name (tid)": what tells threads apart for people. */
static size_t timeline_thread_name(char *name, size_t size, const struct ktr_reader_thread *thread)
{
	snprintf(name, size, "%.60s (%" PRIu32 ")", thread->name ? thread->name : "", thread->tid);
	return strlen(name);
}

/* The id that an event of the KTR_STATE family names: a constant or a string. */
static struct ktr_event_bytes timeline_ident(const struct ktr_event *event, char *buffer, size_t size)
{
	struct ktr_event_bytes ident = { buffer, 0, 0, 0 };

	if (strcmp(event->site->file, KTR_KERNEL_FILE) == 0) {
		/* The kernel's events: of the thread, whatever it was called then. */
		ident.n_bytes = (uint32_t)timeline_thread_name(buffer, size, event->thread);
	} else if (event->site->ident != NULL) {
		ident.bytes = event->site->ident;
		ident.n_bytes = (uint32_t)strlen(ident.bytes);
	} else {
		ident = event->str[0];
	}
	if (ident.bytes == NULL)
		ident.bytes = "";
	return ident;
}

static int timeline_call(void *context, const struct ktr__call *call)
{
	struct ktr__timeline *t = context;

	t->level = call->level;
	return 0;
}

/* A scope begins, which lies in those of its thread that are open. */
static int timeline_enter(struct ktr__timeline *t, struct ktr__span *span)
{
	struct ktr__timeline_site *site = &t->site[span->site->id];

	if (ktr__calls_begun(t->calls, span) != 0)
		return -ENOMEM;
	if (site->label == 0 && ktr__rows_scope(&t->rows, span->site->ident, &site->label) != 0)
		return -ENOMEM;
	return ktr__row_enter(&t->rows, t->now, span->from_ns, t->level, site->label, &span->lane);
}

/* A span or state of the present row begins. */
static int timeline_begun(void *context, struct ktr__span *span)
{
	struct ktr__timeline *t = context;
	uint16_t label;

	t->begun = span;
	span->row = t->now;
	if (t->now->kind == KTR__ROW_NEST)
		return timeline_enter(t, span);
	if (span->kind == KTR_KIND_START)
		return ktr__row_start(&t->rows, t->now, span->from_ns, &span->lane);
	if (ktr__rows_label(&t->rows, span->state.bytes, span->state.n_bytes, &label) != 0)
		return -ENOMEM;
	return ktr__row_label(&t->rows, t->now, span->from_ns, label);
}

/* A scope has ended, or is open at the end: then its bar goes on to the end of the picture. */
static int timeline_leave(struct ktr__timeline *t, const struct ktr__span *span, int ends)
{
	if (ktr__calls_ended(t->calls, span) != 0)
		return -ENOMEM;
	if (!ends && span->lane != KTR__LANES_MAX)
		return 0;
	return ktr__row_exit(&t->rows, span->row, span->to_ns, span->lane);
}

static int timeline_ended(void *context, const struct ktr__span *span)
{
	struct ktr__timeline *t = context;
	unsigned how = span->flags & (KTR__SPAN_NO_END | KTR__SPAN_LEFT | KTR__SPAN_MISSING);

	if (span->row == NULL) {
		t->rows.n_unpaired++;
		return 0;
	}
	if (t->keeps) {
		if (ktr__array_grow(&t->ended, &t->ended_room, t->n_ended, sizeof(*t->ended)) != 0)
			return -ENOMEM;
		t->ended[t->n_ended++] = *span;
	}
	if (((struct ktr__row *)span->row)->kind == KTR__ROW_NEST)
		return timeline_leave(t, span, how != KTR__SPAN_NO_END);
	if (how == KTR__SPAN_NO_END)
		return 0; /* its bar goes on to the end of the picture */
	if (span->kind == KTR_KIND_START)
		return ktr__row_stop(&t->rows, span->row, span->to_ns, span->lane);
	return how & KTR__SPAN_LEFT ? ktr__row_left(&t->rows, span->row, span->to_ns) : 0;
}

static int timeline_happens(struct ktr__timeline *t, struct ktr__row *row, uint64_t ns,
			    const struct ktr_event *event)
{
	int arg = event->site->value_arg;

	switch (event->site->kind) {
	case KTR_KIND_COUNTER:
		/* What has no height is drawn as an event that happened. */
		if (arg >= 0 && isfinite(ktr__event_number(event, (unsigned)arg)))
			return ktr__row_number(&t->rows, row, ns,
					       ktr__event_number(event, (unsigned)arg));
		break;
	case KTR_KIND_START:
	case KTR_KIND_STOP:
		ktr__row_spans(&t->rows, row, ns);
		/* fall through */
	case KTR_KIND_STATE:
		t->now = row;
		return ktr__spans_event(t->spans, event);
	case KTR_KIND_POINT:
	case KTR_KIND_EVENT:
		break;
	}
	row->has |= KTR__ROW_POINTS;
	return ktr__row_mark(&t->rows, row, ns);
}

/* The nest of a thread, made when it is new; *out is NULL where there is no room. 0 or -ENOMEM. */
static int timeline_nest(struct ktr__timeline *t, const struct ktr_reader_thread *thread, struct ktr__row **out)
{
	char name[96];
	/* Of two threads with one name each has its own: the number tells them apart. */
	struct ktr__row_key key = { KTR__ROW_NEST, thread, thread->id, "scope", name, 0 };

	*out = NULL;
	if (ktr__array_grow(&t->nest, &t->n_nests, thread->id, sizeof(struct ktr__row *)) != 0)
		return -ENOMEM;
	if (t->nest[thread->id] == NULL) {
		key.n_ident = timeline_thread_name(name, sizeof(name), thread);
		if (ktr__rows_find(&t->rows, &key, NULL, &t->nest[thread->id]) != 0)
			return -ENOMEM;
	}
	*out = t->nest[thread->id];
	return 0;
}

/* An event of the KTR_STATE family, on the row of its identity. */
static int timeline_identity(struct ktr__timeline *t, struct ktr__timeline_site *site, uint64_t ns,
			     const struct ktr_event *event)
{
	char number[96];
	struct ktr_event_bytes ident = timeline_ident(event, number, sizeof(number));
	struct ktr__row_key key = { KTR__ROW_ID,
				    event->thread,
				    0,
				    event->site->group ? event->site->group : "",
				    ident.bytes,
				    ident.n_bytes };
	struct ktr__row *row;

	if (site->nests ? timeline_nest(t, event->thread, &row) : ktr__rows_find(&t->rows, &key, site->row, &row))
		return -ENOMEM;
	site->row = row;
	if (row == NULL)
		return 0;
	row->is_lock |= site->lock && event->site->kind == KTR_KIND_STATE;
	if (row->has == 0)
		row->thread = event->thread;
	else if (row->thread != event->thread)
		row->thread = NULL;
	row->latest = event->thread;
	if (ktr__rings_add(&row->rings, event->cpu, event->keep) != 0)
		return -ENOMEM;
	return timeline_happens(t, row, ns, event);
}

static int timeline_thread(struct ktr__timeline *t, uint64_t ns, const struct ktr_event *event)
{
	const struct ktr_reader_thread *thread = event->thread;
	struct ktr__row_key key = { KTR__ROW_THREAD, thread, 0, "", NULL, 0 };
	char name[96];

	if (ktr__array_grow(&t->thread, &t->n_threads, thread->id, sizeof(struct ktr__row *)) != 0)
		return -ENOMEM;
	if (t->thread[thread->id] == NULL) {
		struct ktr__row *row;

		key.ident = name;
		key.n_ident = timeline_thread_name(name, sizeof(name), thread);
		if (ktr__rows_find(&t->rows, &key, NULL, &row) != 0)
			return -ENOMEM;
		if (row == NULL)
			return 0;
		row->thread = thread;
		t->thread[thread->id] = row;
	}
	if (ktr__rings_add(&t->thread[thread->id]->rings, event->cpu, event->keep) != 0)
		return -ENOMEM;
	return ktr__row_mark(&t->rows, t->thread[thread->id], ns);
}

static int timeline_thread_label(struct ktr__timeline *t, const struct ktr_reader_thread *thread,
				 uint16_t *label)
{
	char name[96];
	size_t n;

	if (ktr__array_grow(&t->thread_label, &t->n_threads, thread->id, sizeof(*t->thread_label)) != 0)
		return -ENOMEM;
	*label = t->thread_label[thread->id];
	if (*label != 0)
		return 0;
	n = timeline_thread_name(name, sizeof(name), thread);
	if (ktr__rows_label(&t->rows, name, n, label) != 0)
		return -ENOMEM;
	t->thread_label[thread->id] = *label;
	return 0;
}

static int timeline_cpu(struct ktr__timeline *t, uint64_t ns, const struct ktr_event *event)
{
	struct ktr__row_key key = { KTR__ROW_CPU, NULL, event->cpu, "", NULL, 0 };
	uint16_t label;
	char name[24];

	if (event->cpu >= KTR__LOSSES_CPUS) {
		t->rows.n_crowded++;
		return 0;
	}
	if (ktr__array_grow(&t->cpu, &t->n_cpus, event->cpu, sizeof(struct ktr__row *)) != 0)
		return -ENOMEM;
	if (t->cpu[event->cpu] == NULL) {
		key.ident = name;
		key.n_ident = (size_t)snprintf(name, sizeof(name), "CPU %" PRIu32, event->cpu);
		if (ktr__rows_find(&t->rows, &key, NULL, &t->cpu[event->cpu]) != 0)
			return -ENOMEM;
		if (t->cpu[event->cpu] == NULL)
			return 0;
	}
	if (timeline_thread_label(t, event->thread, &label) != 0)
		return -ENOMEM;
	if (ktr__rings_add(&t->cpu[event->cpu]->rings, event->cpu, event->keep) != 0)
		return -ENOMEM;
	return ktr__row_weigh(&t->rows, t->cpu[event->cpu], ns, label);
}

/* The states of rows that are not shown are known, too: the others have the colours that they have among all. */
static int timeline_unwanted(struct ktr__timeline *t, const struct ktr_event *event)
{
	int arg = event->site->value_arg;
	uint16_t label;

	if (event->site->kind != KTR_KIND_STATE || arg < 0 || t->options.by == KTR__BY_CPUS ||
	    event->str[arg].bytes == NULL)
		return 0;
	return ktr__rows_label(&t->rows, event->str[arg].bytes, event->str[arg].n_bytes, &label);
}

static int timeline_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__timeline *t = (struct ktr__timeline *)sink;
	struct ktr__timeline_site *site = timeline_site(t, event->site);
	uint64_t ns = event->time_ns;
	int error = 0;

	if (site == NULL)
		return t->error = -ENOMEM;
	if (ns < t->now_ns) {
		t->n_backwards++;
		ns = t->now_ns;
	}
	t->now_ns = ns;
	t->begun = NULL;
	t->n_ended = 0;
	if (ns >= t->rows.grid.to_ns || (site->derived && t->options.by == KTR__BY_CPUS))
		return 0;
	t->n_seen += ns >= t->rows.grid.from_ns && !site->derived;
	if (!site->wanted)
		return t->error = timeline_unwanted(t, event);
	t->n_events += ns >= t->rows.grid.from_ns;
	t->n_derived += ns >= t->rows.grid.from_ns && site->derived;
	if (t->options.by == KTR__BY_CPUS)
		return t->error = timeline_cpu(t, ns, event);
	if (event->site->kind != KTR_KIND_EVENT)
		error = timeline_identity(t, site, ns, event);
	if (error == 0 && t->options.by != KTR__BY_IDS && !site->derived)
		error = timeline_thread(t, ns, event);
	return t->error = error;
}

static int timeline_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__timeline *t = (struct ktr__timeline *)sink;
	uint64_t end = t->rows.grid.to_ns;
	struct ktr__rows_gap gap = { loss->from_ns, loss->to_ns == 0 || loss->to_ns > end ? end : loss->to_ns,
				     loss->cpu, loss->keep };

	ktr__spans_loss(t->spans, loss);
	if (ktr__rows_gap(&t->rows, &gap) != 0)
		return t->error = -ENOMEM;
	return t->error = ktr__losses_add(&t->losses, loss);
}

static int timeline_note(struct ktr_sink *sink, const struct ktr_note *note)
{
	struct ktr__timeline *t = (struct ktr__timeline *)sink;

	t->n_damaged += note->damaged != 0;
	return 0;
}

int ktr__timeline_init(struct ktr__timeline *t, const struct ktr_reader_info *info,
		       const struct ktr__timeline_options *options)
{
	uint64_t from = options->from_ns > 0 ? options->from_ns : info->first_ns;
	uint64_t to = options->to_ns > 0 ? options->to_ns : info->last_ns + 1;
	struct ktr__grid grid;

	memset(t, 0, sizeof(*t));
	t->sink = (struct ktr_sink){ timeline_event, timeline_loss, timeline_note };
	t->options = *options;
	t->info = info;
	ktr__grid_init(&grid, from, to, options->n_columns);
	ktr__losses_init(&t->losses, &grid);
	if (ktr__rows_init(&t->rows, &grid) != 0 ||
	    ktr__spans_new(&t->spans, info->first_ns, timeline_ended, t) != 0)
		return -ENOMEM;
	if (ktr__calls_within(&t->calls, &(struct ktr__calls_hooks){ .begin = timeline_call }, t) != 0)
		return -ENOMEM;
	t->rows.colours = options->colours;
	ktr__spans_follow(t->spans, timeline_begun);
	return 0;
}

unsigned ktr__timeline_wants(const void *timeline, const struct ktr_reader_site *site)
{
	const struct ktr__timeline *t = timeline;

	return site->kind != KTR_KIND_EVENT && t->options.by != KTR__BY_CPUS ? KTR__READER_ALL_ARGS : 0;
}

int ktr__timeline_close(struct ktr__timeline *t, uint64_t ns)
{
	t->begun = NULL;
	t->n_ended = 0;
	t->rows.n_crowded += ktr__spans_n_untracked(t->spans);
	return ktr__spans_finish(t->spans, ns);
}

int ktr__timeline_end(struct ktr__timeline *t)
{
	uint64_t last = t->info->last_ns > t->now_ns ? t->info->last_ns : t->now_ns;
	/* Behind the last event nothing is known: bars end there, not at the window's end. */
	uint64_t end = t->info->last_ns + 1 < t->rows.grid.to_ns ? t->info->last_ns + 1
								 : t->rows.grid.to_ns;

	if (end < t->now_ns)
		end = t->now_ns < t->rows.grid.to_ns ? t->now_ns : t->rows.grid.to_ns;
	if (end < t->rows.grid.from_ns)
		end = t->rows.grid.from_ns;
	if (ktr__timeline_close(t, last < end ? last : end) != 0 || ktr__losses_end(&t->losses) != 0)
		return -ENOMEM;
	return ktr__rows_end(&t->rows, end);
}

void ktr__timeline_free(struct ktr__timeline *t)
{
	ktr__spans_free(t->spans);
	ktr__calls_free(t->calls);
	free(t->ended);
	ktr__losses_free(&t->losses);
	free(t->site);
	free(t->thread);
	free(t->nest);
	free(t->thread_label);
	free(t->cpu);
	ktr__rows_free(&t->rows);
	memset(t, 0, sizeof(*t));
}
