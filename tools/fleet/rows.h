/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of an answer in the format RowBinary, one by one as they come. Whatever the server sends, no row is longer
 * than ROWS_ROW_MAX, and a text no longer than whoever takes it allows.
 *
 *	static int take(void *context, struct rows_at *row)
 *	{
 *		uint64_t ts = rows_number(row, 8);
 *		const char *text = rows_text(row, 512, &n);
 *		return row->bad ? 0 : ...;
 *	}
 *	struct rows rows = { .take = take, .context = this };
 *	store_ask(store, "SELECT ts, s0 FROM ... FORMAT RowBinary", rows_sink, &rows, &answer);
 *	rows_end(&rows)
 */
#ifndef FLEET_ROWS_H
#define FLEET_ROWS_H

#include "tools/fleet/native.h"

#define ROWS_ROW_MAX ((size_t)1 << 20) /* [bytes] */

/* Where in a row it is read. */
struct rows_at {
	const uint8_t *at, *end;
	int bad;   /* 1: there are fewer bytes than that, or it makes no sense */
	int wrong; /* 1: it makes no sense, however much follows */
};

/* Takes a row, when row->bad is 0. 0, or another number, which ends it all. */
typedef int rows_take_fn(void *context, struct rows_at *row);

struct rows {
	rows_take_fn *take;
	void *context;
	struct native_buffer left; /* of a row that is not complete */
	uint64_t n_rows;
	int rc; /* what take() returned; -EPROTO: the answer makes no sense */
};

/* A store_sink_fn. */
int rows_sink(void *rows, const uint8_t *bytes, size_t n);

/*
 * After the last piece, and at any time: 0, or rows->rc; -EPROTO, too, when a row is not complete. Gives memory
 * back.
 */
int rows_end(struct rows *rows);

/* A little-endian number of so many bytes. */
uint64_t rows_number(struct rows_at *row, unsigned n_bytes);

/* A text of at most `most` bytes, *n of them, without a NUL; it lies in the answer. */
const char *rows_text(struct rows_at *row, size_t most, size_t *n);

#endif
