/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking rows of the session's append-only tables. A row belongs to whoever's atomic add returned its
 * index; nobody waits for anybody, and a process killed in between leaves one row that is never ready.
 * The cursor may run past the end, which is the count of what did not fit. Classes are taken otherwise: a name
 * has one row.
 */
#include "ktr/session/table.h"

#include "ktr/session/session_rw.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* [bytes] populated at a time: small, since every session pays for one of each table. */
#define TABLE_CHUNK 16384u

#define CLASS_HELP_MAX 256 /* bytes of a class's description that are kept */

/* Per region: 1 + the chunk this process populated last. */
static uint64_t table_chunk[KTR_REGIONS];

/* Of pages that are writable already, and go into a core, or are of the hash of sites, which nobody reads there. */
static int table_populate(void *at, size_t length)
{
	if (madvise(at, length, MADV_POPULATE_WRITE) == 0)
		return 0;
	/* EFAULT: a fault would have raised SIGBUS, the file system is full. Others (EINVAL of an old
	 * kernel, EPERM of a seccomp filter) say nothing about the memory. */
	return errno == EFAULT ? -ENOSPC : errno == ENOMEM ? -ENOMEM : -ENOSYS;
}

int ktr__populate(void *at, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t length = (bytes + page - 1) & ~(page - 1);

	if (mprotect(at, length, PROT_READ | PROT_WRITE) != 0)
		return -EACCES;
	madvise(at, length, MADV_DODUMP); /* see session_join.c */
	return table_populate(at, length);
}

void ktr__table_forget(void)
{
	memset(table_chunk, 0, sizeof(table_chunk));
}

bool ktr__session_touch(const struct ktr__session_rw *session, enum ktr_region_id region, uint64_t offset,
			uint64_t n_bytes)
{
	uint64_t first = offset / TABLE_CHUNK, last = (offset + n_bytes - 1) / TABLE_CHUNK;
	uint64_t room = session->header.region[region].bytes;
	char *base = session->map + session->header.region[region].offset;

	/* Some come here with a number that lies in the session. */
	if (!n_bytes || n_bytes > room || offset > room - n_bytes)
		return !n_bytes;
	for (uint64_t chunk = first; chunk <= last; chunk++) {
		int code;

		if (__atomic_load_n(&table_chunk[region], __ATOMIC_RELAXED) == chunk + 1)
			continue;
		if (session->sealed) {
			if (region == KTR_REGION_thread &&
			    offset + n_bytes <= session->sealed * sizeof(struct ktr_thread_row))
				continue;
			return false;
		}
		if (region < KTR_REGION_count && (chunk + 1) * TABLE_CHUNK <= KTR__TABLE_DUMPED)
			code = table_populate(base + chunk * TABLE_CHUNK, TABLE_CHUNK);
		else
			code = ktr__populate(base + chunk * TABLE_CHUNK, TABLE_CHUNK);
		if (code && code != -ENOSYS)
			return false;
		__atomic_store_n(&table_chunk[region], chunk + 1, __ATOMIC_RELAXED);
	}
	return true;
}

uint32_t ktr__session_row(const struct ktr__session_rw *session, uint32_t *cursor, enum ktr_region_id id)
{
	uint32_t row = __atomic_fetch_add(cursor, 1, __ATOMIC_RELAXED);

	if (ktr__session_at(session, id, row))
		return row;
	/* Keep the count of overruns from wrapping round to valid rows: it stops near the top. */
	if (row > UINT32_MAX / 2)
		__atomic_store_n(cursor, UINT32_MAX / 2, __ATOMIC_RELAXED);
	return 0;
}

void *ktr__session_at(const struct ktr__session_rw *session, enum ktr_region_id id, uint64_t index)
{
	const struct ktr_region *region = &session->header.region[id];
	uint64_t at = index * region->row_bytes;

	if (index >= region->n_rows || !ktr__session_touch(session, id, at, region->row_bytes))
		return NULL;
	return session->map + region->offset + at;
}

void *ktr__session_ready(const struct ktr__session_rw *session, enum ktr_region_id id, uint64_t index)
{
	uint32_t *row = ktr__session_at(session, id, index); /* the state is the first word of each */

	return row && __atomic_load_n(row, __ATOMIC_SEQ_CST) >= KTR_ROW_READY ? row : NULL;
}

uint32_t ktr__session_n_sites(const struct ktr__session_rw *session)
{
	uint32_t n = __atomic_load_n(&session->control->n_sites, __ATOMIC_ACQUIRE);
	uint32_t room = session->header.region[KTR_REGION_site].n_rows;

	return n < room ? n : room;
}

const char *ktr__session_bytes(const struct ktr__session_rw *session, uint32_t offset, size_t *n)
{
	const char *from = ktr__region_rows(session, string, char) + offset;
	uint64_t room = session->header.region[KTR_REGION_string].bytes - offset;

	if (room > KTR__STRING_BYTES)
		room = KTR__STRING_BYTES;
	if (!ktr__session_touch(session, KTR_REGION_string, offset, room))
		from = "";
	*n = strnlen(from, room);
	return from;
}

uint32_t ktr__session_put(const struct ktr__session_rw *session, const char *text, size_t n_bytes)
{
	const struct ktr_region *region = &session->header.region[KTR_REGION_string];
	uint64_t at;

	if (!n_bytes)
		return 0;
	if (n_bytes > KTR__STRING_BYTES - 1)
		n_bytes = KTR__STRING_BYTES - 1;
	at = __atomic_load_n(&session->control->string_bytes, __ATOMIC_RELAXED);
	if (at >= region->bytes)
		return 0;
	at = __atomic_fetch_add(&session->control->string_bytes, n_bytes + 1, __ATOMIC_RELAXED);
	if (!at || !ktr__session_touch(session, KTR_REGION_string, at, n_bytes + 1))
		return 0;
	memcpy(session->map + region->offset + at, text, n_bytes);
	session->map[region->offset + at + n_bytes] = 0;
	return (uint32_t)at;
}

/* Name and description as one string, so that one word claims a row for both. 0: no room. */
static uint32_t class_words(const struct ktr__session_rw *session, const char *name, const char *help)
{
	char words[KTR_CLASS_NAME_MAX + CLASS_HELP_MAX];
	size_t n = strnlen(name, KTR_CLASS_NAME_MAX - 1), n_help = strnlen(help, CLASS_HELP_MAX - 1);
	uint32_t at;

	memcpy(words, name, n);
	words[n] = '\0';
	memcpy(words + n + 1, help, n_help);
	at = ktr__session_put(session, words, n + 1 + n_help);
	return at ? at + (uint32_t)n + 1 : 0;
}

/*
 * Do the words of a claimed row begin with this name? What precedes a string in the region is a zero: the end of
 * another, or not written yet.
 */
static bool class_named(const struct ktr__session_rw *session, uint32_t help, const char *name)
{
	const char *strings = ktr__region_rows(session, string, char);
	uint64_t n = strnlen(name, KTR_CLASS_NAME_MAX - 1) + 1;

	return help > n && help < session->header.region[KTR_REGION_string].bytes &&
	       ktr__session_touch(session, KTR_REGION_string, help - n - 1, n + 1) && strings[help - 1] == '\0' &&
	       strings[help - n - 1] == '\0' &&
	       memcmp(strings + help - n, name, n - 1) == 0;
}

/*
 * A name has one bit, whoever binds it and however many do so at once. The rows are claimed in order, each by one
 * compare-and-swap of its `help`, in front of which the name stands: who loses knows at once whose the row is.
 * The rest follows from the row's number and its words, and whoever finds it missing writes it: a process killed
 * here leaves nothing to wait for.
 */
uint64_t ktr__session_class(const struct ktr__session_rw *session, const char *name, const char *help)
{
	struct ktr_class_row *rows = ktr__region_rows(session, class_, struct ktr_class_row);
	uint32_t *cursor = &session->control->n_classes;
	uint32_t i, n, taken, words = 0;

	for (i = 1; i <= KTR_CLASS_MAX - KTR_CLASS_APP_FIRST; i++) {
		if (!ktr__session_touch(session, KTR_REGION_class_, i * sizeof(*rows), sizeof(*rows)))
			return 0;
		taken = __atomic_load_n(&rows[i].help, __ATOMIC_ACQUIRE);
		if (!taken && !words && !(words = class_words(session, name, help)))
			return 0;
		if ((!taken && __atomic_compare_exchange_n(&rows[i].help, &taken, words, false, __ATOMIC_ACQ_REL,
							   __ATOMIC_ACQUIRE)) ||
		    class_named(session, taken, name))
			break;
	}
	if (i > KTR_CLASS_MAX - KTR_CLASS_APP_FIRST)
		return 0;
	if (__atomic_load_n(&rows[i].state, __ATOMIC_ACQUIRE) != KTR_ROW_READY) {
		strncpy(rows[i].name, name, KTR_CLASS_NAME_MAX - 1);
		rows[i].mask = 1ull << (KTR_CLASS_APP_FIRST + i - 1);
		__atomic_store_n(&rows[i].state, KTR_ROW_READY, __ATOMIC_RELEASE);
	}
	for (n = __atomic_load_n(cursor, __ATOMIC_RELAXED); n <= i;)
		if (__atomic_compare_exchange_n(cursor, &n, i + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			break;
	return 1ull << (KTR_CLASS_APP_FIRST + i - 1);
}
