/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events out of packets into columns, without becoming events in between.
 *
 * How a site's events lie in a packet, and which column each argument goes to, is found out once for each site. Its
 * numbers are then loaded from where they lie: by their offset among the numbers, and where strings come before, as
 * much further as those are long. All columns of numbers that any site of the batch has are written for each event,
 * with 0 where it has no such argument: no branch depends on the site but that on its strings.
 *
 * What a run of events has in common (its thread, stream and CPU) is written when the run ends, and what they have
 * by their sites after that. Whatever is unusual about an event ends the run: ship_rows_event() knows all of them.
 *
 * Invariant: a load lies within [walk->at, walk->end + KTR__PACKETS_SLACK), and what an event is taken to be before
 * the end.
 */
#include "tools/ship/ship_columns.h"

#include "analyze/stats/ends.h"
#include "conf/kit/array.h"
#include "conf/kit/copy.h"
#include "tools/ship/ship_counters.h"
#include "tools/ship/ship_marks.h"
#include "tools/ship/ship_rows.h"
#include "writer/format/codec.h"
#include "writer/format/load.h"
#include "writer/format/nul.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_ROWS	4096u /* [rows] of a run at most */
#define COLUMNS_HEAD	10	  /* [bytes] id, time, word */
#define COLUMNS_WORDS	5u	  /* columns that the site tells: class, site, kind, grp, id */
#define COLUMNS_NUMBERS (2 * KTR_ARGS_MAX) /* columns: integers, then doubles */

_Static_assert(EVENTS_F0 == EVENTS_I0 + KTR_ARGS_MAX, "columns of doubles follow those of integers");

/* How a packed number becomes a word: (bits & mask ^ sign) - sign. All zero: 0. */
struct columns_number {
	uint64_t mask, sign;
	uint8_t off;	/* [bytes] among the numbers */
	uint8_t before; /* strings before it */
};

/* What more becomes of a site's events. */
enum columns_more {
	COLUMNS_NOTHING,
	COLUMNS_SCOPE,	/* a span, by a number alone */
	COLUMNS_SPAN,	/* or by all that the event has */
	COLUMNS_COUNTER
};

struct ship_site {
	const struct ktr_reader_site *site; /* of which this is; NULL: it was not looked at */
	struct columns_number number[COLUMNS_NUMBERS];
	struct columns_number key; /* COLUMNS_SCOPE */
	enum columns_more more;
	uint16_t numbers; /* bit i: its events have number[i] */
	uint8_t is_odd;	  /* it has no events that are as most are */
	uint8_t fixed;	  /* [bytes] of the numbers */
	uint8_t n_texts;
	uint8_t text[KTR_ARGS_MAX];	/* which arguments are strings, */
	uint8_t text_off[KTR_ARGS_MAX]; /* and how many bytes of numbers are before each */
	uint32_t fill;			/* the batch in which it has its columns */
};

/* A run of events. */
struct columns {
	struct ship *ship;
	const struct ktr__reader_lot *lot;
	uint64_t first; /* index of its first event */
	uint32_t n;	/* rows that are complete but for what they have in common */
	int64_t *ts;
	uint32_t *site;
	uint64_t *number[COLUMNS_NUMBERS];
	uint8_t used[COLUMNS_NUMBERS]; /* columns of numbers, of all sites */
	unsigned n_used;
	const struct ktr_reader_thread *thread; /* whose the last ones are; NULL: none has come */
	uint64_t thread_word; /* that its events carry; UINT64_MAX: none */
	uint32_t thread_from; /* its first row */
};

/* ---- sites ---- */

static struct columns_number columns_number(unsigned type, unsigned off, unsigned before)
{
	static const uint8_t widths[KTR_ARG_TYPES] = {
#define COLUMNS_WIDTH(name, text, bytes) [KTR_ARG_##name] = bytes,
		KTR_ARG_LIST(COLUMNS_WIDTH)
#undef COLUMNS_WIDTH
	};
	unsigned bits = 8u * widths[type];
	int is_signed = type == KTR_ARG_I8 || type == KTR_ARG_I16 || type == KTR_ARG_I32 || type == KTR_ARG_I64;

	return (struct columns_number){ .mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1,
					.sign = is_signed ? (uint64_t)1 << (bits - 1) : 0,
					.off = (uint8_t)off,
					.before = (uint8_t)before };
}

static enum columns_more columns_more(const struct ktr_reader_site *site, int with_spans)
{
	if (site->kind == KTR_KIND_COUNTER)
		return COLUMNS_COUNTER;
	if (!with_spans ||
	    (site->kind != KTR_KIND_START && site->kind != KTR_KIND_STOP && site->kind != KTR_KIND_STATE))
		return COLUMNS_NOTHING;
	return site->kind != KTR_KIND_STATE && site->ident && site->n_args == 1 && !site->in_str &&
			       site->value_arg == 0 ? COLUMNS_SCOPE : COLUMNS_SPAN;
}

static void columns_site(struct ship_site *s, const struct ktr_reader_site *site,
			 const struct ktr__program *program, int with_spans)
{
	memset(s, 0, sizeof(*s));
	s->site = site;
	s->fixed = program->fixed;
	s->is_odd = !site->id || program->ready != KTR__PROGRAM_READY ||
		    program->n_args != site->n_args || program->payload != site->in_str;
	for (unsigned i = 0; i < site->n_args && !s->is_odd; i++) {
		unsigned type = program->type[i], column = type == KTR_ARG_F64 ? KTR_ARGS_MAX + i : i;

		if (type == KTR_ARG_STACK) {
			s->is_odd = 1;
		} else if (type == KTR_ARG_STR) {
			s->text[s->n_texts] = (uint8_t)i;
			s->text_off[s->n_texts++] = program->off[i];
		} else {
			s->number[column] = columns_number(type, program->off[i], s->n_texts);
			s->numbers |= (uint16_t)(1u << column);
		}
	}
	s->more = columns_more(site, with_spans);
	if (s->more == COLUMNS_SCOPE)
		s->key = s->number[s->numbers >> KTR_ARGS_MAX ? KTR_ARGS_MAX : 0];
}

int ship_columns_site(struct ship *ship, const struct ktr_reader_site *site)
{
	struct native_block *b = &ship->events;
	struct ship_site_keys *keys;

	if (ktr__array_grow(&ship->keys, &ship->n_keys, site->id, sizeof(*keys)))
		return -ENOMEM;
	keys = &ship->keys[site->id];
	if (keys->fill == ship->fill)
		return 0;
	keys->fill = ship->fill;
	keys->key[0] = native_word_key(b, EVENTS_CLASS, site->class_name);
	keys->key[1] = native_word_key(b, EVENTS_SITE, site->name);
	keys->key[2] = native_word_key(b, EVENTS_KIND, ship_rows_kind(site));
	keys->key[3] = native_word_key(b, EVENTS_GRP, site->group);
	keys->key[4] = native_word_key(b, EVENTS_ID, site->ident);
	keys->low = 0;
	for (unsigned i = 0; i < COLUMNS_WORDS; i++)
		keys->low |= (uint64_t)(uint8_t)keys->key[i] << 8 * i;
	return 0;
}

/* A column of words that the site tells, from a row on. */
static void columns_words(struct ship *ship, unsigned column, unsigned which, const uint32_t *site, uint32_t from)
{
	const struct ship_site_keys *keys = ship->keys;
	struct native_block *b = &ship->events;
	unsigned width = b->column[column].width;
	uint32_t n = b->n_rows - from;
	uint8_t *to = b->column[column].n_words ? native_take_at(b, column, from, n) : NULL;

	if (to && width == 1)
		for (uint32_t i = 0; i < n; i++)
			to[i] = (uint8_t)keys[site[i]].key[which];
	else if (to)
		for (uint32_t i = 0; i < n; i++)
			memcpy(to + (size_t)i * width, &keys[site[i]].key[which], width);
	native_took(b, column, to ? n : 0);
}

/* All of them at once, where each has its keys in a byte. 1, or 0: one has not, or is not there. */
static int columns_words_low(struct ship *ship, const uint8_t *columns, const uint32_t *site, uint32_t from)
{
	const struct ship_site_keys *keys = ship->keys;
	struct native_block *b = &ship->events;
	uint32_t n = b->n_rows - from;
	uint8_t *to[COLUMNS_WORDS];

	for (unsigned i = 0; i < COLUMNS_WORDS; i++)
		if (b->column[columns[i]].width != 1 || !b->column[columns[i]].n_words)
			return 0;
	for (unsigned i = 0; i < COLUMNS_WORDS; i++) {
		to[i] = native_take_at(b, columns[i], from, n);
		if (!to[i])
			return 1; /* which the block says */
		native_took(b, columns[i], n);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t low = keys[site[i]].low;

		to[0][i] = (uint8_t)low;
		to[1][i] = (uint8_t)(low >> 8);
		to[2][i] = (uint8_t)(low >> 16);
		to[3][i] = (uint8_t)(low >> 24);
		to[4][i] = (uint8_t)(low >> 32);
	}
	return 1;
}

int ship_columns_words(struct ship *ship)
{
	static const uint8_t columns[COLUMNS_WORDS] = { EVENTS_CLASS, EVENTS_SITE, EVENTS_KIND, EVENTS_GRP,
							EVENTS_ID };
	struct native_block *b = &ship->events;
	uint32_t from = ship->n_worded, n = b->n_rows - from;
	const uint32_t *site;

	if (!n)
		return 0;
	native_numbers(b, EVENTS_HOST, from, native_word_key(b, EVENTS_HOST, ship->host), n);
	site = native_take(b, EVENTS_SITE_ID, 0); /* which has all these rows then */
	if (!site)
		return -ENOMEM;
	ship->n_worded = b->n_rows;
	if (columns_words_low(ship, columns, site - n, from))
		return 0;
	for (unsigned i = 0; i < COLUMNS_WORDS; i++)
		columns_words(ship, columns[i], i, site - n, from);
	return 0;
}

int ship_columns_settle(struct ship *ship)
{
	if (!native_settles(&ship->events))
		return 0;
	if (ship_columns_words(ship))
		return -ENOMEM;
	native_settle(&ship->events, frame_write);
	return 0;
}

/* Has what the site's events need in this batch. 1, 0: it is for others, or -ENOMEM. */
static int columns_prepare(struct ship *ship, uint32_t id)
{
	const struct ktr__tables *tables = ktr__reader_tables(ship->reader);
	const struct ktr_reader_site *site = ktr__tables_by_id(tables, id);
	struct ship_site *s;

	if (!id || id >= tables->n_sites || !tables->site[id])
		return 0;
	if (ktr__array_grow(&ship->site, &ship->n_sites, id, sizeof(*s)))
		return -ENOMEM;
	s = &ship->site[id];
	if (s->site != site)
		columns_site(s, site, &tables->program[id], ship->with_spans);
	if (s->is_odd)
		return 0;
	if (s->fill != ship->fill && ship_columns_site(ship, site))
		return -ENOMEM;
	s->fill = ship->fill;
	ship->events_numbers |= s->numbers;
	return 1;
}

void ship_columns_close(struct ship *ship)
{
	free(ship->site);
	free(ship->keys);
	ship->site = NULL;
	ship->keys = NULL;
	ship->n_sites = ship->n_keys = 0;
}

/* ---- events ---- */

static inline uint64_t columns_value(const struct columns_number *number, const uint8_t *at)
{
	return ((ktr__load64(at) & number->mask) ^ number->sign) - number->sign;
}

/* A string of a row; those between it and the one before are empty. */
static inline void columns_text(struct native_block *b, unsigned column, uint32_t row, const uint8_t *bytes,
				size_t n)
{
	struct native_column *c = &b->column[column];
	uint32_t gap = row - c->n;
	uint8_t *to;

	if (n > 15 || gap > 15 || c->data.room - c->data.n < 48) {
		native_text_at(b, column, row, bytes, n);
		return;
	}
	if (!n)
		return;
	to = c->data.at + c->data.n;
	memset(to, 0, 16);
	to[gap] = (uint8_t)n;
	ktr__copy((char *)to + gap + 1, (const char *)bytes, n);
	c->data.n += gap + 1 + n;
	c->n += gap + 1;
}

/* The numbers of an event with strings, which go to their columns as well. The event's end, or NULL. */
static const uint8_t *columns_texts(struct columns *run, const struct ship_site *s, const uint8_t *args,
				    const uint8_t *end)
{
	struct native_block *b = &run->ship->events;
	size_t shift[KTR_ARGS_MAX + 1], length[KTR_ARGS_MAX];
	const uint8_t *nul;

	shift[0] = 0;
	for (unsigned i = 0; i < s->n_texts; i++) {
		const uint8_t *at = args + s->text_off[i] + shift[i];

		nul = at < end ? ktr__nul(at, end) : NULL;
		if (!nul)
			return NULL;
		length[i] = (size_t)(nul - at);
		shift[i + 1] = shift[i] + length[i] + 1;
	}
	if (args + s->fixed + shift[s->n_texts] > end)
		return NULL;
	for (unsigned i = 0, n = run->n_used; i < n; i++) {
		const struct columns_number *number = &s->number[run->used[i]];

		run->number[i][run->n] = columns_value(number, args + number->off + shift[number->before]);
	}
	for (unsigned i = 0; i < s->n_texts; i++)
		columns_text(b, EVENTS_S0 + s->text[i], b->n_rows + run->n, args + s->text_off[i] + shift[i],
			     length[i]);
	return args + s->fixed + shift[s->n_texts];
}

/* The rows since the thread's first one are its own. */
static void columns_thread_ends(struct columns *run, uint64_t last_ns)
{
	const struct ktr_reader_thread *thread = run->thread;
	struct native_block *b = &run->ship->events;
	uint32_t row = b->n_rows + run->thread_from, n = run->n - run->thread_from;

	if (!n)
		return;
	ktr__ends_see(thread, last_ns);
	native_numbers(b, EVENTS_PROCESS, row, native_word_key(b, EVENTS_PROCESS, thread->process), n);
	native_numbers(b, EVENTS_THREAD, row, native_word_key(b, EVENTS_THREAD, thread->name), n);
	native_numbers(b, EVENTS_PID, row, thread->pid, n);
	native_numbers(b, EVENTS_TID, row, thread->tid, n);
	native_numbers(b, EVENTS_WORD, row, ktr__ends_row(thread)->word, n);
}

/* Another thread's events begin. 0: one that is for others. */
static int columns_thread(struct columns *run, uint32_t word, uint64_t last_ns, uint64_t ns)
{
	if (word & KTR_WORD_APPROX)
		return 0;
	columns_thread_ends(run, last_ns);
	run->thread = ktr__reader_sweep_thread(run->ship->reader, run->lot, word, ns);
	run->thread_word = word;
	run->thread_from = run->n;
	if (run->ship->marks)
		ship_marks_source(run->ship->marks, run->thread, run->lot);
	return 1;
}

/* The event that begins here is a counter's, or a span's, and more of it is needed than its row has. */
static int columns_whole(struct columns *run, const struct ship_stream *stream, const struct ship_site *s,
			 const uint8_t *at, uint64_t last_ns)
{
	struct ktr_event *event = &run->ship->event;
	struct ktr__walk walk = *run->lot->walk;
	struct ktr__found found;

	walk.at = at;
	walk.time_ns = last_ns;
	walk.n_left -= run->n;
	if (ktr__walk_next(&walk, event, &found) <= 0)
		return 0; /* what made a row of it has looked at all of it */
	event->site = s->site;
	event->thread = run->thread;
	event->index = run->first + run->n;
	event->cpu = run->lot->cpu;
	event->keep = run->lot->keep != 0;
	return s->more == COLUMNS_COUNTER ? ship_counters_event(run->ship, event, stream)
					  : ship_marks_event(run->ship, event, 1);
}

static inline int columns_more_of(struct columns *run, const struct ship_stream *stream, const struct ship_site *s,
				  const uint8_t *at, uint64_t last_ns, uint64_t ns)
{
	if (s->more == COLUMNS_SCOPE)
		return ship_marks_scope(run->ship->marks, s->site,
					columns_value(&s->key, at + COLUMNS_HEAD + s->key.off), ns);
	return columns_whole(run, stream, s, at, last_ns);
}

/* The numbers of an event that has nothing else. */
static inline void columns_numbers(const struct columns *run, const struct ship_site *s, const uint8_t *args,
				   uint32_t row)
{
	unsigned n = run->n_used;

	for (unsigned i = 0; i < n; i++) {
		const struct columns_number *number = &s->number[run->used[i]];

		run->number[i][row] = columns_value(number, args + number->off);
	}
}

/* The walk's events as long as they are as most are. 0 or -ENOMEM. */
static int columns_walk(struct columns *run, const struct ship_stream *stream, uint32_t room, uint64_t until_ns)
{
	struct ship *ship = run->ship;
	struct ktr__walk *walk = run->lot->walk;
	const struct ship_site *sites = ship->site;
	const uint32_t n_sites = ship->n_sites, fill = ship->fill;
	const uint8_t *at = walk->at, *const end = walk->end, *next;
	uint64_t last_ns = walk->time_ns, ns;
	const int64_t offset = ship->utc_offset_ns;
	int64_t *const ts = run->ts;
	uint32_t *const site = run->site, n = 0;
	int rc = 0;

	for (; n < room && !rc; n++) {
		unsigned id = ktr__load16(at);
		const struct ship_site *s = &sites[id >> 1];
		const uint8_t *args = at + COLUMNS_HEAD;
		uint32_t word = ktr__load32(at + 6);

		run->n = n;
		ns = last_ns + (uint32_t)(ktr__load32(at + 2) - (uint32_t)last_ns);
		/* The extended id is odd. */
		if (id & 1 || id >> 1 >= n_sites || s->fill != fill || ns > until_ns)
			break;
		next = args + s->fixed;
		if (next > end || (word != run->thread_word && !columns_thread(run, word, last_ns, ns)))
			break;
		if (s->n_texts)
			next = columns_texts(run, s, args, end);
		else
			columns_numbers(run, s, args, n);
		if (!next)
			break;
		ts[n] = (int64_t)ns + offset;
		site[n] = id >> 1;
		if (s->more)
			rc = columns_more_of(run, stream, s, at, last_ns, ns);
		at = next;
		last_ns = ns;
	}
	run->n = n;
	columns_thread_ends(run, last_ns);
	walk->at = at;
	walk->time_ns = last_ns;
	walk->n_left -= n;
	return rc;
}

/* ---- columns ---- */

/* Room in all columns that the batch's sites have. 0 or -ENOMEM. */
static int columns_take(struct columns *run, uint32_t room)
{
	struct native_block *b = &run->ship->events;
	int is_there;

	run->ts = native_take(b, EVENTS_TS, room);
	run->site = native_take(b, EVENTS_SITE_ID, room);
	is_there = run->ts && run->site;
	for (unsigned left = run->ship->events_numbers; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		run->number[run->n_used] = native_take(b, EVENTS_I0 + i, room);
		is_there &= run->number[run->n_used] != NULL;
		run->used[run->n_used++] = (uint8_t)i;
	}
	return is_there ? 0 : -ENOMEM;
}

/* The rest of the rows, which count then. */
static void columns_end(struct columns *run, const struct ship_stream *stream)
{
	struct ship *ship = run->ship;
	struct native_block *b = &ship->events;
	uint64_t *idx = native_take(b, EVENTS_IDX, run->n);

	ship_rows_begin(ship, stream, run->ts[0], run->first);
	for (uint64_t i = run->first, *end = idx ? idx + run->n : NULL; idx < end; i++)
		*idx++ = i;
	native_took(b, EVENTS_IDX, idx ? run->n : 0);
	native_took(b, EVENTS_TS, run->n);
	native_took(b, EVENTS_SITE_ID, run->n);
	for (unsigned i = 0; i < run->n_used; i++)
		native_took(b, EVENTS_I0 + run->used[i], run->n);
	native_numbers(b, EVENTS_STREAM, b->n_rows,
		       native_key_of(b, EVENTS_STREAM, stream->name, strlen(stream->name)), run->n);
	native_numbers(b, EVENTS_CPU, b->n_rows, run->lot->cpu, run->n);
	native_numbers(b, EVENTS_FLAGS, b->n_rows, run->lot->keep ? SCHEMA_FLAG_KEEP : 0, run->n);
	native_rows(b, run->n);
	ship->counts.n_events += run->n;
}

int64_t ship_columns(struct ship *ship, const struct ktr__reader_lot *lot, const struct ship_stream *stream,
		     uint64_t until_ns)
{
	struct columns run = { .ship = ship, .lot = lot, .first = lot->index, .thread_word = UINT64_MAX };
	uint32_t room = lot->walk->n_left < COLUMNS_ROWS ? lot->walk->n_left : COLUMNS_ROWS;
	int rc;

	if (lot->walk->end - lot->walk->at < COLUMNS_HEAD)
		return 0;
	rc = columns_prepare(ship, ktr__load16(lot->walk->at) / 2u);
	if (rc <= 0)
		return rc;
	rc = columns_take(&run, room);
	if (!rc && ship->marks)
		rc = ship_marks_room(ship->marks, room);
	if (!rc)
		rc = columns_walk(&run, stream, room, until_ns);
	if (rc)
		return rc;
	if (run.n)
		columns_end(&run, stream);
	ktr__reader_swept(ship->reader, lot, run.n);
	return ship->where.failed || ship_columns_settle(ship) ? -ENOMEM : (int64_t)run.n;
}
