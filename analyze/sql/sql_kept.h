/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that are kept in memory, for joins: a query that looks for spans once for each row of another table would
 * read the trace as often. They are read once, at the first such query, and looked up by what they are equal in
 * and by their time from then on.
 */
#ifndef ANALYZE_SQL_KEPT_H
#define ANALYZE_SQL_KEPT_H

#include "analyze/sql/sql_spans.h"

#include <stdint.h>

struct ktr__sql_kept;

/* What is looked for: columns whose hashes are equal, and a time. */
struct ktr__sql_look {
	uint32_t columns; /* bit by bit; they are hashed in their order */
	uint64_t hash;
	uint64_t from_ns, before_ns; /* it begins in [from_ns, before_ns) */
	uint64_t until_ns;           /* and does not end before that */
	/* Where it is. */
	const struct ktr__sql_index *index;
	size_t at, end;
};

/* Takes a list of rows, whatever comes of it. NULL without memory. */
struct ktr__sql_kept *ktr__sql_kept_new(struct ktr__sql_span_row *first);
void ktr__sql_kept_free(struct ktr__sql_kept *kept);

/* The hash of a row in a column; the caller's, since it knows what the column's value is as a result. */
typedef uint64_t ktr__sql_hash_fn(const struct ktr__sql_span_row *row, unsigned column, uint64_t hash);

/* Begins to look. 0 or -ENOMEM. */
int ktr__sql_kept_look(struct ktr__sql_kept *kept, struct ktr__sql_look *look, ktr__sql_hash_fn *hash);

/* The next one that may be looked for, in the order of when they begin; NULL at the end. */
struct ktr__sql_span_row *ktr__sql_kept_next(struct ktr__sql_look *look);

#endif
