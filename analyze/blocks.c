/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects blocks. Events come in the order of time, and so do the ends of spans: each row has one
 * histogram for the block that is open, from which the block's quantiles are taken when it is over.
 */
#include "analyze/blocks.h"

#include "analyze/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double ktr__blocks_share[KTR__BLOCKS_SHARES] = { 0.5, 0.9, 0.99 };

double ktr__blocks_seconds(const struct ktr__blocks *blocks)
{
	return (double)(blocks->to_ns - blocks->from_ns + 1) / KTR__BLOCKS / 1e9;
}

static unsigned blocks_at(const struct ktr__blocks *blocks, uint64_t ns)
{
	uint64_t length = blocks->to_ns - blocks->from_ns + 1, at;

	if (ns < blocks->from_ns || !length)
		return 0;
	at = (uint64_t)((unsigned __int128)(ns - blocks->from_ns) * KTR__BLOCKS / length);
	return at < KTR__BLOCKS ? (unsigned)at : KTR__BLOCKS - 1;
}

/* The open block is over. */
static void blocks_close(struct ktr__blocks *blocks)
{
	for (unsigned i = 0; i < blocks->n_rows; i++) {
		struct ktr__blocks_row *row = blocks->row[i];

		row->n[blocks->open] = row->now.n;
		for (unsigned s = 0; s < KTR__BLOCKS_SHARES && row->now.n; s++)
			row->quantile[s][blocks->open] = (double)ktr__histogram_quantile(
				&row->now, ktr__blocks_share[s]);
		ktr__histogram_free(&row->now);
	}
}

static void blocks_until(struct ktr__blocks *blocks, uint64_t ns)
{
	unsigned at = blocks_at(blocks, ns);

	for (; blocks->open < at; blocks->open++)
		blocks_close(blocks);
}

/* The row of that name; NULL without memory, or where there are too many (told). */
static struct ktr__blocks_row *blocks_row(struct ktr__blocks *blocks, const char *name,
					  enum ktr_event_kind kind, int pair)
{
	struct ktr__blocks_row **grown, *row;

	for (unsigned i = 0; i < blocks->n_rows; i++)
		if (blocks->row[i]->kind == kind && blocks->row[i]->pair == pair &&
		    strcmp(blocks->row[i]->name, name) == 0)
			return blocks->row[i];
	if (blocks->n_rows == KTR__BLOCKS_ROWS_MAX)
		return NULL;
	grown = realloc(blocks->row, (blocks->n_rows + 1) * sizeof(*grown));
	row = grown ? calloc(1, sizeof(*row)) : NULL;
	blocks->row = grown ? grown : blocks->row;
	if (!row)
		return NULL;
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->kind = kind;
	row->pair = pair;
	blocks->row[blocks->n_rows++] = row;
	return row;
}

int ktr__blocks_span(struct ktr__blocks *blocks, const char *name, enum ktr_event_kind kind,
		     int pair, uint64_t end_ns, uint64_t ns)
{
	struct ktr__blocks_row *row = blocks_row(blocks, name, kind, pair);

	if (!row) {
		blocks->n_left_out++;
		return blocks->n_rows == KTR__BLOCKS_ROWS_MAX ? 0 : -ENOMEM;
	}
	blocks_until(blocks, end_ns);
	return ktr__histogram_add(&row->now, ns) || ktr__histogram_add(&row->all, ns) ? -ENOMEM : 0;
}

int ktr__blocks_event(struct ktr__blocks *blocks, uint32_t site, uint64_t ns)
{
	unsigned at = blocks_at(blocks, ns);

	if (site >= blocks->n_sites) {
		uint32_t n = site + 64;
		uint64_t(*grown)[KTR__BLOCKS] = realloc(blocks->site, n * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + blocks->n_sites, 0, (n - blocks->n_sites) * sizeof(*grown));
		blocks->site = grown;
		blocks->n_sites = n;
	}
	blocks->n_events++;
	blocks->n[at]++;
	blocks->site[site][at]++;
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
		snprintf(name, size, "%.75s: %.75s", group, more);
	} else if (span->site->ident && !span->pair) {
		blocks_text(more, span->ident.bytes, span->ident.n_bytes);
		snprintf(name, size, "%.155s", more);
	} else {
		snprintf(name, size, "%.155s", group);
	}
}

static int blocks_on_span(void *context, const struct ktr__span *span)
{
	struct ktr__blocks *blocks = context;
	struct ktr__blocks_row *row;
	char name[sizeof(row->name)];

	blocks_name(span, name, sizeof(name));
	if (!span->flags)
		return ktr__blocks_span(blocks, name, span->kind, span->pair != 0, span->to_ns,
					span->to_ns - span->from_ns);
	row = blocks_row(blocks, name, span->kind, span->pair != 0);
	if (row)
		row->n_partial++;
	return 0;
}

static int blocks_sink_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__blocks *blocks = (struct ktr__blocks *)(void *)sink;
	int rc = ktr__blocks_event(blocks, event->site->id, event->time_ns);

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

int ktr__blocks_finish(struct ktr__blocks *blocks)
{
	int rc = ktr__spans_finish(blocks->spans, blocks->to_ns);

	blocks_until(blocks, blocks->to_ns);
	blocks_close(blocks);
	return rc;
}

int ktr__blocks_new(struct ktr__blocks **out, const struct ktr_reader *reader, uint64_t from_ns,
		    uint64_t to_ns, const struct ktr__pair *pair)
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
		ktr__histogram_free(&blocks->row[i]->now);
		free(blocks->row[i]);
	}
	ktr__pairs_free(blocks->pairs);
	ktr__spans_free(blocks->spans);
	free(blocks->row);
	free(blocks->site);
	free(blocks);
}
