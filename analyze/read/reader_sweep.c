/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace stream by stream, without the merge. Cursors have fetched their first events when the trace was opened:
 * those are handed out by themselves (cursor->counts), and the walk over their packets goes on after them.
 */
#include "analyze/read/reader_inside.h"
#include "analyze/read/trace_cursor.h"

#include <ktr/trace_file.h>

#include <errno.h>
#include <string.h>

int ktr__reader_sweeps(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	if (reader->failed || reader->last || reader->args || !source->set || source->feed || source->follow ||
	    source->reverse || source->filter || source->counted || reader->end_key != UINT64_MAX)
		return 0;
	for (unsigned i = 0; i < source->n_cursors; i++)
		if (ktr__trace_of(source->cursor[i])->limit_ns)
			return 0;
	for (unsigned i = 0; i < reader->merge.n; i++)
		reader->merge.heap[i].cursor->counts = 1;
	reader->merge.n = 0;
	return 1;
}

/* When the walk's next event is; what makes no sense is told when it is decoded, as if at the time of the last. */
static uint64_t reader_sweep_time(const struct ktr__walk *walk)
{
	size_t left = (size_t)(walk->end - walk->at);
	uint64_t ns = walk->time_ns;
	uint32_t low;
	uint16_t id;

	if (left < 6)
		return ns;
	memcpy(&id, walk->at, sizeof(id));
	memcpy(&low, walk->at + 2, sizeof(low));
	if (id == KTR_EVENT_ID_EXTENDED && left >= 14)
		memcpy(&ns, walk->at + 6, sizeof(ns));
	else if (id != KTR_EVENT_ID_EXTENDED)
		ns += (uint32_t)(low - (uint32_t)ns);
	return ns > walk->time_ns ? ns : walk->time_ns;
}

/* When the cursor's next event is: 1, 0 at its end, -errno. */
static int reader_sweep_next(struct ktr_reader *reader, struct ktr__trace_cursor *t, uint64_t *ns)
{
	int rc = t->c.counts ? 1 : ktr__trace_stand(t);

	if (rc > 0)
		*ns = t->c.counts ? t->c.event.time_ns : reader_sweep_time(&t->walk);
	if (rc < 0 || reader->source.out_of_memory)
		return ktr__reader_fail(reader, rc < 0 ? rc : -ENOMEM);
	return rc;
}

int ktr__reader_sweep_span(struct ktr_reader *reader, struct ktr__reader_span *span)
{
	struct ktr__event_source *source = &reader->source;
	int any = 0;

	*span = (struct ktr__reader_span){ UINT64_MAX, UINT64_MAX, 0, source->n_cursors };
	for (unsigned i = 0; i < source->n_cursors; i++) {
		struct ktr__trace_cursor *t = ktr__trace_of(source->cursor[i]);
		uint64_t ns, end_ns;
		int rc = reader_sweep_next(reader, t, &ns);

		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		any = 1;
		end_ns = t->in_packet && t->head.time_end > ns ? t->head.time_end : ns;
		span->from_ns = ns < span->from_ns ? ns : span->from_ns;
		span->to_ns = end_ns < span->to_ns ? end_ns : span->to_ns;
		span->n_events += t->walk.n_left + (t->c.counts != 0);
	}
	return any;
}

int ktr__reader_sweep(struct ktr_reader *reader, unsigned i, uint64_t until_ns, struct ktr__reader_lot *lot)
{
	struct ktr__trace_cursor *t = ktr__trace_of(reader->source.cursor[i]);
	uint64_t ns;
	int rc = reader_sweep_next(reader, t, &ns);

	if (rc <= 0 || ns > until_ns)
		return rc < 0 ? rc : 0;
	*lot = (struct ktr__reader_lot){ .cursor = i,
					 .event = t->c.counts ? &t->c.event : NULL,
					 .walk = &t->walk,
					 .index = t->c.counts ? t->c.event.index
							      : t->head.first_event + t->n_decoded,
					 .time_ns = ns,
					 .cpu = t->head.cpu,
					 .keep = t->kind == KTR_RING_KEEP };
	t->c.counts = 0;
	reader->last = &t->c;
	return 1;
}

void ktr__reader_swept(struct ktr_reader *reader, const struct ktr__reader_lot *lot, uint32_t n)
{
	ktr__trace_of(reader->source.cursor[lot->cursor])->n_decoded += n;
}

int ktr__reader_sweep_one(struct ktr_reader *reader, const struct ktr__reader_lot *lot,
			  const struct ktr_event **event)
{
	struct ktr__trace_cursor *t = ktr__trace_of(reader->source.cursor[lot->cursor]);

	*event = &t->c.event;
	return ktr__trace_one(t);
}

const struct ktr_reader_thread *ktr__reader_sweep_thread(struct ktr_reader *reader,
							 const struct ktr__reader_lot *lot, uint32_t word,
							 uint64_t time_ns)
{
	return ktr__trace_thread(ktr__trace_of(reader->source.cursor[lot->cursor]), word, time_ns);
}

int ktr__reader_sweep_said(struct ktr_reader *reader)
{
	return ktr__source_said(&reader->source, UINT64_MAX, &reader->said);
}
