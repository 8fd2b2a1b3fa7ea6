/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of events and losses in columns, as the pages of Parquet have them.
 *
 * A row is an event, or a loss of kind "loss" with its number of events in arg0. An argument is in argN if
 * it is an integer or a pointer (64 bits, unsigned ones as they are), in realN if it is a double, in textN
 * if it is a string or a stack; the other two are null. Strings are clean.
 *
 * Events of one call site, and of one thread, come in runs: what they have in common is put into its columns when
 * the run is over (ktr__parquet_settle()), so these are shorter than others until then.
 */
#ifndef VISUALIZE_PARQUET_ROWS_H
#define VISUALIZE_PARQUET_ROWS_H

#include "visualize/model/column.h"

#include <ktr/reader.h>

#include <stdint.h>

#define KTR__PARQUET_ROWS   65536u
#define KTR__PARQUET_LEVELS (4 + 3 + KTR__PARQUET_ROWS / 8) /* [bytes] which values are there, of a whole group */

/* Types, as Parquet numbers them. */
enum {
	KTR__PARQUET_INT32 = 1,
	KTR__PARQUET_INT64 = 2,
	KTR__PARQUET_DOUBLE = 5,
	KTR__PARQUET_TEXT = 6
};

/* Name, type, optional. Those of arguments come as six each, in this order. */
#define KTR__PARQUET_LIST(X)                                                                       \
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
#define KTR__PARQUET_ENUM(name, type, optional) KTR__PARQUET_##name,
	KTR__PARQUET_LIST(KTR__PARQUET_ENUM) KTR__PARQUET_COLUMNS
};

struct ktr__parquet_column {
	const char *name;
	int type, optional;
};

extern const struct ktr__parquet_column ktr__parquet_columns[KTR__PARQUET_COLUMNS];

/* A group of rows. */
struct ktr__parquet_rows {
	struct ktr__column values[KTR__PARQUET_COLUMNS]; /* of optional ones, behind room for which are there */
	uint8_t there[KTR__PARQUET_COLUMNS][KTR__PARQUET_ROWS / 8]; /* bits: not null */
	uint32_t n;
	uint64_t least_ns, greatest_ns;
};

struct ktr__parquet_site;
struct ktr__parquet_thread;

/* What fills groups. All zero in the beginning, but for the first two. */
struct ktr__parquet_fill {
	struct ktr__parquet_rows *rows; /* borrowed: what is filled; another one after it was settled */
	struct ktr_reader *reader;	/* borrowed: where events come from */
	struct ktr__column kept; /* texts, each after its length, and bytes more that are copied along */
	struct ktr__parquet_site *site; /* owned, by id */
	struct ktr__parquet_thread *thread; /* owned, by id */
	uint32_t n_sites, n_threads;
	uint32_t site_id, thread_id; /* of the last row */
	uint32_t n_of_site, n_of_thread; /* how many of the last rows are of it, and not settled */
};

/* Empties them, and has room for a group's numbers. 0 or -ENOMEM. */
int ktr__parquet_clear(struct ktr__parquet_rows *rows);

/* Both add a row, of which there must be less than a group has. 0 or -ENOMEM. */
int ktr__parquet_event(struct ktr__parquet_fill *fill, const struct ktr_event *event);
int ktr__parquet_loss(struct ktr__parquet_fill *fill, const struct ktr_loss *loss, uint64_t first_ns);

/* All columns have all rows then. 0 or -ENOMEM. */
int ktr__parquet_settle(struct ktr__parquet_fill *fill);

/* Frees what it owns. */
void ktr__parquet_fill_free(struct ktr__parquet_fill *fill);

#endif
