/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows and strings of a session's append-only tables, for whoever has it mapped to write. Memory is made
 * present before it is written or read, because a fault in a full file system is a SIGBUS.
 */
#ifndef KTR_TABLE_H
#define KTR_TABLE_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktr__session_rw;

#define KTR__TABLE_DUMPED (256u << 10) /* [bytes] of each table that go into a core whoever made the rows */
#define KTR__STRING_BYTES 4096u /* [bytes] a string of the session has no more, its NUL included */

/* Makes the pages present and writable in this process. 0 or -errno. Async-signal-safe. */
int ktr__populate(void *at, size_t bytes);

/* The same for a region; a row of a table; a string; the mask of a class, bound if need be. 0: no room. */
bool ktr__session_touch(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t offset,
			uint64_t n_bytes);
uint32_t ktr__session_row(const struct ktr__session_rw *session, uint32_t *cursor, enum ktr_region_id region);
uint32_t ktr__session_put(const struct ktr__session_rw *session, const char *text, size_t n_bytes);
uint64_t ktr__session_class(const struct ktr__session_rw *session, const char *name, const char *help);
void ktr__table_forget(void); /* this process has another session now */

/*
 * Row `index` of a table, present; NULL: the table has none, or there is no memory for it. For numbers that lie
 * in the session, where anybody may have written them: nobody may ever have touched what they lead to. row() is
 * for what has a state, and gives those that are KTR_ROW_READY or KTR_ROW_GONE. Async-signal-safe.
 */
void *ktr__session_at(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t index);
void *ktr__session_ready(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t index);

/*
 * The string at an offset of the string table, which others write to: *n bytes of it, KTR__STRING_BYTES at
 * most, lie in the table. After those may be anything.
 */
const char *ktr__session_bytes(const struct ktr__session_rw *session, uint32_t offset, size_t *n);

/* Rows of the site table handed out so far, the one of "none" included. */
uint32_t ktr__session_n_sites(const struct ktr__session_rw *session);

#endif
