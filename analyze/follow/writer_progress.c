/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order, from slots: heads are read before the files are. An event whose packet ends at or before its
 * ring's head was recorded before that; a stream read to its end, up to its ring's head, has nothing
 * older to come. No clock is asked.
 */
#include "analyze/follow/writer_progress.h"

#include "analyze/read/source.h"
#include "analyze/read/trace_cursor.h"
#include "analyze/rewrite/join.h"
#include "ktr/session/ring_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct ktr__writer_progress *ktr__writer_progress_open(const uint8_t uuid[16], int complete)
{
	struct ktr__writer_progress *progress = calloc(1, sizeof(*progress));
	char path[PATH_MAX];

	if (!progress || ktr__join_find(uuid, path, sizeof(path), NULL) ||
	    ktr__map_open(path, KTR__MAP_OWN, &progress->map, NULL)) {
		free(progress);
		return NULL;
	}
	progress->n = ktr__header_n_ring_rows(&progress->map.header);
	progress->head = calloc(progress->n + 1, sizeof(*progress->head));
	progress->begun = calloc(progress->n + 1, sizeof(*progress->begun));
	progress->known = calloc(progress->n + 1, sizeof(*progress->known));
	if (!progress->head || !progress->begun || !progress->known) {
		ktr__writer_progress_close(progress);
		return NULL;
	}
	ktr__writer_progress_look(progress);
	if (!complete)
		memcpy(progress->begun, progress->head, progress->n * sizeof(*progress->head));
	return progress;
}

void ktr__writer_progress_close(struct ktr__writer_progress *progress)
{
	if (!progress)
		return;
	ktr__map_close(&progress->map);
	free(progress->head);
	free(progress->begun);
	free(progress->known);
	free(progress);
}

void ktr__writer_progress_look(struct ktr__writer_progress *progress)
{
	struct ktr__ring_source source = { .header = &progress->map.header, .fd = progress->map.fd };

	for (uint32_t i = 0; i < progress->n; i++)
		progress->head[i] = ktr__ring_head(&source, i, NULL);
	progress->n_looks++;
}

/* The ring of a stream. */
static uint32_t writer_progress_ring(const struct ktr__writer_progress *progress, const struct ktr__trace_cursor *t)
{
	return t->number + t->kind * progress->map.header.n_rings;
}

static int writer_progress_answer(struct ktr__writer_progress *progress, const struct ktr__event_source *source,
			const struct ktr__trace_cursor *top)
{
	uint32_t ring = writer_progress_ring(progress, top);

	if (ring >= progress->n || top->reached > progress->head[ring])
		return 0;
	memset(progress->known, 0, progress->n);
	for (unsigned i = 0; i < source->n_cursors; i++) {
		const struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		uint64_t reached = t->reached > t->last.next_slot ? t->reached : t->last.next_slot;

		ring = writer_progress_ring(progress, t);
		if (ring >= progress->n || (t->c.waits && reached < progress->head[ring] &&
					 progress->begun[ring] < progress->head[ring]))
			return 0;
		progress->known[ring] = 1;
	}
	for (uint32_t i = 0; i < progress->n; i++)
		if (!progress->known[i] && progress->begun[i] < progress->head[i])
			return 0;
	return 1;
}

int ktr__writer_progress_is_oldest(struct ktr__writer_progress *progress, const struct ktr__event_source *source,
			 struct ktr__cursor *top, unsigned n_waiting)
{
	const struct ktr__trace_cursor *t = ktr__trace_of(top);

	if (source->feed)
		return 0; /* its cursors are not of streams */
	if (progress->top == top && progress->top_slot == t->reached &&
	    progress->at_look == progress->n_looks && progress->n_waiting == n_waiting)
		return progress->answer;
	progress->top = top;
	progress->top_slot = t->reached;
	progress->at_look = progress->n_looks;
	progress->n_waiting = n_waiting;
	progress->answer = writer_progress_answer(progress, source, t);
	return progress->answer;
}
