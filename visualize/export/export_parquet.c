/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache Parquet: a column after the other, in groups of PARQUET_ROWS rows, each one page of plain values,
 * compressed by Snappy where ktr was built with it. The footer is Thrift's compact protocol, of which little
 * is needed. With threads, one compresses and writes a group while the other fills the next one.
 *
 * A row is an event, or a loss of kind "loss" with its number of events in arg0. An argument is in argN if
 * it is an integer or a pointer (64 bits, unsigned ones as they are), in realN if it is a double, in textN
 * if it is a string or a stack; the other two are null. Strings are clean.
 *
 * https://parquet.apache.org/docs/file-format/ and parquet.thrift have the fields.
 */
#include "analyze/print/render.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "conf/kit/copy.h"
#include "conf/kit/utf8.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_text.h"
#include "visualize/export/thrift.h"
#include "visualize/model/column.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#if KTR_HAVE_SNAPPY
#include <snappy-c.h>
#endif

#define PARQUET_ROWS   65536u
#define PARQUET_LEVELS (4 + 3 + PARQUET_ROWS / 8) /* [bytes] which values are there, of a whole group */
#define PARQUET_TEXT_MOST 2048u /* [bytes] of a text; more is cut off */
#define PARQUET_PIECE  32u /* [bytes] most texts are shorter, and copied by one copy of a fixed length */

enum {
	PARQUET_INT32 = 1,
	PARQUET_INT64 = 2,
	PARQUET_DOUBLE = 5,
	PARQUET_TEXT = 6
}; /* types */

/* Name, type, optional. Those of arguments come as six each, in this order. */
#define PARQUET_COLUMNS(X)                                                                         \
	X(ts_ns, INT64, 0)                                                                         \
	X(cpu, INT32, 0) X(pid, INT32, 0) X(tid, INT32, 0) X(thread, TEXT, 0) X(process, TEXT, 0)  \
		X(kind, TEXT, 0) X(class, TEXT, 0) X(file, TEXT, 0) X(line, INT32, 0) X(           \
			func, TEXT, 0) X(group, TEXT, 0) X(message, TEXT, 0) X(arg0, INT64, 1)     \
			X(arg1, INT64, 1) X(arg2, INT64, 1) X(arg3, INT64, 1) X(arg4, INT64, 1)    \
				X(arg5, INT64, 1) X(real0, DOUBLE, 1) X(real1, DOUBLE, 1) X(       \
					real2, DOUBLE, 1) X(real3, DOUBLE, 1) X(real4, DOUBLE, 1)  \
					X(real5, DOUBLE, 1) X(text0, TEXT, 1) X(text1, TEXT, 1)    \
						X(text2, TEXT, 1) X(text3, TEXT, 1)                \
							X(text4, TEXT, 1) X(text5, TEXT, 1)

enum {
#define PARQUET_ENUM(name, type, optional) COLUMN_##name,
	PARQUET_COLUMNS(PARQUET_ENUM) COLUMNS
};

static const struct {
	const char *name;
	int type, optional;
} parquet_columns[COLUMNS] = {
#define PARQUET_ROW(name, type, optional) { #name, PARQUET_##type, optional },
	PARQUET_COLUMNS(PARQUET_ROW)
};

/* Texts of call sites and of threads, in the order of their columns here. */
enum { PARQUET_KIND, PARQUET_CLASS, PARQUET_FILE, PARQUET_FUNC, PARQUET_GROUP, PARQUET_SITE_TEXTS };
enum { PARQUET_THREAD, PARQUET_PROCESS, PARQUET_THREAD_TEXTS };

/* A text as it stands in its column, among those that are kept. */
struct parquet_kept {
	size_t at;
	uint32_t n; /* [bytes] 0: not made yet */
};

struct parquet_site {
	struct parquet_kept text[PARQUET_SITE_TEXTS];
};

struct parquet_thread {
	struct parquet_kept text[PARQUET_THREAD_TEXTS];
};

/* A group of rows. */
struct parquet_rows {
	struct ktr__column values[COLUMNS]; /* of optional ones, behind PARQUET_LEVELS bytes for which are there */
	uint8_t there[COLUMNS][PARQUET_ROWS / 8]; /* bits: not null */
	uint32_t n;
	uint64_t least_ns, greatest_ns;
};

struct parquet {
	struct parquet_rows rows[2]; /* one is filled, the other may be written by a thread meanwhile */
	struct parquet_rows *fills;
	struct ktr__column kept; /* texts, and PARQUET_PIECE bytes more that are copied along */
	struct parquet_site *site; /* owned, by id */
	struct parquet_thread *thread; /* owned, by id */
	uint32_t n_sites, n_threads;
	/* Of who writes, which is one at a time: */
	const struct parquet_rows *writes;
	int is_writing, rc; /* a thread is; what it returned */
	int error; /* of writing: 0 or -errno */
	pthread_t writer;
	struct ktr__column footer; /* row groups */
	struct ktr__column page, packed, text;
	uint64_t n_rows, n_groups, offset;
};

/* ---- pages ---- */

/* The page as it is written. Readers in browsers know Snappy and plain pages, and not all know zlib's. */
#if KTR_HAVE_SNAPPY
#define PARQUET_CODEC 1

static int parquet_pack(struct parquet *p, const uint8_t *page, size_t n_page)
{
	size_t n = snappy_max_compressed_length(n_page);

	ktr__column_clear(&p->packed);
	if (ktr__column_room(&p->packed, n) != 0 ||
	    snappy_compress((const char *)page, n_page, (char *)p->packed.bytes, &n) != SNAPPY_OK)
		return -ENOMEM;
	p->packed.n = n;
	return 0;
}
#else
#define PARQUET_CODEC 0

static int parquet_pack(struct parquet *p, const uint8_t *page, size_t n_page)
{
	ktr__column_clear(&p->packed);
	ktr__column_bytes(&p->packed, page, n_page);
	return p->packed.error;
}
#endif

static void parquet_write(struct ktr__export *e, struct parquet *p, const struct ktr__column *bytes)
{
	errno = 0;
	if (bytes->n != 0 && fwrite(bytes->bytes, 1, bytes->n, e->to) != bytes->n && p->error == 0)
		p->error = errno != 0 ? -errno : -EIO;
	p->offset += bytes->n;
}

/* Puts which values are there before them: one run of bits. How many bytes of the room for it are left. */
static size_t parquet_levels(struct parquet *p, unsigned column)
{
	uint32_t groups = (p->writes->n + 7) / 8, length;
	struct ktr__column *to = &p->text;
	uint8_t *end = p->writes->values[column].bytes + PARQUET_LEVELS;

	ktr__column_clear(to);
	ktr__column_number(to, (uint64_t)groups << 1 | 1);
	ktr__column_bytes(to, p->writes->there[column], groups);
	length = (uint32_t)to->n;
	memcpy(end - length, to->bytes, length);
	memcpy(end - length - 4, &length, 4);
	return PARQUET_LEVELS - 4 - length;
}

/* Describes the column's chunk in the footer. */
static void parquet_describe(struct parquet *p, unsigned column, uint64_t at, uint64_t raw)
{
	struct ktr__column *to = &p->footer;
	unsigned last = 0, inner = 0, part = 0;

	ktr__thrift_number(to, &last, 2, KTR__THRIFT_I64, (int64_t)at);
	ktr__thrift_field(to, &last, 3, KTR__THRIFT_STRUCT);
	ktr__thrift_number(to, &inner, 1, KTR__THRIFT_I32, parquet_columns[column].type);
	ktr__thrift_list(to, &inner, 2, KTR__THRIFT_I32, 2);
	ktr__column_signed(to, 0); /* plain */
	ktr__column_signed(to, 3); /* levels: runs */
	ktr__thrift_list(to, &inner, 3, KTR__THRIFT_BINARY, 1);
	ktr__thrift_bytes(to, parquet_columns[column].name,
			     strlen(parquet_columns[column].name));
	ktr__thrift_number(to, &inner, 4, KTR__THRIFT_I32, PARQUET_CODEC);
	ktr__thrift_number(to, &inner, 5, KTR__THRIFT_I64, p->writes->n);
	ktr__thrift_number(to, &inner, 6, KTR__THRIFT_I64, (int64_t)raw);
	ktr__thrift_number(to, &inner, 7, KTR__THRIFT_I64, (int64_t)(p->offset - at));
	ktr__thrift_number(to, &inner, 9, KTR__THRIFT_I64, (int64_t)at);
	if (column == COLUMN_ts_ns) {
		ktr__thrift_field(to, &inner, 12, KTR__THRIFT_STRUCT);
		ktr__thrift_field(to, &part, 5, KTR__THRIFT_BINARY);
		ktr__thrift_bytes(to, &p->writes->greatest_ns, 8);
		ktr__thrift_field(to, &part, 6, KTR__THRIFT_BINARY);
		ktr__thrift_bytes(to, &p->writes->least_ns, 8);
		ktr__thrift_end(to);
	}
	ktr__thrift_end(to);
	ktr__thrift_end(to);
}

static int parquet_column(struct ktr__export *e, struct parquet *p, unsigned column)
{
	struct ktr__column *head = &p->text;
	const struct ktr__column *values = &p->writes->values[column];
	unsigned last = 0, inner = 0;
	uint64_t at = p->offset;
	size_t skip, n_page;

	if (values->error)
		return -ENOMEM;
	skip = parquet_columns[column].optional ? parquet_levels(p, column) : 0;
	n_page = values->n - skip;
	if (p->text.error || parquet_pack(p, values->bytes + skip, n_page) != 0)
		return -ENOMEM;
	ktr__column_clear(head);
	ktr__thrift_number(head, &last, 1, KTR__THRIFT_I32, 0); /* a page of data */
	ktr__thrift_number(head, &last, 2, KTR__THRIFT_I32, (int64_t)n_page);
	ktr__thrift_number(head, &last, 3, KTR__THRIFT_I32, (int64_t)p->packed.n);
	ktr__thrift_field(head, &last, 5, KTR__THRIFT_STRUCT);
	ktr__thrift_number(head, &inner, 1, KTR__THRIFT_I32, p->writes->n);
	ktr__thrift_number(head, &inner, 2, KTR__THRIFT_I32, 0); /* plain */
	ktr__thrift_number(head, &inner, 3, KTR__THRIFT_I32, 3);
	ktr__thrift_number(head, &inner, 4, KTR__THRIFT_I32, 3);
	ktr__thrift_end(head);
	ktr__thrift_end(head);
	parquet_write(e, p, head);
	parquet_write(e, p, &p->packed);
	parquet_describe(p, column, at, n_page + head->n);
	return head->error;
}

/* Writes the group. 0 or -errno. */
static int parquet_group(struct ktr__export *e)
{
	struct parquet *p = e->data;
	unsigned last = 0;
	uint64_t at = p->offset;
	int rc = 0;

	ktr__thrift_list(&p->footer, &last, 1, KTR__THRIFT_STRUCT, COLUMNS);
	for (unsigned i = 0; i < COLUMNS && rc == 0; i++)
		rc = parquet_column(e, p, i);
	ktr__thrift_number(&p->footer, &last, 2, KTR__THRIFT_I64, (int64_t)(p->offset - at));
	ktr__thrift_number(&p->footer, &last, 3, KTR__THRIFT_I64, p->writes->n);
	ktr__thrift_end(&p->footer);
	p->n_rows += p->writes->n;
	p->n_groups++;
	if (rc == 0)
		rc = p->error;
	return rc != 0 ? rc : p->footer.error;
}

static void *parquet_writer(void *export)
{
	struct ktr__export *e = export;
	struct parquet *p = e->data;

	p->rc = parquet_group(e);
	return NULL;
}

/* Waits until nobody writes. What the thread returned: 0 or -errno. */
static int parquet_wait(struct parquet *p)
{
	if (!p->is_writing)
		return 0;
	pthread_join(p->writer, NULL);
	p->is_writing = 0;
	return p->rc;
}

/* Has a thread write the group. Is one? */
static int parquet_hand_over(struct ktr__export *e)
{
	struct parquet *p = e->data;
	sigset_t all, before;

	if (e->n_threads < 2)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	p->is_writing = pthread_create(&p->writer, NULL, parquet_writer, e) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return p->is_writing;
}

/* Empties the columns. 0 or -ENOMEM. */
static int parquet_clear(struct parquet_rows *rows)
{
	for (unsigned i = 0; i < COLUMNS; i++) {
		struct ktr__column *to = &rows->values[i];

		ktr__column_clear(to);
		if (!parquet_columns[i].optional)
			continue;
		if (ktr__column_room(to, PARQUET_LEVELS) != 0)
			return -ENOMEM;
		to->n = PARQUET_LEVELS;
	}
	rows->n = 0;
	memset(rows->there, 0, sizeof(rows->there));
	return 0;
}

static int parquet_flush(struct ktr__export *e)
{
	struct parquet *p = e->data;
	int rc = parquet_wait(p);

	if (rc != 0 || p->fills->n == 0)
		return rc;
	p->writes = p->fills;
	if (parquet_hand_over(e))
		p->fills = p->fills == &p->rows[0] ? &p->rows[1] : &p->rows[0];
	else
		rc = parquet_group(e);
	return rc != 0 ? rc : parquet_clear(p->fills);
}

/* ---- rows ---- */

static void parquet_i32(struct parquet *p, unsigned column, uint32_t number)
{
	ktr__column_bytes(&p->fills->values[column], &number, 4);
}

static void parquet_word(struct parquet *p, unsigned column, uint64_t word)
{
	ktr__column_bytes(&p->fills->values[column], &word, 8);
}

static inline void parquet_is_there(struct parquet *p, unsigned column)
{
	p->fills->there[column][p->fills->n / 8] |= (uint8_t)(1u << p->fills->n % 8);
}

/* Adds a text to a column or to those that are kept. */
static void parquet_clean(struct ktr__column *to, const char *bytes, size_t n)
{
	uint32_t length;

	n = n < PARQUET_TEXT_MOST ? n : PARQUET_TEXT_MOST;
	if (ktr__column_room(to, 4 + 4 * n + 1) != 0)
		return;
	length = (uint32_t)n;
	if (ktr__utf8_is_plain(bytes, n))
		ktr__copy((char *)to->bytes + to->n + 4, bytes, n);
	else
		length = (uint32_t)ktr__label_clean((char *)to->bytes + to->n + 4, 4 * n + 1, bytes, n);
	memcpy(to->bytes + to->n, &length, 4);
	to->n += 4 + length;
}

static void parquet_text(struct parquet *p, unsigned column, const char *text)
{
	parquet_clean(&p->fills->values[column], text ? text : "", text ? strlen(text) : 0);
}

static void parquet_keep(struct parquet *p, struct parquet_kept *kept, const char *text)
{
	struct ktr__column *to = &p->kept;

	kept->at = to->n;
	parquet_clean(to, text ? text : "", text ? strlen(text) : 0);
	kept->n = (uint32_t)(to->n - kept->at);
	ktr__column_room(to, PARQUET_PIECE);
}

static inline void parquet_put(struct parquet *p, unsigned column, const struct parquet_kept *kept)
{
	struct ktr__column *to = &p->fills->values[column];
	const uint8_t *from = p->kept.bytes + kept->at;

	if (p->kept.error || ktr__column_room(to, kept->n + PARQUET_PIECE) != 0)
		return;
	if (kept->n <= PARQUET_PIECE)
		memcpy(to->bytes + to->n, from, PARQUET_PIECE);
	else
		memcpy(to->bytes + to->n, from, kept->n);
	to->n += kept->n;
}

/* The texts of a site, made when its first event comes. NULL without memory. */
static const struct parquet_site *parquet_site(struct parquet *p, const struct ktr_reader_site *site)
{
	struct parquet_site *s;

	if (ktr__array_grow(&p->site, &p->n_sites, site->id, sizeof(*s)) != 0)
		return NULL;
	s = &p->site[site->id];
	if (s->text[PARQUET_KIND].n != 0)
		return s;
	parquet_keep(p, &s->text[PARQUET_KIND], ktr__ktrgraph_text(site->kind));
	parquet_keep(p, &s->text[PARQUET_CLASS], site->class_name);
	parquet_keep(p, &s->text[PARQUET_FILE], site->file);
	parquet_keep(p, &s->text[PARQUET_FUNC], site->func);
	parquet_keep(p, &s->text[PARQUET_GROUP], site->group);
	return s;
}

static const struct parquet_thread *parquet_thread(struct parquet *p, const struct ktr_reader_thread *thread)
{
	struct parquet_thread *t;

	if (ktr__array_grow(&p->thread, &p->n_threads, thread->id, sizeof(*t)) != 0)
		return NULL;
	t = &p->thread[thread->id];
	if (t->text[PARQUET_THREAD].n != 0)
		return t;
	parquet_keep(p, &t->text[PARQUET_THREAD], thread->name);
	parquet_keep(p, &t->text[PARQUET_PROCESS], thread->process);
	return t;
}

/* What the event says, written where it is to be: seldom something of it is not clean. */
static void parquet_message(struct parquet *p, const struct ktr_event *event)
{
	struct ktr__column *to = &p->fills->values[COLUMN_message];
	char *at, text[PARQUET_TEXT_MOST];
	uint32_t length;
	int is_plain;
	size_t n;

	if (ktr__column_room(to, 4 + PARQUET_TEXT_MOST) != 0)
		return;
	at = (char *)to->bytes + to->n + 4;
	n = ktr__render_line(event, NULL, 0, at, PARQUET_TEXT_MOST, &is_plain);
	n = n < PARQUET_TEXT_MOST ? n : PARQUET_TEXT_MOST - 1;
	if (!is_plain && !ktr__utf8_is_plain(at, n)) {
		memcpy(text, at, n);
		parquet_clean(to, text, n);
		return;
	}
	length = (uint32_t)n;
	memcpy(to->bytes + to->n, &length, 4);
	to->n += 4 + n;
}

static void parquet_arg(struct ktr__export *e, const struct ktr_event *event, unsigned i)
{
	struct parquet *p = e->data;
	char stack[KTR__STACK_TEXT];

	switch (event->site->arg[i].type) {
	case KTR_ARG_STR:
		if (event->str[i].is_null)
			break;
		parquet_clean(&p->fills->values[COLUMN_text0 + i], event->str[i].bytes, event->str[i].n_bytes);
		parquet_is_there(p, COLUMN_text0 + i);
		break;
	case KTR_ARG_STACK:
		parquet_clean(&p->fills->values[COLUMN_text0 + i], stack,
			      ktr__stack_text(event, i, ktr__reader_symbols(e->reader), " < ", stack));
		parquet_is_there(p, COLUMN_text0 + i);
		break;
	case KTR_ARG_F64:
		parquet_word(p, COLUMN_real0 + i, event->arg[i]);
		parquet_is_there(p, COLUMN_real0 + i);
		break;
	default:
		parquet_word(p, COLUMN_arg0 + i, event->arg[i]);
		parquet_is_there(p, COLUMN_arg0 + i);
	}
}

/* What rows of both kinds have; the row counts when the caller is done with it. */
static void parquet_row(struct parquet *p, uint64_t ns, uint32_t cpu)
{
	if (p->fills->n == 0 || ns < p->fills->least_ns)
		p->fills->least_ns = ns;
	if (p->fills->n == 0 || ns > p->fills->greatest_ns)
		p->fills->greatest_ns = ns;
	parquet_word(p, COLUMN_ts_ns, ns);
	parquet_i32(p, COLUMN_cpu, cpu);
}

static int parquet_end_row(struct ktr__export *e)
{
	struct parquet *p = e->data;

	if (p->kept.error)
		return -ENOMEM;
	return ++p->fills->n == PARQUET_ROWS ? parquet_flush(e) : 0;
}

static int parquet_event(struct ktr__export *e, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	const struct ktr_reader_thread *thread = event->thread;
	struct parquet *p = e->data;
	const struct parquet_site *s = parquet_site(p, site);
	const struct parquet_thread *t = parquet_thread(p, thread);

	if (s == NULL || t == NULL)
		return -ENOMEM;
	parquet_row(p, event->time_ns, event->cpu);
	parquet_i32(p, COLUMN_pid, thread->pid);
	parquet_i32(p, COLUMN_tid, thread->tid);
	parquet_i32(p, COLUMN_line, site->line);
	parquet_put(p, COLUMN_thread, &t->text[PARQUET_THREAD]);
	parquet_put(p, COLUMN_process, &t->text[PARQUET_PROCESS]);
	parquet_put(p, COLUMN_kind, &s->text[PARQUET_KIND]);
	parquet_put(p, COLUMN_class, &s->text[PARQUET_CLASS]);
	parquet_put(p, COLUMN_file, &s->text[PARQUET_FILE]);
	parquet_put(p, COLUMN_func, &s->text[PARQUET_FUNC]);
	parquet_put(p, COLUMN_group, &s->text[PARQUET_GROUP]);
	parquet_message(p, event);
	for (unsigned i = 0; i < site->n_args; i++)
		parquet_arg(e, event, i);
	return parquet_end_row(e);
}

static int parquet_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	static const unsigned texts[] = { COLUMN_thread, COLUMN_process, COLUMN_class,
					  COLUMN_file,   COLUMN_func,    COLUMN_group };
	struct parquet *p = e->data;
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 " events lost", loss->n_events);
	parquet_row(p, loss->from_ns ? loss->from_ns : e->info->first_ns, loss->cpu);
	parquet_text(p, COLUMN_kind, "loss");
	parquet_i32(p, COLUMN_pid, 0);
	parquet_i32(p, COLUMN_tid, 0);
	parquet_i32(p, COLUMN_line, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		parquet_text(p, texts[i], "");
	parquet_text(p, COLUMN_message, text);
	parquet_word(p, COLUMN_arg0, loss->n_events);
	parquet_is_there(p, COLUMN_arg0);
	return parquet_end_row(e);
}

/* ---- the file ---- */

static int parquet_begin(struct ktr__export *e)
{
	struct parquet *p = e->data;

	fputs("PAR1", e->to);
	p->offset = 4;
	p->fills = &p->rows[0];
	return parquet_clear(p->fills);
}

static void parquet_stop(struct ktr__export *e)
{
	parquet_wait(e->data);
}

static void parquet_free(struct ktr__export *e)
{
	struct parquet *p = e->data;

	for (unsigned i = 0; i < COLUMNS; i++) {
		free(p->rows[0].values[i].bytes);
		free(p->rows[1].values[i].bytes);
	}
	free(p->kept.bytes);
	free(p->site);
	free(p->thread);
	free(p->footer.bytes);
	free(p->page.bytes);
	free(p->packed.bytes);
	free(p->text.bytes);
}

static void parquet_schema(struct ktr__column *to, unsigned *last)
{
	unsigned inner = 0;

	ktr__thrift_list(to, last, 2, KTR__THRIFT_STRUCT, COLUMNS + 1);
	ktr__thrift_text(to, &inner, 4, "ktr");
	ktr__thrift_number(to, &inner, 5, KTR__THRIFT_I32, COLUMNS);
	ktr__thrift_end(to);
	for (unsigned i = 0; i < COLUMNS; i++) {
		inner = 0;
		ktr__thrift_number(to, &inner, 1, KTR__THRIFT_I32, parquet_columns[i].type);
		ktr__thrift_number(to, &inner, 3, KTR__THRIFT_I32, parquet_columns[i].optional);
		ktr__thrift_text(to, &inner, 4, parquet_columns[i].name);
		if (parquet_columns[i].type == PARQUET_TEXT)
			ktr__thrift_number(to, &inner, 6, KTR__THRIFT_I32, 0); /* UTF-8 */
		ktr__thrift_end(to);
	}
}

static int parquet_end(struct ktr__export *e)
{
	struct parquet *p = e->data;
	struct ktr__column *to = &p->page;
	unsigned last = 0, inner = 0;
	char digits[24];
	uint32_t length;
	int rc = parquet_flush(e), written = parquet_wait(p);

	if (rc == 0)
		rc = written;
	if (rc != 0) {
		e->error = p->error; /* the file's, if it is one */
		return rc;
	}
	ktr__column_clear(to);
	ktr__thrift_number(to, &last, 1, KTR__THRIFT_I32, 1);
	parquet_schema(to, &last);
	ktr__thrift_number(to, &last, 3, KTR__THRIFT_I64, (int64_t)p->n_rows);
	ktr__thrift_list(to, &last, 4, KTR__THRIFT_STRUCT, p->n_groups);
	ktr__column_bytes(to, p->footer.bytes, p->footer.n);
	ktr__thrift_list(to, &last, 5, KTR__THRIFT_STRUCT, 1);
	snprintf(digits, sizeof(digits), "%" PRId64, e->info->utc_offset_ns);
	ktr__thrift_text(to, &inner, 1, "utc_offset_ns");
	ktr__thrift_text(to, &inner, 2, digits);
	ktr__thrift_end(to);
	ktr__thrift_text(to, &last, 6, "ktr");
	ktr__thrift_end(to);
	length = (uint32_t)to->n;
	fwrite(to->bytes, 1, to->n, e->to);
	fwrite(&length, 4, 1, e->to);
	fputs("PAR1", e->to);
	return to->error;
}

const struct ktr__export_format ktr__export_parquet = {
	.name = "parquet",
	.help = "columns, compressed: DuckDB, ClickHouse, data frames",
	.n_data = sizeof(struct parquet),
	.begin = parquet_begin,
	.event = parquet_event,
	.loss = parquet_loss,
	.end = parquet_end,
	.free = parquet_free,
	.stop = parquet_stop,
	.sharing = KTR__EXPORT_APART,
};
