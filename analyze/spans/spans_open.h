/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that have begun, as the engine keeps them (spans.c): which one is meant by a key, and in which order they
 * began.
 *
 * What is open lies in a hash table with chains, newest first, so that the first match is the
 * innermost span. Its bytes (id and state) are copied after the record, because an event's own
 * are gone with the next one. All records are also on one list in the order in which they were
 * opened, and those of scopes on a stack of their thread; the table grows by doubling until
 * KTR__SPANS_OPEN_MAX records are open. Closed ones are used again.
 *
 * What most spans need, a scope that is its thread's innermost, is inline.
 */
#ifndef ANALYZE_SPANS_OPEN_H
#define ANALYZE_SPANS_OPEN_H

#include "analyze/spans/spans.h"
#include "analyze/spans/streams.h"

#include <stdlib.h>

/* What finds a span: all that tells spans apart, or its process and key alone. */
enum ktr__spans_how {
	KTR__SPANS_BY_ALL,
	KTR__SPANS_SCOPE,
	KTR__SPANS_KERNEL /* a state of the kernel's events, whose key is the thread */
};

/* What is always the same of a site. */
struct ktr__spans_site {
	const struct ktr_reader_site *site; /* of which this is */
	enum ktr__spans_how how;
	int is_function; /* of the provider of functions */
	uint32_t n_ident; /* [bytes] of its id, if it has one of its own */
	uint64_t group_hash;
	uint64_t name_hash; /* with that id */
	const struct ktr_reader_site *twin; /* another one with that id: where those begin that end here */
};

struct ktr__spans_open {
	struct ktr__spans_open *chain; /* next older in its bucket */
	struct ktr__spans_open *older, *newer;
	struct ktr__spans_open *outer; /* of a scope: the one around it on its thread */
	uint64_t hash;
	struct ktr__span span;
	enum ktr__spans_how how;
	int shared;  /* STATE: several threads told of the row */
	size_t room; /* [bytes] of text */
	char text[];
};

struct ktr__spans_thread {
	struct ktr__spans_open *inner; /* its innermost open scope; NULL: none */
	uint64_t ring; /* that its last event came from, 2 * CPU + keep + 1; 0: none has come */
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
	struct ktr__spans_open **bucket;
	struct ktr__spans_open *oldest, *newest;
	struct ktr__spans_open *spare;
	struct ktr__spans_thread *thread; /* owned; by id: those of which events have come */
	uint32_t n_threads;
	struct ktr__spans_site *site; /* owned; by id */
	uint32_t n_sites;
};

/* The table, empty: 0 or -ENOMEM. And all that is in it, or was, is freed. */
int ktr__spans_make(struct ktr__spans *spans);
void ktr__spans_drop(struct ktr__spans *spans);

/* Doubles the table; failing is no harm but to speed. */
void ktr__spans_grow(struct ktr__spans *spans);

/* A new record with room for so many bytes; NULL without memory. */
struct ktr__spans_open *ktr__spans_record_new(size_t n_text);

/* Copies the span and its bytes into a record. */
void ktr__spans_store(struct ktr__spans_open *open, const struct ktr__span *span);

/* Hands out a record as ended at to_ns by a thread, or without an end and with more flags. 0 or as the callback. */
int ktr__spans_close(struct ktr__spans *spans, struct ktr__spans_open *open, uint64_t to_ns,
		     const struct ktr_reader_thread *end_thread, unsigned flags);

/* The innermost that is open with such a key; NULL: none. */
static inline struct ktr__spans_open *ktr__spans_find(const struct ktr__spans *spans, const struct ktr__span *span,
						      uint64_t hash, enum ktr__spans_how how)
{
	struct ktr__spans_open *o = spans->bucket[hash & (spans->n_buckets - 1)];

	for (; o; o = o->chain)
		if (o->hash == hash && o->how == how && o->span.kind == span->kind &&
		    o->span.process_key == span->process_key && o->span.key == span->key &&
		    o->span.pair == span->pair &&
		    (how != KTR__SPANS_BY_ALL || (ktr__same_group(o->span.group, span->group) &&
						  ktr__same_bytes(&o->span.ident, &span->ident))))
			return o;
	return NULL;
}

static inline void ktr__spans_unlink(struct ktr__spans *spans, struct ktr__spans_open *open)
{
	struct ktr__spans_open **at = &spans->bucket[open->hash & (spans->n_buckets - 1)];

	while (*at != open)
		at = &(*at)->chain;
	*at = open->chain;
	*(open->older ? &open->older->newer : &spans->oldest) = open->newer;
	*(open->newer ? &open->newer->older : &spans->newest) = open->older;
	spans->n_open--;
	if (open->how != KTR__SPANS_SCOPE)
		return;
	for (at = &spans->thread[open->span.thread->id].inner; *at != open;)
		at = &(*at)->outer;
	*at = open->outer;
}

/* Did one that is told of late begin before another, which was told of then? */
static inline int ktr__spans_is_around(const struct ktr__spans_open *late, const struct ktr__spans_open *open)
{
	return open->span.from_ns > late->span.from_ns && open->span.told_ns == open->span.from_ns;
}

static inline void ktr__spans_link(struct ktr__spans *spans, struct ktr__spans_open *open)
{
	struct ktr__spans_open **at = &spans->bucket[open->hash & (spans->n_buckets - 1)];

	open->chain = *at;
	*at = open;
	open->older = spans->newest;
	open->newer = NULL;
	*(spans->newest ? &spans->newest->newer : &spans->oldest) = open;
	spans->newest = open;
	spans->n_open++;
	if (open->how != KTR__SPANS_SCOPE)
		return;
	at = &spans->thread[open->span.thread->id].inner;
	while (*at && ktr__spans_is_around(open, *at))
		at = &(*at)->outer;
	open->outer = *at;
	*at = open;
	/* The first events of a thread take longer than the moment between two readings of its clock. */
	for (struct ktr__spans_open *o = open->outer; o && o->span.from_ns > open->span.from_ns; o = o->outer)
		o->span.from_ns = open->span.from_ns;
}

/* A record with room for so many bytes; NULL without memory. */
static inline struct ktr__spans_open *ktr__spans_record(struct ktr__spans *spans, size_t n_text)
{
	struct ktr__spans_open *open = spans->spare;

	if (!open)
		return ktr__spans_record_new(n_text);
	spans->spare = open->chain;
	if (n_text <= open->room)
		return open;
	free(open);
	return ktr__spans_record_new(n_text);
}

static inline void ktr__spans_put_back(struct ktr__spans *spans, struct ktr__spans_open *open)
{
	open->chain = spans->spare;
	spans->spare = open;
}

/*
 * A record that has its span is open from here on; shared: as of the record. A scope ends with its thread, if that
 * tells when it ended; an event of the thread has come. 0 or as the callback.
 */
static inline int ktr__spans_enter(struct ktr__spans *spans, struct ktr__spans_open *open, uint64_t hash,
				   enum ktr__spans_how how, int shared)
{
	uint64_t exit_ns = open->span.thread->exit_ns;

	if (spans->n_open >= spans->n_buckets)
		ktr__spans_grow(spans);
	if (how == KTR__SPANS_SCOPE && exit_ns >= open->span.from_ns && exit_ns < spans->exit_ns)
		spans->exit_ns = exit_ns;
	open->hash = hash;
	open->how = how;
	open->shared = shared;
	ktr__spans_link(spans, open);
	return spans->begin ? spans->begin(spans->context, &open->span) : 0;
}

/* Since the span began, did rings of its thread, or of another one, lose events? */
static inline int ktr__spans_lost(const struct ktr__spans *spans, const struct ktr__spans_open *open,
				  const struct ktr_reader_thread *thread)
{
	if (spans->streams.until_ns <= open->span.told_ns)
		return 0;
	return ktr__streams_lost(&spans->streams, open->span.thread->id, open->span.told_ns) ||
	       ktr__streams_lost(&spans->streams, thread->id, open->span.told_ns);
}

/* As ktr__spans_close(). */
static inline int ktr__spans_over(struct ktr__spans *spans, struct ktr__spans_open *open, uint64_t to_ns,
				  const struct ktr_reader_thread *end_thread, unsigned flags)
{
	int rc;

	open->span.to_ns = to_ns > open->span.from_ns ? to_ns : open->span.from_ns;
	open->span.end_thread = end_thread;
	open->span.flags = flags | (end_thread ? 0 : KTR__SPAN_NO_END);
	if (end_thread && ktr__spans_lost(spans, open, end_thread))
		open->span.flags |= KTR__SPAN_UNSURE;
	ktr__spans_unlink(spans, open);
	rc = spans->call(spans->context, &open->span);
	ktr__spans_put_back(spans, open);
	return rc;
}

#endif
