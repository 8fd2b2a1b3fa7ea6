/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs STARTs with STOPs and states with the state that follows.
 *
 * Most spans are scopes that end as their threads' innermost: spans_mark() is of them, and all that they need is
 * inline there. What is open lies in a table (spans_open.h).
 *
 * Whether a loss lies within a span is told by when losses ended: the walk reports a gap before the
 * first event after its beginning. What counts are
 * those of rings that the threads at its ends have recorded to. Only whether a scope that is in the way may have
 * ended unseen is asked of all rings: its thread may have been anywhere meanwhile.
 */
#include "analyze/spans/spans.h"

#include "analyze/derive/derive.h"
#include "analyze/read/tables.h"
#include "analyze/stats/ends.h"
#include "analyze/spans/spans_open.h"
#include "analyze/spans/streams.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "ktr/session/kernel_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum ktr__spans_how spans_how(const struct ktr_reader_site *site)
{
	if (site->ident)
		return strcmp(site->group, "scope") == 0 ? KTR__SPANS_SCOPE : KTR__SPANS_BY_ALL;
	if (site->kind == KTR_KIND_STATE && site->file && strcmp(site->file, KTR_KERNEL_FILE) == 0)
		return KTR__SPANS_KERNEL;
	return KTR__SPANS_BY_ALL;
}

/* NULL: no memory. */
static struct ktr__spans_site *spans_site_new(struct ktr__spans *spans, const struct ktr_reader_site *site)
{
	struct ktr_event_bytes ident = { site->ident, 0, 0, 0 };
	struct ktr__spans_site *at;

	if (ktr__array_grow(&spans->site, &spans->n_sites, site->id, sizeof(*spans->site)))
		return NULL;
	at = &spans->site[site->id];
	ident.n_bytes = site->ident ? (uint32_t)strlen(site->ident) : 0;
	at->site = site;
	at->twin = NULL;
	at->how = spans_how(site);
	at->is_function = site->class_name && strcmp(site->class_name, "fbt") == 0;
	at->n_ident = ident.n_bytes;
	at->group_hash = ktr__hash_bytes(0, site->group, strlen(site->group));
	at->name_hash = ktr__span_name_hash(site->group, &ident);
	return at;
}

static inline struct ktr__spans_site *spans_site(struct ktr__spans *spans, const struct ktr_reader_site *site)
{
	return site->id < spans->n_sites && spans->site[site->id].site == site ? &spans->site[site->id]
									       : spans_site_new(spans, site);
}

static struct ktr_event_bytes spans_bytes(const struct ktr_event *event, int arg)
{
	struct ktr_event_bytes none = { "", 0, 0, 0 };

	return arg < 0 || !event->str[arg].bytes ? none : event->str[arg];
}

/*
 * What the event says about its span; the end that it does not tell stays zero. Field by field: a record that is
 * returned is copied as often as it is handed on.
 */
static void spans_describe(struct ktr__span *span, const struct ktr_event *event,
			   const struct ktr__spans_site *known)
{
	const struct ktr_reader_site *site = event->site;

	/* Its members one by one: an instruction that fills long rows takes longer than the event does. */
	span->kind = site->kind == KTR_KIND_STATE ? KTR_KIND_STATE : KTR_KIND_START;
	span->pid = event->thread->pid;
	span->process_key = ktr__tables_process_key(event->thread);
	span->group = site->group;
	span->ident = (struct ktr_event_bytes){ "", 0, 0, 0 };
	span->state = (struct ktr_event_bytes){ "", 0, 0, 0 };
	span->key = 0;
	span->from_ns = event->time_ns;
	span->told_ns = event->time_ns;
	span->to_ns = 0;
	span->site = site;
	span->thread = event->thread;
	span->end_thread = NULL;
	span->cpu = event->cpu;
	span->keep = event->keep;
	span->pair = 0;
	span->depth = span->flags = 0;
	span->row = NULL;
	span->word = 0;
	span->lane = 0;
	if (site->ident) {
		span->ident.bytes = site->ident;
		span->ident.n_bytes = known->n_ident;
		span->name_hash = known->name_hash;
	} else {
		span->ident = spans_bytes(event, 0);
		span->name_hash = ktr__hash_bytes(known->group_hash, span->ident.bytes, span->ident.n_bytes);
	}
	if (span->kind == KTR_KIND_STATE)
		span->state = spans_bytes(event, site->value_arg);
	if (known->how == KTR__SPANS_KERNEL)
		span->key = event->thread->id;
	else if (span->kind != KTR_KIND_STATE)
		span->key = event->arg[site->value_arg];
}

static uint64_t spans_hash(const struct ktr__span *span, enum ktr__spans_how how)
{
	uint64_t hash = ktr__hash_word(span->process_key, span->key ^ (uint64_t)span->kind << 60);

	return how == KTR__SPANS_BY_ALL ? ktr__hash_word(hash, span->name_hash ^ span->pair) : hash;
}

static int spans_open(struct ktr__spans *spans, const struct ktr__span *span, uint64_t hash,
		      enum ktr__spans_how how, int shared)
{
	struct ktr__spans_open *open;

	if (spans->n_open >= KTR__SPANS_OPEN_MAX) {
		spans->n_untracked++;
		return 0;
	}
	open = ktr__spans_record(spans, (size_t)span->ident.n_bytes + span->state.n_bytes);
	if (!open)
		return -ENOMEM;
	ktr__spans_store(open, span);
	return ktr__spans_enter(spans, open, hash, how, shared);
}

/* [bytes] Frames that are this near each other are of one stack: those of coroutines are larger. */
#define SPANS_NEAR 4096

/* Was a scope that began within another one called from it, on the same stack? */
static int spans_called(const struct ktr__spans_open *inner, const struct ktr__spans_open *scope)
{
	return inner->span.key < scope->span.key && scope->span.key - inner->span.key < SPANS_NEAR;
}

/*
 * Ends the scopes that began within one on its thread, and since whose beginnings something was lost; or that it
 * called, which longjmp(3) has left.
 */
static int spans_within(struct ktr__spans *spans, const struct ktr__spans_open *scope, uint64_t ns)
{
	struct ktr__spans_open **at = &spans->thread[scope->span.thread->id].inner;
	int rc = 0;

	while (*at != scope && !rc) {
		if (spans->streams.until_ns > (*at)->span.told_ns || spans_called(*at, scope))
			rc = ktr__spans_close(spans, *at, ns, NULL, KTR__SPAN_MISSING);
		else
			at = &(*at)->outer;
	}
	return rc;
}

/*
 * A scope's frame is gone, and with it those that were called from it: stacks grow downwards. One that began later
 * further up is of a frame that was entered after longjmp(3) had left this one.
 */
static int spans_leave(struct ktr__spans *spans, struct ktr__spans_open *scope, uint64_t ns)
{
	struct ktr__spans_open **at = &spans->thread[scope->span.thread->id].inner;
	int rc = 0;

	while (*at != scope && !rc) {
		if ((*at)->span.key < scope->span.key)
			rc = ktr__spans_close(spans, *at, ns, NULL, KTR__SPAN_MISSING);
		else
			at = &(*at)->outer;
	}
	return rc ? rc : ktr__spans_close(spans, scope, ns, NULL, KTR__SPAN_MISSING);
}

/* Ends the scopes of threads that ended before that moment, in the order of these ends. */
static int spans_exits(struct ktr__spans *spans, uint64_t ns)
{
	int rc = 0;

	while (spans->exit_ns < ns && !rc) {
		uint64_t at = spans->exit_ns, next = UINT64_MAX;

		for (struct ktr__spans_open *o = spans->newest, *older; o && !rc; o = older) {
			uint64_t exit_ns = o->how == KTR__SPANS_SCOPE ? o->span.thread->exit_ns : 0;

			older = o->older;
			if (exit_ns == at && exit_ns >= o->span.from_ns)
				rc = ktr__spans_close(spans, o, at, NULL, KTR__SPAN_LEFT);
			else if (exit_ns >= o->span.from_ns && exit_ns < next)
				next = exit_ns;
		}
		spans->exit_ns = next;
	}
	return rc;
}

/* The key of a probed function is where its return address lies, of a KTR_SCOPE something within a frame. */
static int spans_is_function(struct ktr__spans *spans, const struct ktr_reader_site *site)
{
	const struct ktr__spans_site *known = spans_site(spans, site);

	return known && known->is_function;
}

/*
 * A function that begins, or ends without having begun, stands on its thread's stack: what lies a bit below it is
 * gone, and nobody has told of its end. Else its caller's end would tell, which is main's perhaps, and meanwhile
 * all that the thread does would count as its own.
 */
static int spans_below(struct ktr__spans *spans, const struct ktr__span *span)
{
	uint32_t thread = span->thread->id;
	int rc = 0;

	/* What is told of late may have called what is open. */
	if (span->from_ns != span->told_ns || !spans_is_function(spans, span->site))
		return 0;
	while (thread < spans->n_threads && spans->thread[thread].inner && !rc) {
		struct ktr__spans_open *open = spans->thread[thread].inner;

		if (open->span.key >= span->key || span->key - open->span.key >= SPANS_NEAR ||
		    !spans_is_function(spans, open->span.site))
			break;
		rc = ktr__spans_close(spans, open, span->from_ns, NULL, KTR__SPAN_MISSING);
	}
	return rc;
}

/* One begins that is no scope. */
static int spans_start(struct ktr__spans *spans, struct ktr__span *span, enum ktr__spans_how how)
{
	uint64_t hash = spans_hash(span, how);
	struct ktr__spans_open *outer = ktr__spans_find(spans, span, hash, how);
	int rc = 0;

	if (outer && ktr__spans_lost(spans, outer, span->thread)) {
		span->depth = outer->span.depth;
		rc = ktr__spans_close(spans, outer, span->from_ns, NULL, KTR__SPAN_MISSING);
	} else if (outer) {
		span->depth = outer->span.depth + 1;
	}
	return rc ? rc : spans_open(spans, span, hash, how, 0);
}

static int spans_stop(struct ktr__spans *spans, struct ktr__span *span, enum ktr__spans_how how)
{
	struct ktr__spans_open *open = ktr__spans_find(spans, span, spans_hash(span, how), how);
	int same = open && (how != KTR__SPANS_SCOPE || ktr__same_bytes(&open->span.ident, &span->ident)), rc = 0;

	if (same && how == KTR__SPANS_SCOPE && open->span.thread == span->thread)
		rc = spans_within(spans, open, span->from_ns);
	if (same)
		return rc ? rc : ktr__spans_close(spans, open, span->from_ns, span->thread, 0);
	rc = open ? spans_leave(spans, open, span->from_ns) : 0;
	if (!rc && how == KTR__SPANS_SCOPE)
		rc = spans_below(spans, span);
	if (rc)
		return rc;
	span->to_ns = span->from_ns;
	span->from_ns = spans->begin_ns;
	span->end_thread = span->thread;
	span->flags = KTR__SPAN_NO_START;
	return spans->call(spans->context, span);
}

/* The row's state changes; saying the same state again ends the one before as any other does. */
static int spans_state(struct ktr__spans *spans, struct ktr__span *span, enum ktr__spans_how how)
{
	uint64_t hash = spans_hash(span, how);
	struct ktr__spans_open *row = ktr__spans_find(spans, span, hash, how);
	int shared = (row && (row->shared || row->span.thread != span->thread)) || ktr__derive_is_lock(span->site);
	int rc = row ? ktr__spans_close(spans, row, span->from_ns, span->thread, 0) : 0;

	return rc ? rc : spans_open(spans, span, hash, how, shared);
}

/* Losses that began before this moment count. */
static void spans_losses(struct ktr__spans *spans)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < spans->n_losses; i++) {
		if (spans->loss[i].from_ns < spans->now_ns)
			ktr__streams_loss(&spans->streams, &spans->loss[i]);
		else
			spans->loss[n++] = spans->loss[i];
	}
	spans->n_losses = n;
}

/* An event of the thread came from another ring than the one before, or is its first. 0 or -ENOMEM. */
static int spans_ring(struct ktr__spans *spans, uint32_t thread, uint32_t cpu, int keep, uint64_t ring)
{
	if (ktr__array_grow(&spans->thread, &spans->n_threads, thread, sizeof(*spans->thread)) ||
	    ktr__streams_see(&spans->streams, thread, cpu, keep))
		return -ENOMEM;
	spans->thread[thread].ring = ring;
	return 0;
}

/* The moment of a thread's event has come, spans->now_ns, and its ring is the thread's. 0 or as the callback. */
static inline int spans_now(struct ktr__spans *spans, uint64_t ns, uint32_t thread, uint32_t cpu, int keep)
{
	uint64_t ring = 2 * (uint64_t)cpu + (keep != 0) + 1;

	if (ns > spans->now_ns)
		spans->now_ns = ns;
	if (spans->n_losses)
		spans_losses(spans);
	if ((thread >= spans->n_threads || spans->thread[thread].ring != ring) &&
	    spans_ring(spans, thread, cpu, keep, ring))
		return -ENOMEM;
	return spans->exit_ns < spans->now_ns ? spans_exits(spans, spans->now_ns) : 0;
}

static int spans_come(struct ktr__spans *spans, struct ktr__span *span)
{
	int rc = spans_now(spans, span->from_ns, span->thread->id, span->cpu, span->keep);

	span->from_ns = span->told_ns = spans->now_ns;
	return rc;
}

/* What a scope's record has, whose beginning comes; to_ns and what its end tells come with that. */
static inline void spans_scope(struct ktr__span *span, const struct ktr__span_mark *mark, uint64_t now_ns,
			       const struct ktr__spans_site *known)
{
	span->kind = KTR_KIND_START;
	span->pid = mark->source->thread->pid;
	span->process_key = ktr__tables_process_key(mark->source->thread);
	span->group = mark->site->group;
	span->ident = (struct ktr_event_bytes){ mark->site->ident, known->n_ident, 0, 0 };
	span->state = (struct ktr_event_bytes){ "", 0, 0, 0 };
	span->key = mark->key;
	span->from_ns = span->told_ns = now_ns;
	span->to_ns = 0;
	span->site = mark->site;
	span->thread = mark->source->thread;
	span->end_thread = NULL;
	span->cpu = mark->source->cpu;
	span->keep = mark->source->keep;
	span->pair = 0;
	span->name_hash = known->name_hash;
	span->depth = span->flags = 0;
	span->row = NULL;
	span->word = 0;
	span->lane = 0;
}

/* A scope begins, as spans_start() has it, so long before it is told of: its record is filled where it stays. */
static inline int spans_scope_start(struct ktr__spans *spans, const struct ktr__span_mark *mark,
				    const struct ktr__spans_site *known, uint64_t late_ns)
{
	struct ktr__spans_open *open = ktr__spans_record(spans, 0), *outer;
	struct ktr__span *span;
	uint64_t hash;
	int rc = 0;

	if (!open)
		return -ENOMEM;
	span = &open->span;
	spans_scope(span, mark, spans->now_ns, known);
	/* A number of somebody's file leaves some time before it. */
	span->from_ns -= late_ns < span->from_ns ? late_ns : 0;
	hash = spans_hash(span, KTR__SPANS_SCOPE);
	outer = ktr__spans_find(spans, span, hash, KTR__SPANS_SCOPE);
	if (outer)
		rc = spans_leave(spans, outer, span->from_ns);
	if (!rc && known->is_function)
		rc = spans_below(spans, span);
	if (!rc && spans->n_open < KTR__SPANS_OPEN_MAX)
		return ktr__spans_enter(spans, open, hash, KTR__SPANS_SCOPE, 0);
	spans->n_untracked += !rc;
	ktr__spans_put_back(spans, open);
	return rc;
}

/* The innermost scope of its thread, if the mark ends it: no other one that is open has its process and key. */
static inline struct ktr__spans_open *spans_innermost(const struct ktr__spans *spans,
						      const struct ktr__span_mark *mark,
						      struct ktr__spans_site *known)
{
	struct ktr__spans_open *open = spans->thread[mark->source->thread->id].inner;
	const struct ktr_event_bytes ident = { mark->site->ident, known->n_ident, 0, 0 };

	if (!open || open->span.key != mark->key || open->span.thread != mark->source->thread)
		return NULL;
	if (open->span.site == known->twin)
		return open;
	if (!ktr__same_bytes(&open->span.ident, &ident))
		return NULL;
	known->twin = open->span.site;
	return open;
}

/* A scope, at a moment that has come: 1 with the answer in *rc, 0: it ends, and not as most do. */
static inline int spans_mark(struct ktr__spans *spans, const struct ktr__span_mark *mark,
			     struct ktr__spans_site *known, uint64_t late_ns, int *rc)
{
	struct ktr__spans_open *open;

	if (mark->site->kind == KTR_KIND_START) {
		*rc = spans_scope_start(spans, mark, known, late_ns);
		return 1;
	}
	open = spans_innermost(spans, mark, known);
	if (!open)
		return 0;
	*rc = ktr__spans_over(spans, open, spans->now_ns, mark->source->thread, 0);
	return 1;
}

/* The same of an event. */
static int spans_mark_of(struct ktr__spans *spans, const struct ktr_event *event, struct ktr__spans_site *known,
			 int *rc)
{
	const struct ktr__span_source source = { event->thread, event->cpu, event->keep };
	const struct ktr__span_mark mark = { event->time_ns, event->site, event->arg[event->site->value_arg],
					     &source };

	return spans_mark(spans, &mark, known, ktr__span_late(event), rc);
}

int ktr__spans_event(struct ktr__spans *spans, const struct ktr_event *event)
{
	enum ktr_event_kind kind = event->site->kind;
	struct ktr__spans_site *known;
	struct ktr__span span;
	int rc;

	if (kind != KTR_KIND_START && kind != KTR_KIND_STOP && kind != KTR_KIND_STATE)
		return 0;
	known = spans_site(spans, event->site);
	if (!known)
		return -ENOMEM;
	rc = spans_now(spans, event->time_ns, event->thread->id, event->cpu, event->keep);
	if (rc)
		return rc;
	if (known->how == KTR__SPANS_SCOPE && kind != KTR_KIND_STATE && spans_mark_of(spans, event, known, &rc))
		return rc;
	spans_describe(&span, event, known);
	span.told_ns = span.from_ns = spans->now_ns;
	if (kind == KTR_KIND_STATE)
		return spans_state(spans, &span, known->how);
	return kind == KTR_KIND_START ? spans_start(spans, &span, known->how)
				      : spans_stop(spans, &span, known->how);
}

int ktr__spans_mark(struct ktr__spans *spans, const struct ktr__span_mark *mark)
{
	struct ktr__spans_site *known = spans_site(spans, mark->site);
	const struct ktr__span_source *source = mark->source;
	struct ktr_event event;
	int rc;

	if (!known)
		return -ENOMEM;
	if (known->how == KTR__SPANS_SCOPE) {
		rc = spans_now(spans, mark->time_ns, source->thread->id, source->cpu, source->keep);
		if (rc || spans_mark(spans, mark, known, 0, &rc))
			return rc;
	}
	event = (struct ktr_event){ .time_ns = mark->time_ns, .site = mark->site, .thread = source->thread,
				    .cpu = source->cpu, .keep = source->keep };
	event.arg[mark->site->value_arg] = mark->key;
	return ktr__spans_event(spans, &event);
}

int ktr__spans_begin(struct ktr__spans *spans, struct ktr__span *span)
{
	int rc = spans_come(spans, span);

	span->name_hash = ktr__span_name_hash(span->group, &span->ident);
	return rc ? rc : spans_start(spans, span, KTR__SPANS_BY_ALL);
}

int ktr__spans_end(struct ktr__spans *spans, struct ktr__span *span)
{
	int rc = spans_come(spans, span);

	span->name_hash = ktr__span_name_hash(span->group, &span->ident);
	return rc ? rc : spans_stop(spans, span, KTR__SPANS_BY_ALL);
}

int ktr__spans_is_open(const struct ktr__spans *spans, struct ktr__span *span)
{
	span->name_hash = ktr__span_name_hash(span->group, &span->ident);
	return ktr__spans_find(spans, span, spans_hash(span, KTR__SPANS_BY_ALL), KTR__SPANS_BY_ALL) != NULL;
}

void ktr__spans_loss(struct ktr__spans *spans, const struct ktr_loss *loss)
{
	/* Without memory it counts from here on. */
	if (ktr__array_grow(&spans->loss, &spans->loss_room, spans->n_losses, sizeof(*loss)))
		ktr__streams_loss(&spans->streams, loss);
	else
		spans->loss[spans->n_losses++] = *loss;
}

/* ---- the end ---- */

struct spans_last {
	uint64_t to_ns;
	uint32_t number; /* in the order of beginnings */
	unsigned flags;
	struct ktr__spans_open *open;
};

static struct spans_last spans_last(struct ktr__spans_open *open, uint32_t number, uint64_t end_ns)
{
	int own = open->how == KTR__SPANS_SCOPE || (open->span.kind == KTR_KIND_STATE && !open->shared);
	uint64_t left_ns = own ? ktr__ends_thread(open->span.thread) : ktr__ends_process(open->span.thread);

	if (left_ns && left_ns < open->span.from_ns)
		left_ns = open->span.from_ns;
	if (left_ns && left_ns <= end_ns)
		return (struct spans_last){ left_ns, number, KTR__SPAN_LEFT, open };
	return (struct spans_last){ end_ns, number, 0, open };
}

static int spans_by_end(const void *a, const void *b)
{
	const struct spans_last *x = a, *y = b;

	if (x->to_ns != y->to_ns)
		return x->to_ns < y->to_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

int ktr__spans_finish(struct ktr__spans *spans, uint64_t end_ns)
{
	struct spans_last *last = calloc(spans->n_open + 1, sizeof(*last));
	uint32_t n = 0;
	int rc = 0;

	if (!last)
		return -ENOMEM;
	for (struct ktr__spans_open *o = spans->oldest; o; o = o->newer, n++)
		last[n] = spans_last(o, n, end_ns);
	qsort(last, n, sizeof(*last), spans_by_end);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = ktr__spans_close(spans, last[i].open, last[i].to_ns, NULL, last[i].flags);
	free(last);
	return rc;
}

uint64_t ktr__spans_n_untracked(const struct ktr__spans *spans)
{
	return spans->n_untracked;
}

void ktr__spans_follow(struct ktr__spans *spans, ktr__span_begin_fn *begin)
{
	spans->begin = begin;
}

int ktr__spans_new(struct ktr__spans **out, uint64_t begin_ns, ktr__span_fn *call, void *context)
{
	struct ktr__spans *spans = calloc(1, sizeof(*spans));

	*out = NULL;
	if (!spans)
		return -ENOMEM;
	if (ktr__spans_make(spans)) {
		free(spans);
		return -ENOMEM;
	}
	spans->call = call;
	spans->context = context;
	spans->begin_ns = begin_ns;
	spans->exit_ns = UINT64_MAX;
	*out = spans;
	return 0;
}

void ktr__spans_free(struct ktr__spans *spans)
{
	if (!spans)
		return;
	ktr__spans_drop(spans);
	ktr__streams_free(&spans->streams);
	free(spans->thread);
	free(spans->site);
	free(spans->loss);
	free(spans);
}
