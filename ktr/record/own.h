/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process's own session: what it is, its tables, its writer, and the one line on stderr that says what could
 * not be had.
 */
#ifndef KTR_OWN_H
#define KTR_OWN_H

#include "ktr/record/record.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <ktr/error.h>

/* Valid once ktr__rec.path is set; map NULL before, and for good where no session could be made. */
extern struct ktr__session_rw ktr__own;

extern bool ktr__own_asked;  /* somebody asked for tracing: only then does anything complain */
extern bool ktr__own_apart;  /* meant to share a session, and could not */
extern bool ktr__own_orphan; /* no handler told this process that it is a child: it has no writer */

/* The same for libktr-probe. map NULL where there is none. */
const struct ktr__session_rw *ktr__own_session(void);

/*
 * Rows and strings of append-only tables. 0: the table, or the file system, is full. touch() makes bytes of a
 * region present before they are written or read; false: they cannot be. All async-signal-safe.
 */
static inline bool ktr__table_touch(enum ktr_region_id region, uint64_t offset, uint64_t n_bytes)
{
	return ktr__session_touch(&ktr__own, region, offset, n_bytes);
}

static inline uint32_t ktr__table_row(uint32_t *cursor, enum ktr_region_id region)
{
	return ktr__session_row(&ktr__own, cursor, region);
}

static inline uint32_t ktr__table_string(const char *text, size_t n_bytes)
{
	return ktr__session_put(&ktr__own, text, n_bytes);
}

/* The writer's flush and stop (ktr/load/writer_hook.h) where this process may have one, else -ESRCH. */
int ktr__own_flush(void);
void ktr__own_stop(void);

/* Prints a line, unless the process is in a sandbox. */
__attribute__((format(printf, 1, 2))) void ktr__complain(const char *format, ...);
void ktr__complain_error(const char *what, const struct ktr_error *err); /* "what: the error" */

#endif
