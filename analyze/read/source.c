/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all sources have in common: the list of cursors, the span, losses that wait for their time, and the queue of
 * notes. The queue is an array that is emptied from the front and reused when it is empty.
 */
#include "analyze/read/source.h"

#include "analyze/filter/filter.h"
#include "analyze/read/tables.h"
#include "analyze/read/trace_source.h"
#include "analyze/session/session_source.h"
#include "conf/kit/array.h"
#include "ktr/session/drop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int ktr__source_add(struct ktr__event_source *source, struct ktr__cursor *cursor)
{
	if (ktr__array_grow(&source->cursor, &source->cursor_room, source->n_cursors, sizeof(cursor))) {
		cursor->close(cursor);
		return -ENOMEM;
	}
	source->cursor[source->n_cursors++] = cursor;
	return 0;
}

void ktr__source_span(struct ktr__event_source *source, uint64_t first_ns, uint64_t last_ns)
{
	struct ktr_reader_info *info = &source->info;

	if (!info->last_ns || first_ns < info->first_ns)
		info->first_ns = first_ns;
	if (last_ns > info->last_ns)
		info->last_ns = last_ns;
}

void ktr__source_cpu(struct ktr__event_source *source, uint32_t cpu)
{
	if (cpu >= source->info.n_cpus)
		source->info.n_cpus = cpu + 1;
}

static struct ktr__said *source_say(struct ktr__event_source *source)
{
	struct ktr__queue *queue = &source->queue;

	if (queue->first == queue->n)
		queue->first = queue->n = 0;
	if (ktr__array_grow(&queue->item, &queue->room, queue->n, sizeof(*queue->item))) {
		source->out_of_memory = 1;
		return NULL;
	}
	return &queue->item[queue->n++];
}

void ktr__source_note(struct ktr__event_source *source, int damaged, const char *format, ...)
{
	struct ktr__said *said = source->quiet ? NULL : source_say(source);
	struct ktr_note *note;
	va_list ap;

	if (!said)
		return;
	said->what = KTR_READ_NOTE;
	note = &said->u.note;
	note->damaged = damaged;
	va_start(ap, format);
	vsnprintf(note->text, sizeof(note->text), format, ap);
	va_end(ap);
	for (char *c = note->text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

void ktr__source_dropped(struct ktr__event_source *source, const char *path, const uint64_t n_events[KTR_DROPS])
{
	for (unsigned i = 0; i < KTR_DROPS; i++) {
		source->info.n_dropped[i] = n_events[i];
		source->info.n_lost += n_events[i];
		if (n_events[i])
			ktr__source_note(source, 0, "%s: %" PRIu64 " event%s not recorded %s", path, n_events[i],
					 n_events[i] == 1 ? " was" : "s were", ktr__drop_text(i));
	}
}

/* The key of the event before the loss, in the walk's direction; 0: there is none. */
static uint64_t source_loss_key(const struct ktr__event_source *source, const struct ktr_loss *loss)
{
	if (!source->reverse)
		return loss->from_ns;
	return loss->to_ns ? ~loss->to_ns : 0;
}

/* Does the walk get to one before another? Of those that begin with one event, to the one that ends first. */
static int source_is_before(const struct ktr__event_source *source, const struct ktr_loss *a,
			    const struct ktr_loss *b)
{
	uint64_t x = source_loss_key(source, a), y = source_loss_key(source, b);

	return x != y ? x < y : a->to_ns - 1 < b->to_ns - 1;
}

/*
 * A cursor stands where the walk does only while each of its events is handed out, and has events: the first one of
 * a stream of merged traces may come long after the walk's beginning, with what was lost before it.
 */
void ktr__source_loss(struct ktr__event_source *source, const struct ktr_loss *loss)
{
	struct ktr__held *held = &source->held;
	uint64_t key = source_loss_key(source, loss);
	unsigned at;

	if (key > (source->reverse ? ~source->end_ns : source->end_ns))
		return; /* behind the window */
	if (ktr__array_grow(&held->loss, &held->room, held->n, sizeof(*loss))) {
		source->out_of_memory = 1;
		return;
	}
	for (at = held->n++; at && source_is_before(source, loss, &held->loss[(at - 1) / 2]); at = (at - 1) / 2)
		held->loss[at] = held->loss[(at - 1) / 2];
	held->loss[at] = *loss;
}

static void source_release(struct ktr__event_source *source, struct ktr_loss *loss)
{
	struct ktr__held *held = &source->held;
	struct ktr_loss last = held->loss[--held->n];
	unsigned at = 0, child;

	*loss = held->loss[0];
	while ((child = 2 * at + 1) < held->n) {
		if (child + 1 < held->n && source_is_before(source, &held->loss[child + 1], &held->loss[child]))
			child++;
		if (!source_is_before(source, &held->loss[child], &last))
			break;
		held->loss[at] = held->loss[child];
		at = child;
	}
	held->loss[at] = last;
}

int ktr__source_said(struct ktr__event_source *source, uint64_t key, struct ktr__said *said)
{
	struct ktr__queue *queue = &source->queue;

	if (queue->first != queue->n) {
		*said = queue->item[queue->first++];
		return said->what;
	}
	if (!source->held.n || source_loss_key(source, &source->held.loss[0]) >= key)
		return 0;
	said->what = KTR_READ_LOSS;
	source_release(source, &said->u.loss);
	return said->what;
}

void ktr__source_forget_losses(struct ktr__event_source *source)
{
	source->held.n = 0;
}

void ktr__source_close(struct ktr__event_source *source)
{
	for (unsigned i = 0; i < source->n_cursors; i++)
		source->cursor[i]->close(source->cursor[i]);
	free(source->cursor);
	free(source->queue.item);
	free(source->held.loss);
	ktr__trace_source_close(source);
	ktr__session_feed_close(source->feed);
	ktr__filter_free(source->filter);
	free(source->counted);
	ktr__tables_free(&source->tables);
}
