/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order, from slots: heads are read before the files are. An event whose packet ends at or before its
 * ring's head was recorded before that; a stream read to its end, up to its ring's head, has nothing
 * older to come. No clock is asked.
 */
#include "analyze/follow/pulse.h"
#include "analyze/rewrite/join.h"
#include "analyze/read/trace_cursor.h"
#include "ktr/session/ring_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct ktr__pulse *ktr__pulse_open(const uint8_t uuid[16], int complete)
{
	struct ktr__pulse *pulse = calloc(1, sizeof(*pulse));
	char path[PATH_MAX];

	if (!pulse || ktr__join_find(uuid, path, sizeof(path), NULL) ||
	    ktr__map_open(path, KTR__MAP_OWN, &pulse->map, NULL)) {
		free(pulse);
		return NULL;
	}
	pulse->n = ktr__header_n_ring_rows(&pulse->map.header);
	pulse->head = calloc(pulse->n + 1, sizeof(*pulse->head));
	pulse->begun = calloc(pulse->n + 1, sizeof(*pulse->begun));
	pulse->known = calloc(pulse->n + 1, sizeof(*pulse->known));
	if (!pulse->head || !pulse->begun || !pulse->known) {
		ktr__pulse_close(pulse);
		return NULL;
	}
	ktr__pulse_look(pulse);
	if (!complete)
		memcpy(pulse->begun, pulse->head, pulse->n * sizeof(*pulse->head));
	return pulse;
}

void ktr__pulse_close(struct ktr__pulse *pulse)
{
	if (!pulse)
		return;
	ktr__map_close(&pulse->map);
	free(pulse->head);
	free(pulse->begun);
	free(pulse->known);
	free(pulse);
}

void ktr__pulse_look(struct ktr__pulse *pulse)
{
	struct ktr__ring_source source = { &pulse->map.header, NULL, pulse->map.fd, 0 };

	for (uint32_t i = 0; i < pulse->n; i++)
		pulse->head[i] = ktr__ring_head(&source, i, NULL);
	pulse->n_looks++;
}

/* The ring of a stream. */
static uint32_t pulse_ring(const struct ktr__pulse *pulse, const struct ktr__trace_cursor *t)
{
	return t->number + t->kind * pulse->map.header.n_rings;
}

static int pulse_answer(struct ktr__pulse *pulse, const struct ktr__source *source,
			const struct ktr__trace_cursor *top)
{
	uint32_t ring = pulse_ring(pulse, top);

	if (ring >= pulse->n || top->reached > pulse->head[ring])
		return 0;
	memset(pulse->known, 0, pulse->n);
	for (unsigned i = 0; i < source->n_cursors; i++) {
		const struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		uint64_t reached = t->reached > t->last.next_slot ? t->reached : t->last.next_slot;

		ring = pulse_ring(pulse, t);
		if (ring >= pulse->n || (t->c.waits && reached < pulse->head[ring] &&
					 pulse->begun[ring] < pulse->head[ring]))
			return 0;
		pulse->known[ring] = 1;
	}
	for (uint32_t i = 0; i < pulse->n; i++)
		if (!pulse->known[i] && pulse->begun[i] < pulse->head[i])
			return 0;
	return 1;
}

int ktr__pulse_is_oldest(struct ktr__pulse *pulse, const struct ktr__source *source,
			 struct ktr__cursor *top, unsigned n_waiting)
{
	const struct ktr__trace_cursor *t = ktr__trace_of(top);

	if (source->feed)
		return 0; /* its cursors are not of streams */
	if (pulse->top == top && pulse->top_slot == t->reached &&
	    pulse->at_look == pulse->n_looks && pulse->n_waiting == n_waiting)
		return pulse->answer;
	pulse->top = top;
	pulse->top_slot = t->reached;
	pulse->at_look = pulse->n_looks;
	pulse->n_waiting = n_waiting;
	pulse->answer = pulse_answer(pulse, source, t);
	return pulse->answer;
}
