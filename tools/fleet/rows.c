/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/rows.h"

#include <errno.h>
#include <string.h>

uint64_t rows_number(struct rows_at *row, unsigned n_bytes)
{
	uint64_t number = 0;

	if ((size_t)(row->end - row->at) < n_bytes) {
		row->bad = 1;
		row->at = row->end;
		return 0;
	}
	memcpy(&number, row->at, n_bytes); /* little-endian */
	row->at += n_bytes;
	return number;
}

const char *rows_text(struct rows_at *row, size_t most, size_t *n)
{
	uint64_t length = 0;
	unsigned shift = 0;
	const char *text;
	uint8_t byte;

	*n = 0;
	do {
		byte = (uint8_t)rows_number(row, 1);
		length |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 35);
	if (length > most || byte & 0x80)
		row->bad = row->wrong = 1;
	if (row->bad || (uint64_t)(row->end - row->at) < length) {
		row->bad = 1;
		row->at = row->end;
		return "";
	}
	text = (const char *)row->at;
	row->at += length;
	*n = (size_t)length;
	return text;
}

/* Takes the whole rows of some bytes. Returns how many bytes they had. */
static size_t rows_take(struct rows *rows, const uint8_t *bytes, size_t n)
{
	size_t done = 0;

	while (done < n && !rows->rc) {
		struct rows_at row = { bytes + done, bytes + n, 0, 0 };
		int rc = rows->take(rows->context, &row);

		if (row.wrong || (row.bad && n - done >= ROWS_ROW_MAX))
			rc = -EPROTO;
		else if (row.bad)
			break;
		rows->rc = rc;
		rows->n_rows += !rc;
		done = (size_t)(row.at - bytes);
	}
	return done;
}

int rows_sink(void *context, const uint8_t *bytes, size_t n)
{
	struct rows *rows = context;
	size_t done = 0;

	if (!rows->left.n)
		done = rows_take(rows, bytes, n);
	native_buffer_add(&rows->left, bytes + done, n - done);
	if (!done && !rows->rc && !rows->left.failed) {
		done = rows_take(rows, rows->left.at, rows->left.n);
		memmove(rows->left.at, rows->left.at + done, rows->left.n - done);
		rows->left.n -= done;
	}
	if (rows->left.failed)
		rows->rc = -ENOMEM;
	return rows->rc ? -1 : 0;
}

int rows_end(struct rows *rows)
{
	int rc = rows->rc ? rows->rc : rows->left.n ? -EPROTO : 0;

	native_buffer_free(&rows->left);
	return rc;
}
