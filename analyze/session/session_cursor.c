/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the copy of a ring in either direction.
 *
 * Entries are untrusted: a payload ends where its continuations end, whatever its length says.
 * The walk is linear also where it seeks, because a ring is small.
 */
#include "analyze/session/session_cursor.h"

#include "analyze/session/session_feed.h"
#include "ktr/session/payload_take.h"
#include "ktr/session/session_map.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct ktr__session_cursor *session_cursor_of(struct ktr__cursor *cursor)
{
	return (struct ktr__session_cursor *)(void *)((char *)cursor -
						      offsetof(struct ktr__session_cursor, c));
}

/* The word as its type says: a trace shows the same. */
static uint64_t session_cursor_word(uint64_t word, enum ktr_arg_type type)
{
	switch (type) {
	case KTR_ARG_I8:
		return (uint64_t)(int8_t)word;
	case KTR_ARG_U8:
		return (uint8_t)word;
	case KTR_ARG_I16:
		return (uint64_t)(int16_t)word;
	case KTR_ARG_U16:
		return (uint16_t)word;
	case KTR_ARG_I32:
		return (uint64_t)(int32_t)word;
	case KTR_ARG_U32:
		return (uint32_t)word;
	default:
		return word;
	}
}

static const struct ktr__session_site *session_cursor_site(const struct ktr__session_cursor *s, uint32_t id)
{
	static const struct ktr__session_site none;
	const struct ktr__session_feed *feed = s->c.source->feed;

	return id < feed->n_sites ? &feed->site[id] : &none;
}

static void session_cursor_args(struct ktr__session_cursor *s, uint64_t at, struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	const struct ktr__session_site *left = session_cursor_site(s, site->id);
	struct ktr__payload_at payload =
		ktr__payload_at(&s->slot[at], site->n_args,
				ktr__slot_n_conts(&s->slot[at], (uint32_t)(s->n - at - 1)));
	size_t used = 0, literal = 0;

	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		struct ktr_event_bytes *str = &event->str[i];
		uint64_t word = i < site->n_args ? s->slot[at].arg[i] : 0;
		size_t length = word & KTR_PAYLOAD_LENGTH;

		if (site->arg[i].type != KTR_ARG_STR && site->arg[i].type != KTR_ARG_STACK) {
			event->arg[i] = session_cursor_word(word, site->arg[i].type);
			continue;
		}
		if (left->in_literals >> i & 1) {
			const char *text = ktr__literal(left->literals, &literal);

			*str = (struct ktr_event_bytes){ .bytes = text, .n_bytes = (uint32_t)strlen(text) };
			event->arg[i] = str->n_bytes;
			continue;
		}
		str->is_null = (word & KTR_PAYLOAD_NULL) != 0;
		str->bytes = s->payload + used;
		if (str->is_null)
			length = 0;
		str->n_bytes = ktr__payload_take(&payload, s->payload + used, (uint32_t)length);
		str->cut = (word & KTR_PAYLOAD_CUT) != 0 || str->n_bytes < length;
		event->arg[i] = str->n_bytes;
		used += str->n_bytes;
	}
}

static void session_cursor_event(struct ktr__session_cursor *s, uint64_t at,
				 struct ktr_event *event)
{
	const struct ktr__tables *tables = &s->c.source->tables;
	const struct ktr_entry *entry = &s->slot[at];

	event->time_ns = ktr__session_ns(s, at);
	event->approx = (entry->timestamp & KTR_TIME_APPROX) != 0;
	event->cpu = ktr__session_cpu(s, at);
	event->keep = s->kind == KTR_RING_KEEP;
	event->site = ktr__tables_by_id(tables, entry->site);
	event->thread = ktr__tables_by_row(tables, s->by_thread ? entry->thread & KTR_THREAD_INDEX
								: entry->thread);
	session_cursor_args(s, at, event);
}

static void session_cursor_gap(struct ktr__session_cursor *s, const struct ktr__session_gap *gap,
			       uint64_t from_ns, uint64_t to_ns)
{
	struct ktr_loss loss = { .cpu = s->cpu,
				 .keep = s->kind == KTR_RING_KEEP,
				 .n_events = gap->n_events,
				 .from_ns = from_ns,
				 .to_ns = to_ns };

	if (gap->n_events)
		ktr__source_loss(s->c.source, &loss);
}

static int session_cursor_advance(struct ktr__cursor *cursor)
{
	struct ktr__session_cursor *s = session_cursor_of(cursor);

	for (;;) {
		uint64_t at = s->at, time_ns = at < s->n ? ktr__session_ns(s, at) : 0;

		while (s->gap_at < s->n_gaps && s->gap[s->gap_at].at <= at) {
			const struct ktr__session_gap *gap = &s->gap[s->gap_at++];

			if (at == s->n || time_ns >= s->limit_ns)
				session_cursor_gap(s, gap, s->time_ns, time_ns);
			s->index += gap->n_events;
		}
		if (at >= s->n)
			return 0;
		s->time_ns = time_ns;
		s->at += 1 + ktr__slot_n_conts(&s->slot[at], (uint32_t)(s->n - at - 1));
		s->c.event.index = s->index++;
		if (time_ns < s->limit_ns)
			continue;
		session_cursor_event(s, at, &s->c.event);
		if (!ktr__source_wants(s->c.source, &s->c.event))
			continue;
		s->c.key = time_ns;
		s->c.seen_ns = at >= s->fresh ? s->fresh_ns : 0;
		return 1;
	}
}

static int session_cursor_seek(struct ktr__cursor *cursor, uint64_t time_ns)
{
	struct ktr__session_cursor *s = session_cursor_of(cursor);

	ktr__session_rewind(s);
	s->limit_ns = time_ns;
	return 0;
}

/* The first slot of the event before a slot; `at` is not 0. */
static uint64_t session_cursor_before(const struct ktr__session_cursor *s, uint64_t at)
{
	do
		at--;
	while (at && ktr__slot_is_cont(&s->slot[at]));
	return at;
}

/* Takes the gaps that lie at slot `at`, in reverse. */
static void session_cursor_gaps_back(struct ktr__session_cursor *s)
{
	while (s->gap_at && s->gap[s->gap_at - 1].at >= s->at) {
		const struct ktr__session_gap *gap = &s->gap[--s->gap_at];
		uint64_t from_ns = s->at ? ktr__session_ns(s, session_cursor_before(s, s->at))
					 : s->base_ns;
		uint64_t to_ns = s->at < s->n ? ktr__session_ns(s, s->at) : 0;

		s->index -= gap->n_events;
		if (from_ns < s->limit_ns)
			session_cursor_gap(s, gap, from_ns, to_ns);
	}
}

static int session_cursor_advance_back(struct ktr__cursor *cursor)
{
	struct ktr__session_cursor *s = session_cursor_of(cursor);

	for (;;) {
		session_cursor_gaps_back(s);
		if (!s->at)
			return 0;
		s->at = session_cursor_before(s, s->at);
		s->c.event.index = --s->index;
		if (ktr__session_ns(s, s->at) >= s->limit_ns)
			continue;
		session_cursor_event(s, s->at, &s->c.event);
		if (!ktr__source_wants(s->c.source, &s->c.event))
			continue;
		s->c.key = ~s->c.event.time_ns;
		return 1;
	}
}

static void session_cursor_close(struct ktr__cursor *cursor)
{
	struct ktr__session_cursor *s = session_cursor_of(cursor);

	free(s->slot);
	free(s->gap);
	free(s);
}

void ktr__session_rewind(struct ktr__session_cursor *s)
{
	int reverse = s->c.source->reverse;

	s->at = reverse ? s->n : 0;
	s->gap_at = reverse ? s->n_gaps : 0;
	s->index = s->base_index + (reverse ? s->n_events + s->n_lost : 0);
	s->time_ns = reverse ? 0 : s->base_ns;
	s->limit_ns = reverse ? UINT64_MAX : 0;
}

struct ktr__session_cursor *ktr__session_cursor(struct ktr__event_source *source)
{
	struct ktr__session_cursor *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->c.waits = 1;
	s->c.source = source;
	s->c.advance = source->reverse ? session_cursor_advance_back : session_cursor_advance;
	s->c.seek = session_cursor_seek;
	s->c.close = session_cursor_close;
	return s;
}
