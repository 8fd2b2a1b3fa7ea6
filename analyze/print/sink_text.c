/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text form of a walk.
 *
 * Everything goes through one buffer and no printf: a line costs some 100 ns. Names and texts
 * come from the traced program and are made harmless on their way (conf/kit/utf8.h). Columns are
 * as wide as what is usual; longer names push the rest of their line to the right.
 */
#include "analyze/print/sink_text.h"

#include "analyze/print/render.h"
#include "conf/kit/decimal.h"
#include "conf/kit/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TEXT_DIM    "\033[2m"
#define TEXT_ALARM  "\033[1;31m"
#define TEXT_NORMAL "\033[0m"

static const struct sink_text_column {
	unsigned bit;
	unsigned width; /* after it comes a blank */
	const char *name;
	const char *colour;
} sink_text_columns[] = {
	{ KTR__TEXT_INDEX, 10, "index", TEXT_DIM },  { KTR__TEXT_TIME, 16, "time", TEXT_DIM },
	{ KTR__TEXT_CPU, 3, "cpu", "\033[36m" },     { KTR__TEXT_THREAD, 22, "thread", NULL },
	{ KTR__TEXT_CLASS, 8, "class", "\033[33m" }, { KTR__TEXT_WHERE, 20, "where", TEXT_DIM },
	{ KTR__TEXT_FUNC, 20, "function", NULL },
};

#define TEXT_N_COLUMNS (sizeof(sink_text_columns) / sizeof(sink_text_columns[0]))
#define TEXT_UTC_WIDTH 30u

/* Threads take turns with these. */
static const char *const sink_text_threads[] = { "\033[32m", "\033[34m", "\033[35m",
						 "\033[92m", "\033[94m", "\033[95m" };

static unsigned sink_text_width(const struct ktr__sink_text *text,
				const struct sink_text_column *column)
{
	if (column->bit == KTR__TEXT_TIME && text->time == KTR__TEXT_UTC)
		return TEXT_UTC_WIDTH;
	return column->width;
}

/* "12.345678901" in the column's width. */
static void sink_text_seconds(struct ktr__out *out, uint64_t ns, unsigned width)
{
	char text[2 * KTR__DECIMAL_MAX + 8], *end = text + sizeof(text), *at = ktr__decimal(end, ns % 1000000000u);

	while (end - at < 9)
		*--at = '0';
	*--at = '.';
	at = ktr__decimal(at, ns / 1000000000u);
	while (end - at < (ptrdiff_t)width && at > text)
		*--at = ' ';
	ktr__out_bytes(out, at, (size_t)(end - at));
}

/* The same of times that hardly go on: what is before the point is made once a second. */
static void sink_text_relative(struct ktr__sink_text *text, uint64_t ns, unsigned width)
{
	char *to = text->out->buffer + text->out->n;
	uint64_t below = ns - text->second_ns;

	if (!text->n_seconds || ns < text->second_ns || below >= 1000000000u) {
		size_t before = text->out->n;

		sink_text_seconds(text->out, ns, width);
		text->n_seconds = (uint32_t)(text->out->n - before - 9);
		text->second_ns = ns - ns % 1000000000u;
		if (text->n_seconds > sizeof(text->seconds))
			text->n_seconds = 0;
		memcpy(text->seconds, to, text->n_seconds);
		return;
	}
	memcpy(to, text->seconds, sizeof(text->seconds));
	to += text->n_seconds;
	ktr__decimal_nine(to, (uint32_t)below);
	text->out->n += text->n_seconds + 9;
}

/* The calendar is asked once a second of the trace. */
static void sink_text_utc(struct ktr__sink_text *text, uint64_t time_ns)
{
	int64_t ns = (int64_t)(time_ns + (uint64_t)text->info->utc_offset_ns);
	int64_t second = ns / 1000000000 - (ns % 1000000000 < 0);

	if (second != text->second || !text->date[0]) {
		time_t clock = (time_t)second;
		struct tm tm;

		if (!gmtime_r(&clock, &tm) ||
		    !strftime(text->date, sizeof(text->date), "%Y-%m-%dT%H:%M:%S.", &tm))
			snprintf(text->date, sizeof(text->date), "?.");
		text->second = second;
	}
	ktr__out_text(text->out, text->date);
	ktr__out_number(text->out, (uint64_t)(ns - second * 1000000000), 9, '0');
	ktr__out_char(text->out, 'Z');
}

static void sink_text_time(struct ktr__sink_text *text, uint64_t ns, unsigned width)
{
	switch (text->time) {
	case KTR__TEXT_RELATIVE:
		sink_text_relative(text, ns - text->info->first_ns, width);
		break;
	case KTR__TEXT_DELTA:
		if (!text->n_events)
			ns = text->last_ns = 0;
		sink_text_seconds(text->out,
				  ns > text->last_ns ? ns - text->last_ns : text->last_ns - ns,
				  width);
		break;
	case KTR__TEXT_UTC:
		sink_text_utc(text, ns);
		break;
	default:
		ktr__out_number(text->out, ns, width, ' ');
	}
}

/* "worker 3/12345" */
static void sink_text_thread(struct ktr__out *out, const struct ktr_reader_thread *thread,
			     unsigned width)
{
	size_t before = out->n;

	ktr__out_visible(out, thread->name, strlen(thread->name), 0);
	ktr__out_char(out, '/');
	ktr__out_number(out, thread->tid, 0, ' ');
	if (out->n - before < width)
		ktr__out_fill(out, ' ', width - (out->n - before));
}

static inline __attribute__((always_inline)) void sink_text_cell(struct ktr__sink_text *text, unsigned bit,
								 unsigned width, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct ktr__out *out = text->out;

	switch (bit) {
	case KTR__TEXT_INDEX:
		ktr__out_number(out, event->index, width, ' ');
		break;
	case KTR__TEXT_TIME:
		sink_text_time(text, event->time_ns, width);
		break;
	case KTR__TEXT_CPU:
		if (event->cpu < 10) {
			memset(out->buffer + out->n, ' ', width);
			out->buffer[out->n + width - 1] = (char)('0' + event->cpu);
			out->n += width;
			break;
		}
		ktr__out_number(out, event->cpu, width, ' ');
		break;
	case KTR__TEXT_THREAD:
		sink_text_thread(out, event->thread, width);
		break;
	case KTR__TEXT_CLASS:
		ktr__out_visible(out, site->class_name, strlen(site->class_name), width);
		break;
	case KTR__TEXT_WHERE:
		ktr__out_visible(out, site->name, strlen(site->name), width);
		break;
	default:
		ktr__out_visible(out, site->func, strlen(site->func), width);
	}
}

/* Column i with its colour, and the blank after it, if it is wanted. i is a constant: so is what it decides. */
static inline __attribute__((always_inline)) void sink_text_column(struct ktr__sink_text *text, unsigned i,
								   const struct ktr_event *event)
{
	const struct sink_text_column *column = &sink_text_columns[i];
	const char *colour = column->colour;

	if (!(text->columns & column->bit))
		return;
	if (!colour && column->bit == KTR__TEXT_THREAD)
		colour = sink_text_threads[event->thread->id %
					   (sizeof(sink_text_threads) / sizeof(sink_text_threads[0]))];
	if (text->colour && colour)
		ktr__out_text(text->out, colour);
	sink_text_cell(text, column->bit, sink_text_width(text, column), event);
	if (text->colour && colour)
		ktr__out_text(text->out, TEXT_NORMAL);
	ktr__out_char(text->out, ' ');
}

/* What hardly two lines have in common. */
static void sink_text_own(struct ktr__sink_text *text, const struct ktr_event *event)
{
	sink_text_column(text, 0, event);
	sink_text_column(text, 1, event);
	sink_text_column(text, 2, event);
}

static void sink_text_of_thread(struct ktr__sink_text *text, const struct ktr_event *event)
{
	sink_text_column(text, 3, event);
}

static void sink_text_of_site(struct ktr__sink_text *text, const struct ktr_event *event)
{
	sink_text_column(text, 4, event);
	sink_text_column(text, 5, event);
	sink_text_column(text, 6, event);
}

/* A cell once more: its bytes, and some after them which the next ones overwrite. */
static inline void sink_text_again(struct ktr__out *out, const struct ktr__text_cell *cell)
{
	memcpy(out->buffer + out->n, cell->text, KTR__TEXT_CELL / 4);
	if (cell->n > KTR__TEXT_CELL / 4)
		memcpy(out->buffer + out->n + KTR__TEXT_CELL / 4, cell->text + KTR__TEXT_CELL / 4,
		       KTR__TEXT_CELL - KTR__TEXT_CELL / 4);
	out->n += cell->n;
}

/* As they were, if they are of whom the last ones in the cell were of. A thread may get another name. */
static inline void sink_text_kept(struct ktr__sink_text *text, struct ktr__text_cell *cell, const void *of,
				  const char *name,
				  void (*print)(struct ktr__sink_text *text, const struct ktr_event *event),
				  const struct ktr_event *event)
{
	struct ktr__out *out = text->out;
	size_t before = out->n;

	if (cell->of == of && cell->name == name) {
		sink_text_again(out, cell);
		return;
	}
	print(text, event);
	if (out->n - before > sizeof(cell->text))
		return;
	cell->of = of;
	cell->name = name;
	cell->n = (uint32_t)(out->n - before);
	memcpy(cell->text, out->buffer + before, cell->n);
}

/* It is put right only if there is something wrong with it. */
void ktr__sink_text_message(struct ktr__out *out, struct ktr__symbols *symbols,
			    const struct ktr_event *event, int raw)
{
	char *at = out->buffer + out->n;
	size_t room = out->room - out->n, plain;
	int is_plain;
	size_t n = ktr__render_line(event, symbols, !raw, at, room, &is_plain);
	char copy[KTR__OUT_LINE / 8];

	if (is_plain) {
		out->n += n;
		return;
	}
	if (n >= room)
		n = room - 1;
	plain = ktr__utf8_plain(at, n);
	n -= plain;
	if (n > sizeof(copy))
		n = sizeof(copy);
	memcpy(copy, at + plain, n);
	out->n += plain;
	ktr__out_visible(out, copy, n, 0);
}

static int sink_text_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__sink_text *text = (struct ktr__sink_text *)(void *)sink;
	const struct ktr_reader_thread *thread = event->thread;
	const struct ktr_reader_site *site = event->site;
	int rc = ktr__out_line(text->out);

	if (rc)
		return rc;
	sink_text_own(text, event);
	sink_text_kept(text, &text->thread[thread->id % KTR__TEXT_CELLS], thread, thread->name, sink_text_of_thread,
		       event);
	sink_text_kept(text, &text->site[site->id % KTR__TEXT_CELLS], site, site->name, sink_text_of_site, event);
	ktr__sink_text_message(text->out, text->symbols, event, text->raw);
	ktr__out_char(text->out, '\n');
	text->last_ns = event->time_ns;
	text->n_events++;
	return 0;
}

/* Losses have no column for their time: it is in the sentence. */
static void sink_text_when(struct ktr__sink_text *text, uint64_t ns)
{
	if (text->time == KTR__TEXT_UTC)
		sink_text_utc(text, ns);
	else if (text->time == KTR__TEXT_RAW)
		ktr__out_number(text->out, ns, 0, ' ');
	else
		sink_text_seconds(text->out, ns - text->info->first_ns, 10);
}

static int sink_text_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__sink_text *text = (struct ktr__sink_text *)(void *)sink;
	struct ktr__out *out = text->out;
	int rc = ktr__out_line(out);

	if (rc)
		return rc;
	if (text->colour)
		ktr__out_text(out, TEXT_ALARM);
	ktr__out_text(out, "--- ");
	ktr__out_number(out, loss->n_events, 0, ' ');
	ktr__out_text(out, loss->n_events == 1 ? " event lost on cpu " : " events lost on cpu ");
	ktr__out_number(out, loss->cpu, 0, ' ');
	ktr__out_text(out, loss->keep ? " (keep ring) " : " ");
	if (loss->from_ns) {
		ktr__out_text(out, loss->to_ns ? "between " : "after ");
		sink_text_when(text, loss->from_ns);
	}
	if (loss->to_ns) {
		ktr__out_text(out, loss->from_ns ? " and " : "before ");
		sink_text_when(text, loss->to_ns);
	}
	ktr__out_text(out, " ---");
	if (text->colour)
		ktr__out_text(out, TEXT_NORMAL);
	ktr__out_char(out, '\n');
	text->n_lost += loss->n_events;
	return 0;
}

void ktr__sink_text_header(struct ktr__sink_text *text)
{
	if (ktr__out_line(text->out))
		return;
	for (unsigned i = 0; i < TEXT_N_COLUMNS; i++) {
		const struct sink_text_column *column = &sink_text_columns[i];
		unsigned width = sink_text_width(text, column);
		int right = (column->bit & (KTR__TEXT_INDEX | KTR__TEXT_TIME | KTR__TEXT_CPU)) != 0;

		if (!(text->columns & column->bit))
			continue;
		if (right)
			ktr__out_fill(text->out, ' ', width - strlen(column->name));
		ktr__out_visible(text->out, column->name, strlen(column->name), right ? 0 : width);
		ktr__out_char(text->out, ' ');
	}
	ktr__out_text(text->out, "text\n");
}

void ktr__sink_text_init(struct ktr__sink_text *text)
{
	text->sink.event = sink_text_event;
	text->sink.loss = sink_text_loss;
	text->sink.note = NULL;
}

/* ---- by several threads ---- */

static struct ktr_sink *sink_text_hire(void *of, struct ktr__out *out)
{
	const struct ktr__sink_text *like = of;
	struct ktr__sink_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->out = out;
	text->info = like->info;
	text->columns = like->columns;
	text->time = like->time;
	text->colour = like->colour;
	text->raw = like->raw;
	ktr__sink_text_init(text);
	if (like->symbols)
		text->symbols = ktr__symbols_like(like->symbols);
	if (!like->symbols == !text->symbols)
		return &text->sink;
	free(text);
	return NULL;
}

static void sink_text_begin(struct ktr_sink *sink, uint64_t n_events, uint64_t last_ns)
{
	struct ktr__sink_text *text = (struct ktr__sink_text *)(void *)sink;

	text->n_events = n_events;
	text->last_ns = last_ns;
}

static void sink_text_leave(struct ktr_sink *sink)
{
	struct ktr__sink_text *text = (struct ktr__sink_text *)(void *)sink;

	ktr__symbols_free(text->symbols);
	free(text);
}

static int sink_text_write(void *of, const char *bytes, size_t n)
{
	return ktr__out_write(((struct ktr__sink_text *)of)->out, bytes, n);
}

const struct ktr__crew_trade ktr__sink_text_trade = {
	.hire = sink_text_hire,
	.begin = sink_text_begin,
	.leave = sink_text_leave,
	.write = sink_text_write,
};
