/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache Parquet: a column after the other, in groups of KTR__PARQUET_ROWS rows, each one page of plain values,
 * compressed by Snappy where ktr was built with it. The footer is Thrift's compact protocol, of which little
 * is needed. With threads, one compresses and writes a group while the other fills the next one.
 *
 * What rows hold, parquet_rows.h says. Strings are clean.
 *
 * https://parquet.apache.org/docs/file-format/ and parquet.thrift have the fields.
 */
#include "visualize/export/exports.h"
#include "visualize/export/parquet_rows.h"
#include "visualize/export/thrift.h"
#include "visualize/model/column.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#if KTR_HAVE_SNAPPY
#include <snappy-c.h>
#endif

#define PARQUET_BLOCK 65536u /* [bytes] Snappy packs so many by themselves */
#define PARQUET_SOME  256u /* rows after which that is tried */

struct parquet {
	struct ktr__parquet_rows rows[2]; /* one is filled, the other may be written by a thread meanwhile */
	struct ktr__parquet_fill fill;
	/* Of who writes, which is one at a time: */
	const struct ktr__parquet_rows *writes;
	int is_writing, rc; /* a thread is; what it returned */
	int error; /* of writing: 0 or -errno */
	pthread_t writer;
	struct ktr__column early[KTR__PARQUET_COLUMNS]; /* of the group that is filled: what is packed already */
	uint64_t n_early[KTR__PARQUET_COLUMNS]; /* [bytes] of what */
	struct ktr__column footer; /* row groups */
	struct ktr__column page, packed, text;
	uint64_t n_rows, n_groups, offset;
};

/* ---- pages ---- */

/* The page as it is written. Readers in browsers know Snappy and plain pages, and not all know zlib's. */
#if KTR_HAVE_SNAPPY
#define PARQUET_CODEC 1

/* Adds what Snappy makes of them; is_part: without how many bytes there were, which it begins with. */
static void parquet_pack(struct ktr__column *to, const uint8_t *bytes, size_t n, int is_part)
{
	size_t n_packed = snappy_max_compressed_length(n), head = 0;
	uint8_t *at;

	if (ktr__column_room(to, n_packed) != 0)
		return;
	at = to->bytes + to->n;
	if (snappy_compress((const char *)bytes, n, (char *)at, &n_packed) != SNAPPY_OK) {
		to->error = -ENOMEM;
		return;
	}
	while (is_part && at[head++] & 0x80)
		;
	if (head != 0)
		memmove(at, at + head, n_packed - head);
	to->n += n_packed - head;
}

#else
#define PARQUET_CODEC 0

static void parquet_pack(struct ktr__column *to, const uint8_t *bytes, size_t n, int is_part)
{
	(void)is_part;
	ktr__column_bytes(to, bytes, n);
}
#endif

/*
 * Packs what there is of columns without levels, as far as Snappy packs it by itself: so it is still in the core's
 * cache, and takes less memory. 0 or -ENOMEM.
 */
static int parquet_pack_early(struct parquet *p)
{
	int rc = ktr__parquet_settle(&p->fill);

	for (unsigned i = 0; i < KTR__PARQUET_COLUMNS && rc == 0; i++) {
		struct ktr__column *values = &p->fill.rows->values[i];
		size_t at = 0;

		if (ktr__parquet_columns[i].optional || values->n < PARQUET_BLOCK)
			continue;
		for (; values->n - at >= PARQUET_BLOCK; at += PARQUET_BLOCK)
			parquet_pack(&p->early[i], values->bytes + at, PARQUET_BLOCK, 1);
		memmove(values->bytes, values->bytes + at, values->n - at);
		values->n -= at;
		p->n_early[i] += at;
		rc = p->early[i].error;
	}
	return rc;
}

/* The page as it is written, into p->packed. */
static int parquet_page(struct parquet *p, unsigned column, const uint8_t *page, size_t n)
{
	struct ktr__column *to = &p->packed;

	ktr__column_clear(to);
	if (p->n_early[column] != 0) {
		ktr__column_number(to, p->n_early[column] + n);
		ktr__column_bytes(to, p->early[column].bytes, p->early[column].n);
	}
	parquet_pack(to, page, n, p->n_early[column] != 0);
	ktr__column_clear(&p->early[column]);
	p->n_early[column] = 0;
	return to->error;
}

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
	uint8_t *end = p->writes->values[column].bytes + KTR__PARQUET_LEVELS;

	ktr__column_clear(to);
	ktr__column_number(to, (uint64_t)groups << 1 | 1);
	ktr__column_bytes(to, p->writes->there[column], groups);
	length = (uint32_t)to->n;
	memcpy(end - length, to->bytes, length);
	memcpy(end - length - 4, &length, 4);
	return KTR__PARQUET_LEVELS - 4 - length;
}

/* Describes the column's chunk in the footer. */
static void parquet_describe(struct parquet *p, unsigned column, uint64_t at, uint64_t raw)
{
	struct ktr__column *to = &p->footer;
	unsigned last = 0, inner = 0, part = 0;

	ktr__thrift_number(to, &last, 2, KTR__THRIFT_I64, (int64_t)at);
	ktr__thrift_field(to, &last, 3, KTR__THRIFT_STRUCT);
	ktr__thrift_number(to, &inner, 1, KTR__THRIFT_I32, ktr__parquet_columns[column].type);
	ktr__thrift_list(to, &inner, 2, KTR__THRIFT_I32, 2);
	ktr__column_signed(to, 0); /* plain */
	ktr__column_signed(to, 3); /* levels: runs */
	ktr__thrift_list(to, &inner, 3, KTR__THRIFT_BINARY, 1);
	ktr__thrift_bytes(to, ktr__parquet_columns[column].name,
			     strlen(ktr__parquet_columns[column].name));
	ktr__thrift_number(to, &inner, 4, KTR__THRIFT_I32, PARQUET_CODEC);
	ktr__thrift_number(to, &inner, 5, KTR__THRIFT_I64, p->writes->n);
	ktr__thrift_number(to, &inner, 6, KTR__THRIFT_I64, (int64_t)raw);
	ktr__thrift_number(to, &inner, 7, KTR__THRIFT_I64, (int64_t)(p->offset - at));
	ktr__thrift_number(to, &inner, 9, KTR__THRIFT_I64, (int64_t)at);
	if (column == KTR__PARQUET_ts_ns) {
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
	skip = ktr__parquet_columns[column].optional ? parquet_levels(p, column) : 0;
	n_page = p->n_early[column] + values->n - skip;
	if (p->text.error || parquet_page(p, column, values->bytes + skip, values->n - skip) != 0)
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

	ktr__thrift_list(&p->footer, &last, 1, KTR__THRIFT_STRUCT, KTR__PARQUET_COLUMNS);
	for (unsigned i = 0; i < KTR__PARQUET_COLUMNS && rc == 0; i++)
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

static int parquet_flush(struct ktr__export *e)
{
	struct parquet *p = e->data;
	int rc = parquet_wait(p);

	if (rc != 0 || p->fill.rows->n == 0)
		return rc;
	rc = ktr__parquet_settle(&p->fill);
	if (rc != 0)
		return rc;
	p->writes = p->fill.rows;
	if (parquet_hand_over(e))
		p->fill.rows = p->fill.rows == &p->rows[0] ? &p->rows[1] : &p->rows[0];
	else
		rc = parquet_group(e);
	return rc != 0 ? rc : ktr__parquet_clear(p->fill.rows);
}

static int parquet_end_row(struct ktr__export *e)
{
	struct parquet *p = e->data;

	if (p->fill.rows->n == KTR__PARQUET_ROWS)
		return parquet_flush(e);
	/* With threads, all of that is for who writes. */
	if (p->fill.rows->n % PARQUET_SOME == 0 && e->n_threads < 2 && PARQUET_CODEC)
		return parquet_pack_early(p);
	return 0;
}

static int parquet_event(struct ktr__export *e, const struct ktr_event *event)
{
	struct parquet *p = e->data;
	int rc = ktr__parquet_event(&p->fill, event);

	return rc != 0 ? rc : parquet_end_row(e);
}

static int parquet_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct parquet *p = e->data;
	int rc = ktr__parquet_loss(&p->fill, loss, e->info->first_ns);

	return rc != 0 ? rc : parquet_end_row(e);
}

/* ---- the file ---- */

static int parquet_begin(struct ktr__export *e)
{
	struct parquet *p = e->data;

	fputs("PAR1", e->to);
	p->offset = 4;
	p->fill.rows = &p->rows[0];
	p->fill.reader = e->reader;
	return ktr__parquet_clear(p->fill.rows);
}

static void parquet_stop(struct ktr__export *e)
{
	parquet_wait(e->data);
}

static void parquet_free(struct ktr__export *e)
{
	struct parquet *p = e->data;

	for (unsigned i = 0; i < KTR__PARQUET_COLUMNS; i++) {
		free(p->early[i].bytes);
		free(p->rows[0].values[i].bytes);
		free(p->rows[1].values[i].bytes);
	}
	ktr__parquet_fill_free(&p->fill);
	free(p->footer.bytes);
	free(p->page.bytes);
	free(p->packed.bytes);
	free(p->text.bytes);
}

static void parquet_schema(struct ktr__column *to, unsigned *last)
{
	unsigned inner = 0;

	ktr__thrift_list(to, last, 2, KTR__THRIFT_STRUCT, KTR__PARQUET_COLUMNS + 1);
	ktr__thrift_text(to, &inner, 4, "ktr");
	ktr__thrift_number(to, &inner, 5, KTR__THRIFT_I32, KTR__PARQUET_COLUMNS);
	ktr__thrift_end(to);
	for (unsigned i = 0; i < KTR__PARQUET_COLUMNS; i++) {
		inner = 0;
		ktr__thrift_number(to, &inner, 1, KTR__THRIFT_I32, ktr__parquet_columns[i].type);
		ktr__thrift_number(to, &inner, 3, KTR__THRIFT_I32, ktr__parquet_columns[i].optional);
		ktr__thrift_text(to, &inner, 4, ktr__parquet_columns[i].name);
		if (ktr__parquet_columns[i].type == KTR__PARQUET_TEXT)
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
