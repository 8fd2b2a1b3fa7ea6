/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/spans/spans_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_OPEN_BUCKETS 64u /* at first */

void ktr__spans_grow(struct ktr__spans *spans)
{
	uint32_t n = spans->n_buckets * 2;
	struct ktr__spans_open **bucket = calloc(n, sizeof(*bucket));

	if (!bucket)
		return;
	/* Oldest first keeps the chains in order. */
	for (struct ktr__spans_open *o = spans->oldest; o; o = o->newer) {
		o->chain = bucket[o->hash & (n - 1)];
		bucket[o->hash & (n - 1)] = o;
	}
	free(spans->bucket);
	spans->bucket = bucket;
	spans->n_buckets = n;
}

struct ktr__spans_open *ktr__spans_record_new(size_t n_text)
{
	struct ktr__spans_open *open;

	n_text = n_text < 32 ? 32 : n_text;
	open = malloc(sizeof(*open) + n_text);
	if (open)
		open->room = n_text;
	return open;
}

void ktr__spans_store(struct ktr__spans_open *open, const struct ktr__span *span)
{
	open->span = *span;
	memcpy(open->text, span->ident.bytes, span->ident.n_bytes);
	memcpy(open->text + span->ident.n_bytes, span->state.bytes, span->state.n_bytes);
	open->span.ident.bytes = open->text;
	open->span.state.bytes = open->text + span->ident.n_bytes;
}

int ktr__spans_close(struct ktr__spans *spans, struct ktr__spans_open *open, uint64_t to_ns,
		     const struct ktr_reader_thread *end_thread, unsigned flags)
{
	return ktr__spans_over(spans, open, to_ns, end_thread, flags);
}

int ktr__spans_make(struct ktr__spans *spans)
{
	spans->n_buckets = SPANS_OPEN_BUCKETS;
	spans->bucket = calloc(spans->n_buckets, sizeof(*spans->bucket));
	return spans->bucket ? 0 : -ENOMEM;
}

static void spans_open_free(struct ktr__spans_open *open, int by_age)
{
	for (struct ktr__spans_open *next; open; open = next) {
		next = by_age ? open->newer : open->chain;
		free(open);
	}
}

void ktr__spans_drop(struct ktr__spans *spans)
{
	spans_open_free(spans->oldest, 1);
	spans_open_free(spans->spare, 0);
	free(spans->bucket);
}
