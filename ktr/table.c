/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking rows of the session's append-only tables. A row belongs to whoever's atomic add returned its
 * index; nobody waits for anybody, and a process killed in between leaves one row that is never ready.
 * The cursor may run past the end, which is the count of what did not fit.
 */
#include "ktr/own.h"

#include <errno.h>
#include <string.h>

/* [bytes] populated at a time: small, since every session pays for one of each table. */
#define TABLE_CHUNK 16384u

/* Per region: 1 + the chunk this process populated last. */
static uint64_t table_chunk[KTR_REGIONS];

void ktr__table_forget(void)
{
	memset(table_chunk, 0, sizeof(table_chunk));
}

bool ktr__table_touch(enum ktr_region_id region, uint64_t offset, uint64_t n_bytes)
{
	uint64_t first = offset / TABLE_CHUNK, last = (offset + n_bytes - 1) / TABLE_CHUNK;
	char *base = ktr__own.map + ktr__own.header.region[region].offset;

	for (uint64_t chunk = first; chunk <= last; chunk++) {
		int code;

		if (__atomic_load_n(&table_chunk[region], __ATOMIC_RELAXED) == chunk + 1)
			continue;
		code = ktr__populate(base + chunk * TABLE_CHUNK, TABLE_CHUNK);
		if (code && code != -ENOSYS)
			return false;
		__atomic_store_n(&table_chunk[region], chunk + 1, __ATOMIC_RELAXED);
	}
	return true;
}

uint32_t ktr__table_row(uint32_t *cursor, enum ktr_region_id id)
{
	const struct ktr_region *region = &ktr__own.header.region[id];
	uint32_t row = __atomic_fetch_add(cursor, 1, __ATOMIC_RELAXED);

	if (row < region->n_rows)
		return ktr__table_touch(id, (uint64_t)row * region->row_bytes, region->row_bytes) ? row : 0;
	/* Keep the count of overruns from wrapping round to valid rows: it stops near the top. */
	if (row > UINT32_MAX / 2)
		__atomic_store_n(cursor, UINT32_MAX / 2, __ATOMIC_RELAXED);
	return 0;
}

uint32_t ktr__table_string(const char *text, size_t n_bytes)
{
	const struct ktr_region *region = &ktr__own.header.region[KTR_REGION_string];
	uint64_t at;

	if (!n_bytes)
		return 0;
	if (n_bytes > 4095)
		n_bytes = 4095;
	at = __atomic_load_n(&ktr__own.control->string_bytes, __ATOMIC_RELAXED);
	if (at + n_bytes + 1 > region->bytes)
		return 0;
	at = __atomic_fetch_add(&ktr__own.control->string_bytes, n_bytes + 1, __ATOMIC_RELAXED);
	if (at + n_bytes + 1 > region->bytes ||
	    !ktr__table_touch(KTR_REGION_string, at, n_bytes + 1))
		return 0;
	memcpy(ktr__own.map + region->offset + at, text, n_bytes);
	ktr__own.map[region->offset + at + n_bytes] = 0;
	return (uint32_t)at;
}
