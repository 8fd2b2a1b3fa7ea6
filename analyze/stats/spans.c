/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs STARTs with STOPs and states with the state that follows.
 *
 * What is open lies in a hash table with chains, newest first, so that the first match is the
 * innermost span. Its bytes (id and state) are copied after the record, because an event's own
 * are gone with the next one. All records are also on one list in the order in which they were
 * opened, and those of scopes on a stack of their thread; the table grows by doubling until
 * KTR__SPANS_OPEN_MAX records are open. Closed ones are used again.
 *
 * Whether a loss lies within a span is told by when losses ended: the walk reports a gap before the
 * first event after its beginning. What counts are
 * those of rings that the threads at its ends have recorded to. Only whether a scope that is in the way may have
 * ended unseen is asked of all rings: its thread may have been anywhere meanwhile.
 */
#include "analyze/stats/spans.h"

#include "analyze/derive/derive.h"
#include "analyze/read/tables.h"
#include "analyze/stats/ends.h"
#include "analyze/stats/streams.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "ktr/session/kernel_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_BUCKETS_MIN 64u

/* What finds a span: all that tells spans apart, or its process and key alone. */
enum spans_how {
	SPANS_BY_ALL,
	SPANS_SCOPE,
	SPANS_KERNEL /* a state of the kernel's events, whose key is the thread */
};

/* What is always the same of a site. */
struct spans_site {
	const struct ktr_reader_site *site; /* of which this is */
	enum spans_how how;
	uint32_t n_ident;	/* [bytes] of its id, if it has one of its own */
	uint64_t group_hash;
	uint64_t name_hash;	/* with that id */
	const struct ktr_reader_site *twin; /* another one with that id: where those begin that end here */
};

struct spans_open {
	struct spans_open *chain; /* next older in its bucket */
	struct spans_open *older, *newer;
	struct spans_open *outer; /* of a scope: the one around it on its thread */
	uint64_t hash;
	struct ktr__span span;
	enum spans_how how;
	int shared; /* STATE: several threads told of the row */
	size_t room; /* [bytes] of text */
	char text[];
};

struct ktr__spans {
	ktr__span_fn *call;
	ktr__span_begin_fn *begin; /* NULL: nobody follows */
	void *context;
	uint64_t begin_ns;
	uint64_t now_ns;
	uint64_t exit_ns; /* no thread that scopes are open of ends before; UINT64_MAX: none does */
	struct ktr__streams streams;
	struct ktr_loss *loss; /* owned: those after whose beginnings no event has come yet */
	uint32_t n_losses, loss_room;
	uint64_t n_untracked;
	uint32_t n_open;
	uint32_t n_buckets; /* power of two */
	struct spans_open **bucket;
	struct spans_open *oldest, *newest;
	struct spans_open *spare;
	struct spans_open **inner; /* owned; by thread id: its innermost open scope */
	uint32_t n_threads;
	struct spans_site *site; /* owned; by id */
	uint32_t n_sites;
};

static enum spans_how spans_how(const struct ktr_reader_site *site)
{
	if (site->ident)
		return strcmp(site->group, "scope") == 0 ? SPANS_SCOPE : SPANS_BY_ALL;
	if (site->kind == KTR_KIND_STATE && site->file && strcmp(site->file, KTR_KERNEL_FILE) == 0)
		return SPANS_KERNEL;
	return SPANS_BY_ALL;
}

/* NULL: no memory. */
static struct spans_site *spans_site(struct ktr__spans *spans, const struct ktr_reader_site *site)
{
	struct ktr_event_bytes ident = { site->ident, 0, 0, 0 };
	struct spans_site *at;

	if (ktr__array_grow(&spans->site, &spans->n_sites, site->id, sizeof(*spans->site)))
		return NULL;
	at = &spans->site[site->id];
	if (at->site == site)
		return at;
	ident.n_bytes = site->ident ? (uint32_t)strlen(site->ident) : 0;
	at->site = site;
	at->twin = NULL;
	at->how = spans_how(site);
	at->n_ident = ident.n_bytes;
	at->group_hash = ktr__hash_bytes(0, site->group, strlen(site->group));
	at->name_hash = ktr__span_name_hash(site->group, &ident);
	return at;
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
static void spans_describe(struct ktr__span *span, const struct ktr_event *event, const struct spans_site *known)
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
	if (known->how == SPANS_KERNEL)
		span->key = event->thread->id;
	else if (span->kind != KTR_KIND_STATE)
		span->key = event->arg[site->value_arg];
}

static uint64_t spans_hash(const struct ktr__span *span, enum spans_how how)
{
	uint64_t hash = ktr__hash_word(span->process_key, span->key ^ (uint64_t)span->kind << 60);

	return how == SPANS_BY_ALL ? ktr__hash_word(hash, span->name_hash ^ span->pair) : hash;
}

static struct spans_open *spans_find(const struct ktr__spans *spans, const struct ktr__span *span,
				     uint64_t hash, enum spans_how how)
{
	struct spans_open *o = spans->bucket[hash & (spans->n_buckets - 1)];

	for (; o; o = o->chain)
		if (o->hash == hash && o->how == how && o->span.kind == span->kind &&
		    o->span.process_key == span->process_key && o->span.key == span->key &&
		    o->span.pair == span->pair &&
		    (how != SPANS_BY_ALL || (ktr__same_group(o->span.group, span->group) &&
					     ktr__same_bytes(&o->span.ident, &span->ident))))
			return o;
	return NULL;
}

static void spans_unlink(struct ktr__spans *spans, struct spans_open *open)
{
	struct spans_open **at = &spans->bucket[open->hash & (spans->n_buckets - 1)];

	while (*at != open)
		at = &(*at)->chain;
	*at = open->chain;
	*(open->older ? &open->older->newer : &spans->oldest) = open->newer;
	*(open->newer ? &open->newer->older : &spans->newest) = open->older;
	spans->n_open--;
	if (open->how != SPANS_SCOPE)
		return;
	for (at = &spans->inner[open->span.thread->id]; *at != open;)
		at = &(*at)->outer;
	*at = open->outer;
}

/* Did one that is told of late begin before another, which was told of then? */
static int spans_is_around(const struct spans_open *late, const struct spans_open *open)
{
	return open->span.from_ns > late->span.from_ns && open->span.told_ns == open->span.from_ns;
}

static void spans_link(struct ktr__spans *spans, struct spans_open *open)
{
	struct spans_open **at = &spans->bucket[open->hash & (spans->n_buckets - 1)];

	open->chain = *at;
	*at = open;
	open->older = spans->newest;
	open->newer = NULL;
	*(spans->newest ? &spans->newest->newer : &spans->oldest) = open;
	spans->newest = open;
	spans->n_open++;
	if (open->how != SPANS_SCOPE)
		return;
	at = &spans->inner[open->span.thread->id];
	while (*at && spans_is_around(open, *at))
		at = &(*at)->outer;
	open->outer = *at;
	*at = open;
	/* The first events of a thread take longer than the moment between two readings of its clock. */
	for (struct spans_open *o = open->outer; o && o->span.from_ns > open->span.from_ns; o = o->outer)
		o->span.from_ns = open->span.from_ns;
}

/* Doubles the table; failing is no harm but to speed. Oldest first keeps the chains in order. */
static void spans_grow(struct ktr__spans *spans)
{
	uint32_t n = spans->n_buckets * 2;
	struct spans_open **bucket = calloc(n, sizeof(*bucket));

	if (!bucket)
		return;
	for (struct spans_open *o = spans->oldest; o; o = o->newer) {
		o->chain = bucket[o->hash & (n - 1)];
		bucket[o->hash & (n - 1)] = o;
	}
	free(spans->bucket);
	spans->bucket = bucket;
	spans->n_buckets = n;
}

/* A record with room for so many bytes; NULL without memory. */
static struct spans_open *spans_record(struct ktr__spans *spans, size_t n_text)
{
	struct spans_open *open = spans->spare;

	if (open) {
		spans->spare = open->chain;
		if (n_text <= open->room)
			return open;
		free(open);
	}
	n_text = n_text < 32 ? 32 : n_text;
	open = malloc(sizeof(*open) + n_text);
	if (open)
		open->room = n_text;
	return open;
}

/* Copies the span and its bytes into a record. */
static void spans_store(struct spans_open *open, const struct ktr__span *span)
{
	open->span = *span;
	memcpy(open->text, span->ident.bytes, span->ident.n_bytes);
	memcpy(open->text + span->ident.n_bytes, span->state.bytes, span->state.n_bytes);
	open->span.ident.bytes = open->text;
	open->span.state.bytes = open->text + span->ident.n_bytes;
}

/* A scope: it ends with its thread, if that tells when it ended. 0 or -ENOMEM. */
static int spans_on_thread(struct ktr__spans *spans, const struct ktr__span *span)
{
	uint64_t exit_ns = span->thread->exit_ns;

	if (exit_ns >= span->from_ns && exit_ns < spans->exit_ns)
		spans->exit_ns = exit_ns;
	return ktr__array_grow(&spans->inner, &spans->n_threads, span->thread->id, sizeof(struct spans_open *));
}

static void spans_give_back(struct ktr__spans *spans, struct spans_open *open)
{
	open->chain = spans->spare;
	spans->spare = open;
}

/* A record that has its span is open from here on; shared: as of the record. */
static int spans_enter(struct ktr__spans *spans, struct spans_open *open, uint64_t hash, enum spans_how how,
		       int shared)
{
	if (spans->n_open >= spans->n_buckets)
		spans_grow(spans);
	if (how == SPANS_SCOPE && spans_on_thread(spans, &open->span)) {
		spans_give_back(spans, open);
		return -ENOMEM;
	}
	open->hash = hash;
	open->how = how;
	open->shared = shared;
	spans_link(spans, open);
	return spans->begin ? spans->begin(spans->context, &open->span) : 0;
}

static int spans_open(struct ktr__spans *spans, const struct ktr__span *span, uint64_t hash,
		      enum spans_how how, int shared)
{
	struct spans_open *open;

	if (spans->n_open >= KTR__SPANS_OPEN_MAX) {
		spans->n_untracked++;
		return 0;
	}
	open = spans_record(spans, (size_t)span->ident.n_bytes + span->state.n_bytes);
	if (!open)
		return -ENOMEM;
	spans_store(open, span);
	return spans_enter(spans, open, hash, how, shared);
}

/* Since the span began, did rings of its thread, or of another one, lose events? */
static int spans_lost(const struct ktr__spans *spans, const struct spans_open *open,
		      const struct ktr_reader_thread *thread)
{
	return ktr__streams_lost(&spans->streams, open->span.thread->id, open->span.told_ns) ||
	       ktr__streams_lost(&spans->streams, thread->id, open->span.told_ns);
}

/* Hands out a record as ended at to_ns by a thread, or without an end and with more flags. */
static int spans_close(struct ktr__spans *spans, struct spans_open *open, uint64_t to_ns,
		       const struct ktr_reader_thread *end_thread, unsigned flags)
{
	int rc;

	open->span.to_ns = to_ns > open->span.from_ns ? to_ns : open->span.from_ns;
	open->span.end_thread = end_thread;
	open->span.flags = flags | (end_thread ? 0 : KTR__SPAN_NO_END);
	if (end_thread && spans_lost(spans, open, end_thread))
		open->span.flags |= KTR__SPAN_UNSURE;
	spans_unlink(spans, open);
	rc = spans->call(spans->context, &open->span);
	spans_give_back(spans, open);
	return rc;
}

/* [bytes] Frames that are this near each other are of one stack: those of coroutines are larger. */
#define SPANS_NEAR 4096

/* Was a scope that began within another one called from it, on the same stack? */
static int spans_called(const struct spans_open *inner, const struct spans_open *scope)
{
	return inner->span.key < scope->span.key && scope->span.key - inner->span.key < SPANS_NEAR;
}

/*
 * Ends the scopes that began within one on its thread, and since whose beginnings something was lost; or that it
 * called, which longjmp(3) has left.
 */
static int spans_within(struct ktr__spans *spans, const struct spans_open *scope, uint64_t ns)
{
	struct spans_open **at = &spans->inner[scope->span.thread->id];
	int rc = 0;

	while (*at != scope && !rc) {
		if (spans->streams.until_ns > (*at)->span.told_ns || spans_called(*at, scope))
			rc = spans_close(spans, *at, ns, NULL, KTR__SPAN_MISSING);
		else
			at = &(*at)->outer;
	}
	return rc;
}

/*
 * A scope's frame is gone, and with it those that were called from it: stacks grow downwards. One that began later
 * further up is of a frame that was entered after longjmp(3) had left this one.
 */
static int spans_leave(struct ktr__spans *spans, struct spans_open *scope, uint64_t ns)
{
	struct spans_open **at = &spans->inner[scope->span.thread->id];
	int rc = 0;

	while (*at != scope && !rc) {
		if ((*at)->span.key < scope->span.key)
			rc = spans_close(spans, *at, ns, NULL, KTR__SPAN_MISSING);
		else
			at = &(*at)->outer;
	}
	return rc ? rc : spans_close(spans, scope, ns, NULL, KTR__SPAN_MISSING);
}

/* Ends the scopes of threads that ended before that moment, in the order of these ends. */
static int spans_exits(struct ktr__spans *spans, uint64_t ns)
{
	int rc = 0;

	while (spans->exit_ns < ns && !rc) {
		uint64_t at = spans->exit_ns, next = UINT64_MAX;

		for (struct spans_open *o = spans->newest, *older; o && !rc; o = older) {
			uint64_t exit_ns = o->how == SPANS_SCOPE ? o->span.thread->exit_ns : 0;

			older = o->older;
			if (exit_ns == at && exit_ns >= o->span.from_ns)
				rc = spans_close(spans, o, at, NULL, KTR__SPAN_LEFT);
			else if (exit_ns >= o->span.from_ns && exit_ns < next)
				next = exit_ns;
		}
		spans->exit_ns = next;
	}
	return rc;
}

/* The key of a probed function is where its return address lies, of a KTR_SCOPE something within a frame. */
static int spans_is_function(const struct ktr_reader_site *site)
{
	return site->class_name && strcmp(site->class_name, "fbt") == 0;
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
	if (span->from_ns != span->told_ns)
		return 0;
	while (thread < spans->n_threads && spans->inner[thread] && !rc) {
		struct spans_open *open = spans->inner[thread];

		if (open->span.key >= span->key || span->key - open->span.key >= SPANS_NEAR ||
		    !spans_is_function(span->site) || !spans_is_function(open->span.site))
			break;
		rc = spans_close(spans, open, span->from_ns, NULL, KTR__SPAN_MISSING);
	}
	return rc;
}

/* One begins that is no scope. */
static int spans_start(struct ktr__spans *spans, struct ktr__span *span, enum spans_how how)
{
	uint64_t hash = spans_hash(span, how);
	struct spans_open *outer = spans_find(spans, span, hash, how);
	int rc = 0;

	if (outer && spans_lost(spans, outer, span->thread)) {
		span->depth = outer->span.depth;
		rc = spans_close(spans, outer, span->from_ns, NULL, KTR__SPAN_MISSING);
	} else if (outer) {
		span->depth = outer->span.depth + 1;
	}
	return rc ? rc : spans_open(spans, span, hash, how, 0);
}

static int spans_stop(struct ktr__spans *spans, struct ktr__span *span, enum spans_how how)
{
	struct spans_open *open = spans_find(spans, span, spans_hash(span, how), how);
	int same = open && (how != SPANS_SCOPE || ktr__same_bytes(&open->span.ident, &span->ident)), rc = 0;

	if (same && how == SPANS_SCOPE && open->span.thread == span->thread)
		rc = spans_within(spans, open, span->from_ns);
	if (same)
		return rc ? rc : spans_close(spans, open, span->from_ns, span->thread, 0);
	rc = open ? spans_leave(spans, open, span->from_ns) : 0;
	if (!rc && how == SPANS_SCOPE)
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
static int spans_state(struct ktr__spans *spans, struct ktr__span *span, enum spans_how how)
{
	uint64_t hash = spans_hash(span, how);
	struct spans_open *row = spans_find(spans, span, hash, how);
	int shared = (row && (row->shared || row->span.thread != span->thread)) || ktr__derive_is_lock(span->site);
	int rc = row ? spans_close(spans, row, span->from_ns, span->thread, 0) : 0;

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

/* The moment of a thread's event has come, spans->now_ns, and its ring is the thread's. 0 or as the callback. */
static int spans_now(struct ktr__spans *spans, uint64_t ns, uint32_t thread, uint32_t cpu, int keep)
{
	if (ns > spans->now_ns)
		spans->now_ns = ns;
	if (spans->n_losses)
		spans_losses(spans);
	if (ktr__streams_see(&spans->streams, thread, cpu, keep))
		return -ENOMEM;
	return spans->exit_ns < spans->now_ns ? spans_exits(spans, spans->now_ns) : 0;
}

static int spans_come(struct ktr__spans *spans, struct ktr__span *span)
{
	int rc = spans_now(spans, span->from_ns, span->thread->id, span->cpu, span->keep);

	span->from_ns = span->told_ns = spans->now_ns;
	return rc;
}

/* A number of somebody's file leaves some time before it. */
static uint64_t spans_late(const struct ktr__span *span, const struct ktr_event *event)
{
	uint64_t late = ktr__span_late(event);

	return late < span->from_ns ? late : 0;
}

/* A scope begins, as spans_start() has it: most spans are scopes, and its record is filled where it stays. */
static int spans_scope_start(struct ktr__spans *spans, const struct ktr_event *event,
			     const struct spans_site *known)
{
	struct spans_open *open = spans_record(spans, 0), *outer;
	struct ktr__span *span;
	uint64_t hash;
	int rc = 0;

	if (!open)
		return -ENOMEM;
	span = &open->span;
	spans_describe(span, event, known);
	span->told_ns = span->from_ns = spans->now_ns;
	span->from_ns -= spans_late(span, event);
	hash = spans_hash(span, SPANS_SCOPE);
	outer = spans_find(spans, span, hash, SPANS_SCOPE);
	if (outer)
		rc = spans_leave(spans, outer, span->from_ns);
	if (!rc)
		rc = spans_below(spans, span);
	if (!rc && spans->n_open < KTR__SPANS_OPEN_MAX)
		return spans_enter(spans, open, hash, SPANS_SCOPE, 0);
	spans->n_untracked += !rc;
	spans_give_back(spans, open);
	return rc;
}

/* The innermost scope of its thread, if the event ends it: no other one that is open has its process and key. */
static struct spans_open *spans_innermost(const struct ktr__spans *spans, const struct ktr_event *event,
					  struct spans_site *known)
{
	uint32_t id = event->thread->id;
	struct spans_open *open = id < spans->n_threads ? spans->inner[id] : NULL;
	const struct ktr_event_bytes ident = { event->site->ident, known->n_ident, 0, 0 };

	if (!open || open->span.key != event->arg[event->site->value_arg] || open->span.thread != event->thread)
		return NULL;
	if (open->span.site == known->twin)
		return open;
	if (!ktr__same_bytes(&open->span.ident, &ident))
		return NULL;
	known->twin = open->span.site;
	return open;
}

int ktr__spans_event(struct ktr__spans *spans, const struct ktr_event *event)
{
	enum ktr_event_kind kind = event->site->kind;
	struct spans_site *known;
	struct ktr__span span;
	enum spans_how how;
	int rc;

	if (kind != KTR_KIND_START && kind != KTR_KIND_STOP && kind != KTR_KIND_STATE)
		return 0;
	known = spans_site(spans, event->site);
	if (!known)
		return -ENOMEM;
	how = known->how;
	rc = spans_now(spans, event->time_ns, event->thread->id, event->cpu, event->keep);
	if (rc)
		return rc;
	if (how == SPANS_SCOPE) {
		struct spans_open *open = kind == KTR_KIND_STOP ? spans_innermost(spans, event, known) : NULL;

		if (kind == KTR_KIND_START)
			return spans_scope_start(spans, event, known);
		if (open)
			return spans_close(spans, open, spans->now_ns, event->thread, 0);
	}
	spans_describe(&span, event, known);
	span.told_ns = span.from_ns = spans->now_ns;
	if (kind == KTR_KIND_STATE)
		return spans_state(spans, &span, how);
	return kind == KTR_KIND_START ? spans_start(spans, &span, how) : spans_stop(spans, &span, how);
}

int ktr__spans_begin(struct ktr__spans *spans, struct ktr__span *span)
{
	int rc = spans_come(spans, span);

	span->name_hash = ktr__span_name_hash(span->group, &span->ident);
	return rc ? rc : spans_start(spans, span, SPANS_BY_ALL);
}

int ktr__spans_end(struct ktr__spans *spans, struct ktr__span *span)
{
	int rc = spans_come(spans, span);

	span->name_hash = ktr__span_name_hash(span->group, &span->ident);
	return rc ? rc : spans_stop(spans, span, SPANS_BY_ALL);
}

int ktr__spans_is_open(const struct ktr__spans *spans, struct ktr__span *span)
{
	span->name_hash = ktr__span_name_hash(span->group, &span->ident);
	return spans_find(spans, span, spans_hash(span, SPANS_BY_ALL), SPANS_BY_ALL) != NULL;
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
	struct spans_open *open;
};

static struct spans_last spans_last(struct spans_open *open, uint32_t number, uint64_t end_ns)
{
	int own = open->how == SPANS_SCOPE || (open->span.kind == KTR_KIND_STATE && !open->shared);
	uint64_t left_ns = own ? ktr__ends_thread(open->span.thread) : ktr__ends_process(open->span.thread);

	if (left_ns && left_ns < open->span.from_ns)
		left_ns = open->span.from_ns;
	if (left_ns && left_ns < end_ns)
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
	for (struct spans_open *o = spans->oldest; o; o = o->newer, n++)
		last[n] = spans_last(o, n, end_ns);
	qsort(last, n, sizeof(*last), spans_by_end);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = spans_close(spans, last[i].open, last[i].to_ns, NULL, last[i].flags);
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

	*out = spans;
	if (!spans)
		return -ENOMEM;
	spans->call = call;
	spans->context = context;
	spans->begin_ns = begin_ns;
	spans->exit_ns = UINT64_MAX;
	spans->n_buckets = SPANS_BUCKETS_MIN;
	spans->bucket = calloc(spans->n_buckets, sizeof(*spans->bucket));
	if (!spans->bucket) {
		free(spans);
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void spans_free_chain(struct spans_open *open, int by_age)
{
	for (struct spans_open *next; open; open = next) {
		next = by_age ? open->newer : open->chain;
		free(open);
	}
}

void ktr__spans_free(struct ktr__spans *spans)
{
	if (!spans)
		return;
	spans_free_chain(spans->oldest, 1);
	spans_free_chain(spans->spare, 0);
	ktr__streams_free(&spans->streams);
	free(spans->bucket);
	free(spans->inner);
	free(spans->site);
	free(spans->loss);
	free(spans);
}
