/* SPDX-License-Identifier: BSD-2-Clause */
/* The cursor of a stream, from its end to its beginning. */
#ifndef ANALYZE_TRACE_BACK_H
#define ANALYZE_TRACE_BACK_H

#include "analyze/read/trace_cursor.h"

/* Makes a new cursor without parts one that goes backward. Returns 0 or -ENOMEM. */
int ktr__trace_reverse(struct ktr__trace_cursor *t);

#endif
