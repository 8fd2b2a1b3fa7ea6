/* SPDX-License-Identifier: BSD-2-Clause */
/* See parquet_rows.h. */
#include "visualize/export/parquet_rows.h"

#include "analyze/print/render.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "conf/kit/copy.h"
#include "conf/kit/utf8.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROWS_TEXT_MOST 2048u /* [bytes] of a text; more is cut off */
#define ROWS_PIECE     32u /* [bytes] most texts are shorter, and copied by one copy of a fixed length */

const struct ktr__parquet_column ktr__parquet_columns[KTR__PARQUET_COLUMNS] = {
#define ROWS_COLUMN(name, type, optional) { #name, KTR__PARQUET_##type, optional },
	KTR__PARQUET_LIST(ROWS_COLUMN)
};

/* A text as it stands in its column, among those that are kept. */
struct rows_kept {
	size_t at;
	uint32_t n; /* [bytes] 0: not made yet */
};

/* The columns of a call site's texts, and of a thread's. */
static const uint8_t rows_site_columns[] = { KTR__PARQUET_kind, KTR__PARQUET_class, KTR__PARQUET_file,
					     KTR__PARQUET_func, KTR__PARQUET_group };
static const uint8_t rows_thread_columns[] = { KTR__PARQUET_thread, KTR__PARQUET_process };

struct ktr__parquet_site {
	struct rows_kept text[sizeof(rows_site_columns)];
	uint32_t line;
	unsigned n_numbers;
	uint8_t arg[KTR_ARGS_MAX], column[KTR_ARGS_MAX]; /* its numbers, and where they go */
};

struct ktr__parquet_thread {
	struct rows_kept text[sizeof(rows_thread_columns)];
	uint32_t pid, tid;
};

/* ---- values ---- */

/* [bytes] that each value of a column takes; 0: text. */
static unsigned rows_width(unsigned column)
{
	int type = ktr__parquet_columns[column].type;

	return type == KTR__PARQUET_TEXT ? 0 : type == KTR__PARQUET_INT32 ? 4 : 8;
}

int ktr__parquet_clear(struct ktr__parquet_rows *rows)
{
	for (unsigned i = 0; i < KTR__PARQUET_COLUMNS; i++) {
		size_t levels = ktr__parquet_columns[i].optional ? KTR__PARQUET_LEVELS : 0;
		struct ktr__column *to = &rows->values[i];

		ktr__column_clear(to);
		if (ktr__column_room(to, levels + (size_t)rows_width(i) * KTR__PARQUET_ROWS) != 0)
			return -ENOMEM;
		to->n = levels;
	}
	rows->n = 0;
	memset(rows->there, 0, sizeof(rows->there));
	return 0;
}

/* There is room for these in any case. */
static inline void rows_i32(struct ktr__parquet_rows *rows, unsigned column, uint32_t number)
{
	struct ktr__column *to = &rows->values[column];

	memcpy(to->bytes + to->n, &number, 4);
	to->n += 4;
}

static inline void rows_word(struct ktr__parquet_rows *rows, unsigned column, uint64_t word)
{
	struct ktr__column *to = &rows->values[column];

	memcpy(to->bytes + to->n, &word, 8);
	to->n += 8;
}

static inline void rows_is_there(struct ktr__parquet_rows *rows, unsigned column)
{
	rows->there[column][rows->n / 8] |= (uint8_t)(1u << rows->n % 8);
}

/* The last n rows, this one not counted, have a value. */
static void rows_are_there(struct ktr__parquet_rows *rows, unsigned column, uint32_t n)
{
	uint8_t *there = rows->there[column];
	uint32_t from = rows->n - n;

	for (; from < rows->n && from % 8; from++)
		there[from / 8] |= (uint8_t)(1u << from % 8);
	for (; from + 8 <= rows->n; from += 8)
		there[from / 8] = 0xff;
	for (; from < rows->n; from++)
		there[from / 8] |= (uint8_t)(1u << from % 8);
}

/* Adds a text to a column or to those that are kept. */
static inline void rows_text(struct ktr__column *to, const char *bytes, size_t n, int is_plain)
{
	uint32_t length;

	n = n < ROWS_TEXT_MOST ? n : ROWS_TEXT_MOST;
	if (ktr__column_room(to, 4 + 4 * n + 1) != 0)
		return;
	length = (uint32_t)n;
	if (is_plain || ktr__utf8_is_plain(bytes, n))
		ktr__copy((char *)to->bytes + to->n + 4, bytes, n);
	else
		length = (uint32_t)ktr__label_clean((char *)to->bytes + to->n + 4, 4 * n + 1, bytes, n);
	memcpy(to->bytes + to->n, &length, 4);
	to->n += 4 + length;
}

/* ---- runs ---- */

static void rows_keep(struct ktr__parquet_fill *fill, struct rows_kept *kept, const char *text)
{
	struct ktr__column *to = &fill->kept;

	kept->at = to->n;
	rows_text(to, text ? text : "", text ? strlen(text) : 0, 0);
	kept->n = (uint32_t)(to->n - kept->at);
	ktr__column_room(to, ROWS_PIECE);
}

/* Puts a kept text into so many rows. */
static void rows_repeat(struct ktr__parquet_fill *fill, unsigned column, const struct rows_kept *kept, uint32_t n)
{
	struct ktr__column *to = &fill->rows->values[column];
	const uint8_t *from = fill->kept.bytes + kept->at;
	uint8_t *at, *end;

	if (ktr__column_room(to, (size_t)n * kept->n + ROWS_PIECE) != 0)
		return;
	at = to->bytes + to->n;
	end = at + (size_t)n * kept->n;
	to->n += (size_t)n * kept->n;
	if (kept->n <= ROWS_PIECE)
		for (; at < end; at += kept->n)
			memcpy(at, from, ROWS_PIECE);
	else
		for (; at < end; at += kept->n)
			memcpy(at, from, kept->n);
}

static void rows_repeat_i32(struct ktr__parquet_fill *fill, unsigned column, uint32_t number, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rows_i32(fill->rows, column, number);
}

static void rows_settle_site(struct ktr__parquet_fill *fill)
{
	const struct ktr__parquet_site *site = &fill->site[fill->site_id];
	uint32_t n = fill->n_of_site;

	rows_repeat_i32(fill, KTR__PARQUET_line, site->line, n);
	for (unsigned i = 0; i < sizeof(rows_site_columns); i++)
		rows_repeat(fill, rows_site_columns[i], &site->text[i], n);
	for (unsigned i = 0; i < site->n_numbers; i++)
		rows_are_there(fill->rows, site->column[i], n);
	fill->n_of_site = 0;
}

static void rows_settle_thread(struct ktr__parquet_fill *fill)
{
	const struct ktr__parquet_thread *thread = &fill->thread[fill->thread_id];
	uint32_t n = fill->n_of_thread;

	rows_repeat_i32(fill, KTR__PARQUET_pid, thread->pid, n);
	rows_repeat_i32(fill, KTR__PARQUET_tid, thread->tid, n);
	for (unsigned i = 0; i < sizeof(rows_thread_columns); i++)
		rows_repeat(fill, rows_thread_columns[i], &thread->text[i], n);
	fill->n_of_thread = 0;
}

int ktr__parquet_settle(struct ktr__parquet_fill *fill)
{
	if (fill->kept.error)
		return -ENOMEM;
	if (fill->n_of_site)
		rows_settle_site(fill);
	if (fill->n_of_thread)
		rows_settle_thread(fill);
	return 0;
}

/* Begins the run of a call site, whose texts are made when its first event comes. 0 or -ENOMEM. */
static int rows_begin_site(struct ktr__parquet_fill *fill, const struct ktr_reader_site *site)
{
	const char *texts[] = { ktr__ktrgraph_text(site->kind), site->class_name, site->file, site->func,
				site->group };
	struct ktr__parquet_site *s;

	if (fill->n_of_site)
		rows_settle_site(fill);
	if (ktr__array_grow(&fill->site, &fill->n_sites, site->id, sizeof(*s)) != 0)
		return -ENOMEM;
	fill->site_id = site->id;
	s = &fill->site[site->id];
	if (s->text[0].n != 0)
		return 0;
	for (unsigned i = 0; i < sizeof(rows_site_columns); i++)
		rows_keep(fill, &s->text[i], texts[i]);
	s->line = site->line;
	for (unsigned i = 0; i < site->n_args; i++) {
		if (site->arg[i].type == KTR_ARG_STR || site->arg[i].type == KTR_ARG_STACK)
			continue;
		s->arg[s->n_numbers] = (uint8_t)i;
		s->column[s->n_numbers++] = (uint8_t)(
			(site->arg[i].type == KTR_ARG_F64 ? KTR__PARQUET_real0 : KTR__PARQUET_arg0) + i);
	}
	return fill->kept.error ? -ENOMEM : 0;
}

static int rows_begin_thread(struct ktr__parquet_fill *fill, const struct ktr_reader_thread *thread)
{
	struct ktr__parquet_thread *t;

	if (fill->n_of_thread)
		rows_settle_thread(fill);
	if (ktr__array_grow(&fill->thread, &fill->n_threads, thread->id, sizeof(*t)) != 0)
		return -ENOMEM;
	fill->thread_id = thread->id;
	t = &fill->thread[thread->id];
	if (t->text[0].n != 0)
		return 0;
	rows_keep(fill, &t->text[0], thread->name);
	rows_keep(fill, &t->text[1], thread->process);
	t->pid = thread->pid;
	t->tid = thread->tid;
	return fill->kept.error ? -ENOMEM : 0;
}

/* ---- rows ---- */

/* What the event says, written where it is to be: seldom something of it is not clean. Is it known to be? */
static int rows_message(struct ktr__parquet_rows *rows, const struct ktr_event *event)
{
	struct ktr__column *to = &rows->values[KTR__PARQUET_message];
	char *at, text[ROWS_TEXT_MOST];
	uint32_t length;
	int is_plain;
	size_t n;

	if (ktr__column_room(to, 4 + ROWS_TEXT_MOST) != 0)
		return 0;
	at = (char *)to->bytes + to->n + 4;
	n = ktr__render_line(event, NULL, 0, at, ROWS_TEXT_MOST, &is_plain);
	n = n < ROWS_TEXT_MOST ? n : ROWS_TEXT_MOST - 1;
	if (!is_plain && !ktr__utf8_is_plain(at, n)) {
		memcpy(text, at, n);
		rows_text(to, text, n, 0);
		return 0;
	}
	length = (uint32_t)n;
	memcpy(to->bytes + to->n, &length, 4);
	to->n += 4 + n;
	return is_plain;
}

/* A string or stack. is_plain: known to be. */
static inline void rows_payload(struct ktr__parquet_fill *fill, const struct ktr_event *event, unsigned i,
				int is_plain)
{
	struct ktr__column *to = &fill->rows->values[KTR__PARQUET_text0 + i];
	const struct ktr_event_bytes *str = &event->str[i];
	char stack[KTR__STACK_TEXT];

	if (event->site->arg[i].type == KTR_ARG_STACK)
		rows_text(to, stack, ktr__stack_text(event, i, ktr__reader_symbols(fill->reader), " < ", stack), 0);
	else if (str->is_null)
		return;
	else
		rows_text(to, str->bytes, str->n_bytes, is_plain);
	rows_is_there(fill->rows, KTR__PARQUET_text0 + i);
}

/* What rows of both kinds have; the row counts when the caller is done with it. */
static inline void rows_begin(struct ktr__parquet_rows *rows, uint64_t ns, uint32_t cpu)
{
	if (rows->n == 0 || ns < rows->least_ns)
		rows->least_ns = ns;
	if (rows->n == 0 || ns > rows->greatest_ns)
		rows->greatest_ns = ns;
	rows_word(rows, KTR__PARQUET_ts_ns, ns);
	rows_i32(rows, KTR__PARQUET_cpu, cpu);
}

int ktr__parquet_event(struct ktr__parquet_fill *fill, const struct ktr_event *event)
{
	struct ktr__parquet_rows *rows = fill->rows;
	const struct ktr__parquet_site *site;
	int is_plain;

	if ((fill->n_of_site == 0 || fill->site_id != event->site->id) && rows_begin_site(fill, event->site) != 0)
		return -ENOMEM;
	if ((fill->n_of_thread == 0 || fill->thread_id != event->thread->id) &&
	    rows_begin_thread(fill, event->thread) != 0)
		return -ENOMEM;
	site = &fill->site[fill->site_id];
	rows_begin(rows, event->time_ns, event->cpu);
	is_plain = rows_message(rows, event);
	for (unsigned i = 0; i < site->n_numbers; i++)
		rows_word(rows, site->column[i], event->arg[site->arg[i]]);
	for (unsigned left = event->site->in_str; left; left &= left - 1)
		rows_payload(fill, event, (unsigned)__builtin_ctz(left), is_plain);
	fill->n_of_site++;
	fill->n_of_thread++;
	rows->n++;
	return 0;
}

int ktr__parquet_loss(struct ktr__parquet_fill *fill, const struct ktr_loss *loss, uint64_t first_ns)
{
	static const unsigned texts[] = { KTR__PARQUET_thread, KTR__PARQUET_process, KTR__PARQUET_class,
					  KTR__PARQUET_file,   KTR__PARQUET_func,    KTR__PARQUET_group };
	struct ktr__parquet_rows *rows = fill->rows;
	char text[48];
	int n, rc = ktr__parquet_settle(fill);

	if (rc != 0)
		return rc;
	n = snprintf(text, sizeof(text), "%" PRIu64 " events lost", loss->n_events);
	rows_begin(rows, loss->from_ns ? loss->from_ns : first_ns, loss->cpu);
	rows_text(&rows->values[KTR__PARQUET_kind], "loss", 4, 0);
	rows_i32(rows, KTR__PARQUET_pid, 0);
	rows_i32(rows, KTR__PARQUET_tid, 0);
	rows_i32(rows, KTR__PARQUET_line, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		rows_text(&rows->values[texts[i]], "", 0, 0);
	rows_text(&rows->values[KTR__PARQUET_message], text, (size_t)n, 0);
	rows_word(rows, KTR__PARQUET_arg0, loss->n_events);
	rows_is_there(rows, KTR__PARQUET_arg0);
	rows->n++;
	return 0;
}

void ktr__parquet_fill_free(struct ktr__parquet_fill *fill)
{
	free(fill->kept.bytes);
	free(fill->site);
	free(fill->thread);
}
