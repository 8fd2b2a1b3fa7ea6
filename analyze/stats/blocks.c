/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects blocks: events come in the order of time, and so do the ends of spans. */
#include "analyze/stats/blocks.h"

#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "conf/kit/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double ktr__blocks_share[KTR__BLOCKS_SHARES] = { 0.5, 0.9, 0.99 };

/* [batches] As of paces; a tail wants a few durations beyond it in each. */
#define BLOCKS_BATCHES 20u
#define BLOCKS_BEYOND  3

double ktr__blocks_active(const struct ktr__blocks *blocks)
{
	struct ktr__noise noise;

	return ktr__pace_noise(&blocks->all, &noise) ? 0 : exp(noise.mean) * (double)blocks->n_events;
}

/* The row of that name; NULL without memory, or where there are too many (told). */
static struct ktr__blocks_row *blocks_row(struct ktr__blocks *blocks, const char *name,
					  enum ktr_event_kind kind, int pair)
{
	struct ktr__blocks_row *row;

	for (unsigned i = 0; i < blocks->n_rows; i++)
		if (blocks->row[i]->kind == kind && blocks->row[i]->pair == pair &&
		    strcmp(blocks->row[i]->name, name) == 0)
			return blocks->row[i];
	if (blocks->n_rows == KTR__BLOCKS_ROWS_MAX)
		return NULL;
	row = calloc(1, sizeof(*row));
	if (!row || ktr__array_grow(&blocks->row, &blocks->row_room, blocks->n_rows, sizeof(row))) {
		free(row);
		return NULL;
	}
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->kind = kind;
	row->pair = pair;
	row->n_thinned = 1;
	blocks->row[blocks->n_rows++] = row;
	return row;
}

/* A coin that falls the same in each run. */
static uint64_t blocks_dice(struct ktr__blocks *blocks)
{
	blocks->dice = blocks->dice * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
	return blocks->dice >> 33;
}

/* Half of what is kept goes, by chance: every second one would be the slow one of each two, or the quick one. */
static void blocks_thin(struct ktr__blocks *blocks, struct ktr__blocks_row *row)
{
	unsigned n = 0;

	for (unsigned i = 0; i < row->n_kept; i++)
		if (blocks_dice(blocks) & 1)
			row->kept[n++] = row->kept[i];
	row->n_kept = n;
	row->n_thinned *= 2;
}

static int blocks_keep(struct ktr__blocks *blocks, struct ktr__blocks_row *row, uint64_t ns)
{
	if (row->n_kept == KTR__BLOCKS_KEPT)
		blocks_thin(blocks, row);
	if (row->n_thinned > 1 && blocks_dice(blocks) & (row->n_thinned - 1))
		return 0;
	if (ktr__array_grow(&row->kept, &row->n_room, row->n_kept, sizeof(*row->kept)))
		return -ENOMEM;
	row->kept[row->n_kept++] = (float)ns;
	return 0;
}

/* row: of the span, or NULL for want of one. */
static int blocks_count(struct ktr__blocks *blocks, struct ktr__blocks_row *row, uint64_t end_ns, uint64_t ns)
{
	if (!row) {
		blocks->n_left_out++;
		return blocks->n_rows == KTR__BLOCKS_ROWS_MAX ? 0 : -ENOMEM;
	}
	ktr__pace_add(&row->pace, blocks->share ? blocks->n_events : end_ns);
	return blocks_keep(blocks, row, ns) || ktr__histogram_add(&row->all, ns) ? -ENOMEM : 0;
}

int ktr__blocks_span(struct ktr__blocks *blocks, const char *name, enum ktr_event_kind kind,
		     int pair, uint64_t end_ns, uint64_t ns)
{
	return blocks_count(blocks, blocks_row(blocks, name, kind, pair), end_ns, ns);
}

/* The class of that name, from 1; 0 without memory. */
static unsigned blocks_class(struct ktr__blocks *blocks, const char *name)
{
	struct ktr__blocks_class *class;

	for (unsigned i = 0; i < blocks->n_classes; i++)
		if (strncmp(blocks->class[i].name, name, sizeof(class->name) - 1) == 0)
			return i + 1;
	if (ktr__array_grow(&blocks->class, &blocks->class_room, blocks->n_classes, sizeof(*class)))
		return 0;
	class = &blocks->class[blocks->n_classes];
	snprintf(class->name, sizeof(class->name), "%s", name);
	return ++blocks->n_classes;
}

int ktr__blocks_event(struct ktr__blocks *blocks, uint32_t id, const char *class, uint64_t ns)
{
	uint64_t at = blocks->share ? blocks->n_events : ns;
	struct ktr__blocks_site *site;

	if (ktr__array_grow(&blocks->site, &blocks->n_sites, id, sizeof(*site)))
		return -ENOMEM;
	site = &blocks->site[id];
	if (!site->class) {
		site->class = blocks_class(blocks, class);
		if (!site->class)
			return -ENOMEM;
		blocks->class[site->class - 1].n_sites++;
	}
	blocks->n_events++;
	ktr__pace_add(&blocks->all, ns);
	ktr__pace_add(&site->pace, at);
	ktr__pace_add(&blocks->class[site->class - 1].pace, at);
	return 0;
}

/* ---- times ---- */

static int blocks_by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* A duration of 0 ns was one below the clock's step. */
static double blocks_log(float ns)
{
	return log(ns > 0.5f ? (double)ns : 0.5);
}

int ktr__blocks_time(const struct ktr__blocks_row *row, unsigned share, struct ktr__noise *noise)
{
	double x[2 * BLOCKS_BATCHES], q = ktr__blocks_share[share];
	unsigned n = row->n_kept > 2 * BLOCKS_BATCHES ? BLOCKS_BATCHES : row->n_kept;
	float *sorted;

	*noise = (struct ktr__noise){ 0 };
	if (n < KTR__NOISE_MIN || (share && row->n_kept * (1 - q) < BLOCKS_BEYOND * BLOCKS_BATCHES))
		return -1;
	sorted = malloc(row->n_kept * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, row->kept, row->n_kept * sizeof(*sorted));
	for (unsigned i = 0; i < n; i++) {
		uint64_t from = (uint64_t)row->n_kept * i / n, to = (uint64_t)row->n_kept * (i + 1) / n;

		qsort(sorted + from, to - from, sizeof(*sorted), blocks_by_value);
		x[i] = blocks_log(sorted[from + (uint64_t)((double)(to - from - 1) * q + 0.5)]);
	}
	free(sorted);
	ktr__noise_batches(x, n, noise);
	return 0;
}

#define BLOCKS_TEXT 100 /* [bytes] of a program that become a name */

/* Bytes of a program as text. */
static void blocks_text(char to[4 * BLOCKS_TEXT + 1], const char *bytes, size_t n)
{
	to[ktr__utf8_visible(to, bytes, n < BLOCKS_TEXT ? n : BLOCKS_TEXT)] = 0;
}

static void blocks_name(const struct ktr__span *span, char *name, size_t size)
{
	char group[4 * BLOCKS_TEXT + 1], more[4 * BLOCKS_TEXT + 1];

	blocks_text(group, span->group, strlen(span->group));
	if (span->kind == KTR_KIND_STATE) {
		blocks_text(more, span->state.bytes, span->state.n_bytes);
		snprintf(name, size, "%.250s: %.250s", group, more);
	} else if (span->site->ident && !span->pair) {
		blocks_text(more, span->ident.bytes, span->ident.n_bytes);
		snprintf(name, size, "%.500s", more);
	} else {
		snprintf(name, size, "%.500s", group);
	}
}

/* The row of a span; NULL as of blocks_row(). */
static struct ktr__blocks_row *blocks_row_of(struct ktr__blocks *blocks, const struct ktr__span *span)
{
	const struct ktr_event_bytes *text = span->kind == KTR_KIND_STATE ? &span->state : &span->ident;
	uint32_t n = span->kind == KTR_KIND_STATE || span->site->ident ? text->n_bytes : 0;
	char name[sizeof(blocks->row[0]->name)];
	struct ktr__blocks_memo *memo;

	if (span->pair || n > KTR__BLOCKS_MEMO_TEXT) {
		blocks_name(span, name, sizeof(name));
		return blocks_row(blocks, name, span->kind, span->pair != 0);
	}
	memo = &blocks->memo[ktr__hash_bytes(span->site->id, text->bytes, n) % KTR__BLOCKS_MEMO];
	if (memo->site == span->site && memo->kind == span->kind && memo->n_bytes == n &&
	    (!n || memcmp(memo->text, text->bytes, n) == 0))
		return memo->row;
	blocks_name(span, name, sizeof(name));
	memo->row = blocks_row(blocks, name, span->kind, 0);
	memo->site = memo->row ? span->site : NULL;
	memo->kind = span->kind;
	memo->n_bytes = n;
	if (n)
		memcpy(memo->text, text->bytes, n);
	return memo->row;
}

static int blocks_on_span(void *context, const struct ktr__span *span)
{
	struct ktr__blocks *blocks = context;
	struct ktr__blocks_row *row = blocks_row_of(blocks, span);

	if (!span->flags)
		return blocks_count(blocks, row, span->to_ns, span->to_ns - span->from_ns);
	if (row)
		row->n_partial++;
	return 0;
}

static int blocks_sink_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__blocks *blocks = (struct ktr__blocks *)(void *)sink;
	int rc = ktr__blocks_event(blocks, event->site->id, event->site->class_name, event->time_ns);

	if (rc)
		return rc;
	if (blocks->pairs)
		return ktr__pairs_event(blocks->pairs, event);
	return event->site->kind == KTR_KIND_EVENT ? 0 : ktr__spans_event(blocks->spans, event);
}

static int blocks_sink_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__blocks *blocks = (struct ktr__blocks *)(void *)sink;

	blocks->n_lost += loss->n_events;
	ktr__spans_loss(blocks->spans, loss);
	return 0;
}

unsigned ktr__blocks_wants(const void *of, const struct ktr_reader_site *site)
{
	const struct ktr__blocks *blocks = of;

	return blocks->pairs || site->kind != KTR_KIND_EVENT ? KTR__READER_ALL_ARGS : 0;
}

int ktr__blocks_finish(struct ktr__blocks *blocks)
{
	return ktr__spans_finish(blocks->spans, blocks->to_ns);
}

int ktr__blocks_new(struct ktr__blocks **out, const struct ktr_reader *reader, uint64_t from_ns,
		    uint64_t to_ns, int share, const struct ktr__pair *pair)
{
	struct ktr__blocks *blocks = calloc(1, sizeof(*blocks));

	*out = blocks;
	if (!blocks)
		return -ENOMEM;
	blocks->sink.event = blocks_sink_event;
	blocks->sink.loss = blocks_sink_loss;
	blocks->reader = reader;
	blocks->from_ns = from_ns;
	blocks->to_ns = to_ns;
	blocks->share = share;
	blocks->dice = 1;
	if (ktr__spans_new(&blocks->spans, from_ns, blocks_on_span, blocks) ||
	    (pair && ktr__pairs_new(&blocks->pairs, pair, 1, blocks->spans))) {
		ktr__blocks_free(blocks);
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

void ktr__blocks_free(struct ktr__blocks *blocks)
{
	if (!blocks)
		return;
	for (unsigned i = 0; i < blocks->n_rows; i++) {
		ktr__histogram_free(&blocks->row[i]->all);
		free(blocks->row[i]->kept);
		free(blocks->row[i]);
	}
	ktr__pairs_free(blocks->pairs);
	ktr__spans_free(blocks->spans);
	free(blocks->row);
	free(blocks->site);
	free(blocks->class);
	free(blocks);
}
