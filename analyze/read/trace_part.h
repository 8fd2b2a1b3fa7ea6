/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of one stream of a trace, one for each of its directories. */
#ifndef ANALYZE_TRACE_PART_H
#define ANALYZE_TRACE_PART_H

#include "analyze/read/trace_cursor.h"

#include <stdint.h>

/* Adds a part, which is copied. Returns 0 or -ENOMEM. */
int ktr__trace_add_part(struct ktr__trace_cursor *t, const struct ktr__trace_part *part);

/*
 * Has part i open, at its beginning (reverse: its end). One that cannot be opened is noted, and is
 * as if it were empty. Returns 0 or -ENOMEM.
 */
int ktr__trace_open_part(struct ktr__trace_cursor *t, unsigned i);

/* Were parts i - 1 and i written one right after the other? Returns 1 or 0. */
int ktr__trace_adjoins(const struct ktr__trace_cursor *t, unsigned i);

/*
 * Returns the part that holds the time: the first that ends at or after it, in reverse the last one that begins
 * before.
 */
unsigned ktr__trace_find_part(const struct ktr__trace_cursor *t, uint64_t time_ns);

#endif
