/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public reader: a source, and the merge of its cursors.
 *
 * The cursor whose event was handed out last is moved only when the next one is asked for, so
 * that strings, which lie in the cursor's buffer, stay valid until then. Moving it may add to the
 * source's queue of losses and notes, which goes before the next event.
 *
 * reader_open.c opens it, reader_choose.c settles what is wanted of it, reader_follow.c waits for what comes later.
 */
#include "analyze/read/reader_inside.h"

#include "analyze/read/tables.h"
#include "analyze/read/trace_cursor.h"
#include "analyze/read/trace_set.h"
#include "analyze/read/trace_source.h"
#include "analyze/session/session_feed.h"
#include "analyze/stats/ends.h"
#include "analyze/symbols/process_code.h"
#include "analyze/symbols/symbols.h"
#include "ktr/session/kernel.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int ktr__reader_fail(struct ktr_reader *reader, int rc)
{
	ktr_error_at(&reader->error, reader->path, 0, 0, -rc, "%s", strerror(-rc));
	reader->failed = rc;
	return rc;
}

int ktr__reader_resume(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	for (unsigned i = 0; i < source->n_cursors; i++) {
		struct ktr__cursor *cursor = source->cursor[i];
		int rc = cursor->waits ? cursor->advance(cursor) : 0;

		if (rc < 0)
			return rc;
		if (rc)
			ktr__merge_add(&reader->merge, cursor, i);
		cursor->waits &= !rc;
	}
	return 0;
}

/* Fetches every cursor's first event. 0 or -errno. */
static int reader_prime(struct ktr_reader *reader)
{
	struct ktr__event_source *source = &reader->source;

	reader->merge.n = 0;
	reader->last = NULL;
	for (unsigned i = 0; i < source->n_cursors; i++) {
		source->cursor[i]->waits = 1;
		source->cursor[i]->counts = 0;
	}
	return ktr__reader_resume(reader);
}

int ktr__reader_start(struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns, int again)
{
	struct ktr__event_source *source = &reader->source;
	uint64_t start = source->reverse ? (to_ns ? to_ns : UINT64_MAX) : from_ns;
	int rc = 0;

	reader->end_key = UINT64_MAX;
	if (source->reverse)
		reader->end_key = ~from_ns;
	else if (to_ns)
		reader->end_key = to_ns - 1;
	source->end_ns = source->reverse ? ~reader->end_key : reader->end_key;
	for (unsigned i = 0; i < source->n_cursors && !rc; i++)
		if (again || start != (source->reverse ? UINT64_MAX : 0))
			rc = source->cursor[i]->seek(source->cursor[i], start);
	return rc ? rc : reader_prime(reader);
}

/* What is not there is zero in the cursor's event already, but for str[], of which few are used. */
static inline void reader_copy(const struct ktr_event *from, struct ktr_event *event)
{
	memcpy(event, from, offsetof(struct ktr_event, str));
	for (unsigned left = from->site->in_str; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		event->str[i] = from->str[i];
	}
}

/* ktr_reader_next(), but the event stays where it is: it is that of reader->last. */
static inline int reader_step(struct ktr_reader *reader)
{
	int rc, is_over;

	if (reader->failed)
		return reader->failed;
	rc = ktr__reader_move(reader);
	if (rc || reader->source.out_of_memory)
		return ktr__reader_fail(reader, rc ? rc : -ENOMEM);
	is_over = !reader->merge.n || reader->merge.heap[0].key > reader->end_key;
	if (ktr__source_speaks(&reader->source)) {
		rc = ktr__source_said(&reader->source, is_over ? UINT64_MAX : reader->merge.heap[0].key,
				      &reader->said);
		if (rc)
			return rc;
	}
	if (is_over)
		return reader->source.follow && !reader->over ? KTR_READ_WAIT : KTR_READ_END;
	if ((reader->is_patient || reader->merge.heap[0].cursor->seen_ns > reader->mature_ns) &&
	    ktr__reader_is_early(reader))
		return KTR_READ_WAIT;
	reader->last = reader->merge.heap[0].cursor;
	if (reader->source.follow)
		ktr__source_span(&reader->source, reader->last->event.time_ns, reader->last->event.time_ns);
	ktr__ends_see(reader->last->event.thread, reader->last->event.time_ns);
	return KTR_READ_EVENT;
}

int ktr_reader_next(struct ktr_reader *reader, struct ktr_event *event)
{
	int what = reader_step(reader);

	if (what == KTR_READ_EVENT)
		reader_copy(&reader->last->event, event);
	return what;
}

int ktr__reader_advance(struct ktr_reader *reader, const struct ktr_event **event)
{
	int what = reader_step(reader);

	*event = what == KTR_READ_EVENT ? &reader->last->event : NULL;
	return what;
}

/* Counts one cursor's events one by one; otherwise as of its count(). */
static int reader_count_slowly(struct ktr_reader *reader, struct ktr__cursor *cursor, uint64_t *n)
{
	for (;;) {
		int rc = cursor->advance(cursor);

		if (rc <= 0 || cursor->key > reader->end_key)
			return rc < 0 ? rc : 0;
		++*n;
		if (ktr__source_speaks(&reader->source))
			return 1;
	}
}

/* The events that cursors have fetched already are counted; what comes after them is to be. 0 or -errno. */
static int reader_count_fetched(struct ktr_reader *reader, uint64_t *n)
{
	struct ktr__merge *merge = &reader->merge;
	int rc = ktr__reader_move(reader);

	for (unsigned i = 0; i < merge->n && !rc; i++) {
		merge->heap[i].cursor->counts = merge->heap[i].key <= reader->end_key;
		*n += merge->heap[i].key <= reader->end_key;
	}
	merge->n = 0;
	return rc;
}

int ktr_reader_count(struct ktr_reader *reader, uint64_t *n_events)
{
	struct ktr__event_source *source = &reader->source;
	int rc = 0;

	if (reader->failed)
		return reader->failed;
	if (source->follow) {
		while ((rc = reader_step(reader)) == KTR_READ_EVENT)
			++*n_events;
		return rc;
	}
	if (reader->merge.n)
		rc = reader_count_fetched(reader, n_events);
	/* Each by itself: the order of time is of no matter. */
	for (unsigned i = 0; i < source->n_cursors && rc >= 0 && !ktr__source_speaks(source); i++) {
		struct ktr__cursor *cursor = source->cursor[i];

		if (!cursor->counts)
			continue;
		rc = cursor->count ? cursor->count(cursor, n_events)
				   : reader_count_slowly(reader, cursor, n_events);
		cursor->counts = rc > 0;
	}
	if (rc < 0 || source->out_of_memory)
		return ktr__reader_fail(reader, rc < 0 ? rc : -ENOMEM);
	return ktr__source_said(source, UINT64_MAX, &reader->said);
}

int ktr_reader_seek(struct ktr_reader *reader, uint64_t time_ns)
{
	struct ktr__event_source *source = &reader->source;
	int rc = 0;

	if (reader->failed)
		return reader->failed;
	ktr__source_forget_losses(source);
	for (unsigned i = 0; i < source->n_cursors && !rc; i++)
		rc = source->cursor[i]->seek(source->cursor[i], time_ns);
	if (!rc)
		rc = reader_prime(reader);
	return rc ? ktr__reader_fail(reader, rc) : 0;
}

int ktr_reader_window(struct ktr_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
	int rc;

	if (reader->failed)
		return reader->failed;
	ktr__source_forget_losses(&reader->source);
	rc = ktr__reader_start(reader, from_ns, to_ns, 1);
	return rc ? ktr__reader_fail(reader, rc) : 0;
}

void ktr__reader_watch(struct ktr_reader *reader, ktr__reader_watch_fn *watch, void *context)
{
	reader->source.watch = watch;
	reader->source.watch_context = context;
}

uint32_t ktr__reader_piece(const struct ktr_reader *reader)
{
	return ktr__trace_source_oldest(&reader->source);
}

uint64_t ktr__reader_bytes(const struct ktr_reader *reader)
{
	return reader->source.n_bytes;
}

static inline int reader_tell(int what, struct ktr_reader *reader, struct ktr_sink *sink)
{
	switch (what) {
	case KTR_READ_EVENT:
		return sink->event ? sink->event(sink, &reader->last->event) : 0;
	case KTR_READ_LOSS:
		return sink->loss ? sink->loss(sink, ktr_reader_loss(reader)) : 0;
	default:
		return sink->note ? sink->note(sink, ktr_reader_note(reader)) : 0;
	}
}

int ktr_reader_walk(struct ktr_reader *reader, struct ktr_sink *const *sinks, unsigned n_sinks)
{
	int what, rc;

	while ((what = reader_step(reader)) > 0)
		for (unsigned i = 0; i < n_sinks; i++) {
			rc = reader_tell(what, reader, sinks[i]);
			if (rc)
				return rc;
		}
	return what;
}

const struct ktr_reader_info *ktr_reader_info(const struct ktr_reader *reader)
{
	return &reader->source.info;
}

unsigned ktr_reader_n_sites(const struct ktr_reader *reader)
{
	return reader->source.tables.n_sites;
}

const struct ktr_reader_site *ktr_reader_site(const struct ktr_reader *reader, uint32_t id)
{
	const struct ktr__tables *tables = &reader->source.tables;

	return id < tables->n_sites ? tables->site[id] : NULL;
}

unsigned ktr_reader_n_threads(const struct ktr_reader *reader)
{
	return reader->source.tables.n_threads;
}

const struct ktr_reader_thread *ktr_reader_thread(const struct ktr_reader *reader, uint32_t id)
{
	const struct ktr__tables *tables = &reader->source.tables;

	return id < tables->n_threads && tables->thread[id] ? &tables->thread[id]->thread : NULL;
}

const char *ktr_reader_class_name(const struct ktr_reader *reader, unsigned bit)
{
	return bit < KTR_CLASS_MAX ? reader->source.tables.class_name[bit] : NULL;
}

const struct ktr__tables *ktr__reader_tables(const struct ktr_reader *reader)
{
	return &reader->source.tables;
}

const struct ktr__trace_head *ktr__reader_head(const struct ktr_reader *reader)
{
	const struct ktr__trace_set *set = reader->source.set;

	return set ? &set->member[set->n - 1].head : NULL;
}

int ktr__reader_lives(const struct ktr_reader *reader)
{
	return reader->source.feed && ktr__ends_lives(&reader->source.tables);
}

/* The one that was handed out last is in front. */
unsigned ktr__reader_cursor(const struct ktr_reader *reader)
{
	return reader->merge.n ? reader->merge.heap[0].number : 0;
}

void ktr__reader_stream(const struct ktr_reader *reader, char *name, size_t size)
{
	static const char suffix[KTR_RING_KINDS][8] = { "", KTR_STREAM_KEEP, KTR_STREAM_KERNEL };
	const struct ktr__session_feed *feed = reader->source.feed;
	struct ktr__cursor *last = reader->last;

	for (uint32_t i = 0; feed && last && i < feed->n_rings; i++)
		if (feed->cursor[i] && &feed->cursor[i]->c == last) {
			uint32_t n = feed->map.header.n_rings;

			snprintf(name, size, "%s%u%s", feed->cursor[i]->by_thread ? KTR_STREAM_RING : KTR_STREAM_CPU,
				 n ? i % n : i, suffix[feed->cursor[i]->kind % KTR_RING_KINDS]);
			return;
		}
	snprintf(name, size, "%s", last && reader->source.set ? ktr__trace_of(last)->name : "");
}

uint64_t ktr__reader_first(const struct ktr_reader *reader)
{
	const struct ktr__session_feed *feed = reader->source.feed;

	for (uint32_t i = 0; feed && i < feed->n_rings; i++)
		if (feed->cursor[i] && &feed->cursor[i]->c == reader->last)
			return 0;
	return reader->last && reader->source.set ? ktr__trace_of(reader->last)->first_no : 0;
}

uint64_t ktr__reader_gone(const struct ktr_reader *reader, uint64_t index, uint64_t *until)
{
	const struct ktr__session_feed *feed = reader->source.feed;
	const struct ktr__trace_cursor *t;

	for (uint32_t i = 0; feed && i < feed->n_rings; i++)
		if (feed->cursor[i] && &feed->cursor[i]->c == reader->last)
			return 0;
	if (!reader->last || !reader->source.set)
		return 0;
	t = ktr__trace_of(reader->last);
	*until = t->gone_no;
	return index == t->head.first_event ? t->n_gone : 0;
}

int ktr__reader_begun(const struct ktr_reader *reader, unsigned *i, struct ktr__reader_begun *begun)
{
	return reader->source.set ? ktr__trace_begun(&reader->source, i, begun) : 0;
}

/* Where the names of code are that is in no file. */
static void reader_code(struct ktr_reader *reader)
{
	const struct ktr__event_source *source = &reader->source;
	const struct ktr_reader_info *info = &source->info;
	const char *trace = source->set ? source->set->member[source->set->n - 1].path : NULL;
	struct ktr__process_code_where where = { .utc_offset_ns = info->utc_offset_ns };
	uint64_t id[2];

	ktr__kernel_boot_id(id);
	where.is_here = (id[0] | id[1]) && memcmp(id, info->boot_id, sizeof(id)) == 0;
	if (trace && asprintf(&reader->code_folder, "%s/" KTR_TRACE_DIR, trace) < 0)
		reader->code_folder = NULL;
	where.folder = reader->code_folder;
	ktr__symbols_code(reader->symbols, &where);
}

struct ktr__symbols *ktr__reader_symbols(struct ktr_reader *reader)
{
	if (reader->symbols)
		return reader->symbols;
	reader->symbols = ktr__symbols_new(&reader->source.tables);
	if (reader->symbols)
		reader_code(reader);
	return reader->symbols;
}

const struct ktr_loss *ktr_reader_loss(const struct ktr_reader *reader)
{
	return &reader->said.u.loss;
}

const struct ktr_note *ktr_reader_note(const struct ktr_reader *reader)
{
	return &reader->said.u.note;
}

const struct ktr_error *ktr_reader_error(const struct ktr_reader *reader)
{
	return &reader->error;
}
