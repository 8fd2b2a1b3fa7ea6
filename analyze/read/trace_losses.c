/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace_losses.h. */
#include "analyze/read/trace_losses.h"

#include "analyze/read/trace_cursor.h"
#include "analyze/read/trace_set.h"
#include "analyze/read/trace_source.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int losses_line(void *context, const char *line, size_t n)
{
	struct ktr__trace_losses *losses = context;
	struct ktr__trace_loss loss = { 0 };
	struct ktr__line_loss said;
	const char *name, *end;
	char text[32] = "";

	ktr__line_scan(line, n, ktr__line_loss, &said, sizeof(said));
	if (!ktr__line_says(&said.why, "overwritten") || losses->n >= KTR__TRACE_LOSSES_MAX)
		return 0;
	loss.seq = said.seq;
	loss.n_events = said.events;
	loss.from_ns = said.from_ns;
	loss.to_ns = said.to_ns;
	name = said.stream.text;
	end = name ? memchr(name, '"', n - (size_t)(name - line)) : NULL;
	if (!end || (size_t)(end - name) >= sizeof(text))
		return -EINVAL;
	memcpy(text, name, (size_t)(end - name));
	if (!ktr__trace_is_stream(text, &loss.number, &loss.kind))
		return -EINVAL;
	if (ktr__array_grow(&losses->loss, &losses->room, losses->n, sizeof(loss)))
		return -ENOMEM;
	losses->loss[losses->n++] = loss;
	return 0;
}

static int losses_order(const struct ktr__trace_loss *a, const struct ktr__trace_loss *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->seq > b->seq) - (a->seq < b->seq);
}

static int losses_compare(const void *a, const void *b)
{
	const struct ktr__trace_loss *x = a, *y = b;
	int order = losses_order(x, y);

	return order ? order : (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

int ktr__trace_losses_read(struct ktr__trace_losses **out, struct ktr__lines *lines)
{
	struct ktr__trace_losses *losses = calloc(1, sizeof(*losses));
	int rc = losses ? ktr__lines_read(lines, KTR_SIDECAR_LOSSES, losses_line, losses) : -ENOMEM;

	*out = NULL;
	if (rc || !losses->n) {
		ktr__trace_losses_free(losses);
		return rc;
	}
	qsort(losses->loss, losses->n, sizeof(*losses->loss), losses_compare);
	*out = losses;
	return 0;
}

void ktr__trace_losses_free(struct ktr__trace_losses *losses)
{
	if (losses)
		free(losses->loss);
	free(losses);
}

/* The first one that is not before the stream's packet. */
static uint32_t losses_find(const struct ktr__trace_losses *losses, const struct ktr__trace_loss *key)
{
	uint32_t low = 0, high = losses->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (losses_order(&losses->loss[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void ktr__trace_lost(struct ktr__trace_cursor *t, uint64_t seq, uint64_t n_events, uint64_t from_ns,
		     uint64_t to_ns)
{
	const struct ktr__trace_losses *losses = t->c.source->set->losses;
	const struct ktr__trace_loss key = { .number = t->number, .kind = t->kind, .seq = seq };
	uint32_t first = losses && n_events ? losses_find(losses, &key) : 0, end = first;
	uint64_t left = n_events;

	while (losses && end < losses->n && left && losses_order(&losses->loss[end], &key) == 0 &&
	       losses->loss[end].n_events <= left)
		left -= losses->loss[end++].n_events;
	if (left || first == end) {
		ktr__trace_gap(t, n_events, from_ns, to_ns);
		return;
	}
	for (; first < end; first++) {
		const struct ktr__trace_loss *loss = &losses->loss[first];
		uint64_t until_ns = loss->to_ns && (!to_ns || loss->to_ns < to_ns) ? loss->to_ns : to_ns;

		uint64_t since_ns = loss->from_ns < until_ns || !until_ns ? loss->from_ns : from_ns;

		ktr__trace_gap(t, loss->n_events, since_ns, until_ns);
	}
}
