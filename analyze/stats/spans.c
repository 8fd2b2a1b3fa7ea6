/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs STARTs with STOPs and states with the state that follows.
 *
 * What is open lies in a hash table with chains, newest first, so that the first match is the
 * innermost span. Its bytes (id and state) are copied behind the record, because an event's own
 * are gone with the next one. All records are also on one list in the order in which they were
 * opened; the table grows by doubling until KTR__SPANS_OPEN_MAX records are open.
 *
 * Whether a loss lies within a span is told by a count of losses: the walk reports a gap before the
 * first event behind its beginning, and a record remembers the count at its own beginning. What counts are
 * those of rings that the threads at its ends have recorded to.
 */
#include "analyze/stats/spans.h"
#include "analyze/stats/ends.h"
#include "analyze/stats/streams.h"
#include "analyze/read/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_BUCKETS_MIN 64u

struct spans_open {
	struct spans_open *chain; /* next older in its bucket */
	struct spans_open *older, *newer;
	uint64_t hash;
	uint64_t n_losses; /* at its beginning */
	struct ktr__span span;
	int scope; /* found by process and key alone */
	int shared; /* STATE: several threads told of the row */
	char text[];
};

struct ktr__spans {
	ktr__span_fn *call;
	void *context;
	uint64_t begin_ns;
	struct ktr__streams streams;
	uint64_t n_untracked;
	uint32_t n_open;
	uint32_t n_buckets; /* power of two */
	struct spans_open **bucket;
	struct spans_open *oldest, *newest;
};

/* Multiplies by the 64-bit golden ratio and folds; good enough for a table that may degrade. */
static uint64_t spans_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

static uint64_t spans_mix_bytes(uint64_t hash, const char *bytes, size_t n)
{
	uint64_t word;

	for (; n >= sizeof(word); bytes += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = spans_mix(hash, word);
	}
	word = n;
	for (size_t i = 0; i < n; i++)
		word = word << 8 | (uint8_t)bytes[i];
	return spans_mix(hash, word);
}

static int spans_same_bytes(const struct ktr_event_bytes *a, const struct ktr_event_bytes *b)
{
	return a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, a->n_bytes) == 0;
}

static int spans_is_scope(const struct ktr_reader_site *site)
{
	return site->ident && strcmp(site->group, "scope") == 0;
}

static struct ktr_event_bytes spans_bytes(const struct ktr_event *event, int arg)
{
	struct ktr_event_bytes none = { "", 0, 0, 0 };

	return arg < 0 || !event->str[arg].bytes ? none : event->str[arg];
}

/* What the event says about its span; the end that it does not tell stays zero. */
static struct ktr__span spans_describe(const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct ktr__span span = {
		.kind = site->kind == KTR_KIND_STATE ? KTR_KIND_STATE : KTR_KIND_START,
		.pid = event->thread->pid,
		.process_key = ktr__tables_process_key(event->thread),
		.group = site->group,
		.from_ns = event->time_ns,
		.site = site,
		.thread = event->thread,
		.cpu = event->cpu,
		.keep = event->keep,
		.state = { "", 0, 0, 0 },
	};

	if (site->ident)
		span.ident = (struct ktr_event_bytes){ site->ident, (uint32_t)strlen(site->ident),
						       0, 0 };
	else
		span.ident = spans_bytes(event, 0);
	if (span.kind == KTR_KIND_STATE)
		span.state = spans_bytes(event, site->value_arg);
	else
		span.key = event->arg[site->value_arg];
	return span;
}

static uint64_t spans_hash(const struct ktr__span *span, int scope)
{
	uint64_t hash = spans_mix(span->process_key, span->key ^ (uint64_t)span->kind << 60);

	if (scope)
		return hash;
	hash = spans_mix(hash, span->pair);
	hash = spans_mix_bytes(hash, span->group, strlen(span->group));
	return spans_mix_bytes(hash, span->ident.bytes, span->ident.n_bytes);
}

static struct spans_open *spans_find(const struct ktr__spans *spans, const struct ktr__span *span,
				     uint64_t hash, int scope)
{
	struct spans_open *o = spans->bucket[hash & (spans->n_buckets - 1)];

	for (; o; o = o->chain)
		if (o->hash == hash && o->scope == scope && o->span.kind == span->kind &&
		    o->span.process_key == span->process_key && o->span.key == span->key &&
		    o->span.pair == span->pair &&
		    (scope || (strcmp(o->span.group, span->group) == 0 &&
			       spans_same_bytes(&o->span.ident, &span->ident))))
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

/* Copies the span and its bytes into a record. */
static void spans_store(struct spans_open *open, const struct ktr__span *span)
{
	open->span = *span;
	memcpy(open->text, span->ident.bytes, span->ident.n_bytes);
	memcpy(open->text + span->ident.n_bytes, span->state.bytes, span->state.n_bytes);
	open->span.ident.bytes = open->text;
	open->span.state.bytes = open->text + span->ident.n_bytes;
}

/* shared: as of the record. */
static int spans_open(struct ktr__spans *spans, const struct ktr__span *span, uint64_t hash,
		      int scope, int shared)
{
	size_t n_text = (size_t)span->ident.n_bytes + span->state.n_bytes;
	struct spans_open *open;

	if (spans->n_open >= KTR__SPANS_OPEN_MAX) {
		spans->n_untracked++;
		return 0;
	}
	if (spans->n_open >= spans->n_buckets)
		spans_grow(spans);
	open = malloc(sizeof(*open) + n_text);
	if (!open)
		return -ENOMEM;
	open->hash = hash;
	open->scope = scope;
	open->shared = shared;
	open->n_losses = spans->streams.n_losses;
	spans_store(open, span);
	spans_link(spans, open);
	return 0;
}

/* Hands out a record as ended at to_ns and frees it. */
static int spans_close(struct ktr__spans *spans, struct spans_open *open, uint64_t to_ns,
		       const struct ktr_reader_thread *end_thread)
{
	int rc;

	open->span.to_ns = to_ns;
	open->span.end_thread = end_thread;
	if (!end_thread)
		open->span.flags |= KTR__SPAN_NO_END;
	else if (ktr__streams_lost(&spans->streams, open->span.thread->id, open->n_losses) ||
		 ktr__streams_lost(&spans->streams, end_thread->id, open->n_losses))
		open->span.flags |= KTR__SPAN_UNSURE;
	spans_unlink(spans, open);
	rc = spans->call(spans->context, &open->span);
	free(open);
	return rc;
}

static int spans_start(struct ktr__spans *spans, struct ktr__span *span, int scope)
{
	int rc;
	uint64_t hash = spans_hash(span, scope);
	struct spans_open *outer = spans_find(spans, span, hash, scope);

	if (outer && scope) {
		rc = spans_close(spans, outer, span->from_ns, NULL);
		if (rc)
			return rc;
	} else if (outer) {
		span->depth = outer->span.depth + 1;
	}
	return spans_open(spans, span, hash, scope, 0);
}

static int spans_stop(struct ktr__spans *spans, struct ktr__span *span, int scope)
{
	struct spans_open *open = spans_find(spans, span, spans_hash(span, scope), scope);
	int rc;

	if (open && (!scope || spans_same_bytes(&open->span.ident, &span->ident)))
		return spans_close(spans, open, span->from_ns, span->thread);
	if (open) {
		rc = spans_close(spans, open, span->from_ns, NULL);
		if (rc)
			return rc;
	}
	span->to_ns = span->from_ns;
	span->from_ns = spans->begin_ns;
	span->end_thread = span->thread;
	span->flags = KTR__SPAN_NO_START;
	return spans->call(spans->context, span);
}

/* The row's state changes; saying the same state again ends the one before as any other does. */
static int spans_state(struct ktr__spans *spans, struct ktr__span *span)
{
	uint64_t hash = spans_hash(span, 0);
	struct spans_open *row = spans_find(spans, span, hash, 0);
	int shared = row && (row->shared || row->span.thread != span->thread);
	int rc = row ? spans_close(spans, row, span->from_ns, span->thread) : 0;

	return rc ? rc : spans_open(spans, span, hash, 0, shared);
}

/* The ring that an end of a span came from. 0 or -ENOMEM. */
static int spans_see(struct ktr__spans *spans, const struct ktr__span *span)
{
	return ktr__streams_see(&spans->streams, span->thread->id, span->cpu, span->keep);
}

int ktr__spans_event(struct ktr__spans *spans, const struct ktr_event *event)
{
	enum ktr_event_kind kind = event->site->kind;
	struct ktr__span span;

	if (kind != KTR_KIND_START && kind != KTR_KIND_STOP && kind != KTR_KIND_STATE)
		return 0;
	span = spans_describe(event);
	if (spans_see(spans, &span))
		return -ENOMEM;
	if (kind == KTR_KIND_STATE)
		return spans_state(spans, &span);
	return kind == KTR_KIND_START ? spans_start(spans, &span, spans_is_scope(span.site)) :
					spans_stop(spans, &span, spans_is_scope(span.site));
}

int ktr__spans_begin(struct ktr__spans *spans, struct ktr__span *span)
{
	return spans_see(spans, span) ? -ENOMEM : spans_start(spans, span, 0);
}

int ktr__spans_end(struct ktr__spans *spans, struct ktr__span *span)
{
	return spans_see(spans, span) ? -ENOMEM : spans_stop(spans, span, 0);
}

int ktr__spans_is_open(const struct ktr__spans *spans, const struct ktr__span *span)
{
	return spans_find(spans, span, spans_hash(span, 0), 0) != NULL;
}

void ktr__spans_loss(struct ktr__spans *spans, const struct ktr_loss *loss)
{
	ktr__streams_loss(&spans->streams, loss);
}

int ktr__spans_finish(struct ktr__spans *spans, uint64_t end_ns)
{
	int rc = 0;

	while (spans->oldest && !rc) {
		struct spans_open *open = spans->oldest;
		int own = open->scope || (open->span.kind == KTR_KIND_STATE && !open->shared);
		uint64_t left_ns = own ? ktr__ends_thread(open->span.thread) : ktr__ends_process(open->span.thread);

		if (left_ns && left_ns < open->span.from_ns)
			left_ns = open->span.from_ns;
		if (left_ns && left_ns < end_ns)
			open->span.flags |= KTR__SPAN_LEFT;
		rc = spans_close(spans, open, left_ns && left_ns < end_ns ? left_ns : end_ns, NULL);
	}
	return rc;
}

uint64_t ktr__spans_n_untracked(const struct ktr__spans *spans)
{
	return spans->n_untracked;
}

int ktr__spans_new(struct ktr__spans **out, uint64_t begin_ns, ktr__span_fn *call, void *context)
{
	struct ktr__spans *spans = calloc(1, sizeof(*spans));

	*out = NULL;
	if (!spans)
		return -ENOMEM;
	spans->bucket = calloc(SPANS_BUCKETS_MIN, sizeof(*spans->bucket));
	if (!spans->bucket) {
		free(spans);
		return -ENOMEM;
	}
	spans->n_buckets = SPANS_BUCKETS_MIN;
	spans->begin_ns = begin_ns;
	spans->call = call;
	spans->context = context;
	*out = spans;
	return 0;
}

void ktr__spans_free(struct ktr__spans *spans)
{
	struct spans_open *next;

	if (!spans)
		return;
	for (struct spans_open *o = spans->oldest; o; o = next) {
		next = o->newer;
		free(o);
	}
	ktr__streams_free(&spans->streams);
	free(spans->bucket);
	free(spans);
}
