/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A large object has some hundred thousand rows: a search through all of them reads one place of the table after
 * the other, each in a line that is not in the cache. So there is a second table, of the rows before each part of
 * the object: it leads to a few rows beside each other.
 */
#include "ktr/provider/profile/cfi.h"

#include <string.h>
#include <sys/mman.h>

#define ROW_FEW 8 /* of 12 bytes: in a line of the cache, or two */

static size_t row_parts_bytes(uint32_t n_parts)
{
	return n_parts ? (n_parts + 1ull) * sizeof(uint32_t) : 0;
}

void ktr__cfi_part(struct ktr__cfi *cfi, size_t max_bytes)
{
	uint32_t n_parts, part = 0;
	void *room;

	if (!cfi->n)
		return;
	n_parts = (cfi->row[cfi->n - 1].at - cfi->row[0].at) / KTR__CFI_PART + 1;
	if (row_parts_bytes(n_parts) > max_bytes)
		return;
	room = mmap(NULL, row_parts_bytes(n_parts), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return;
	cfi->before = room;
	cfi->n_parts = n_parts;
	for (uint32_t i = 0; i < cfi->n; i++)
		for (; (cfi->row[i].at - cfi->row[0].at) / KTR__CFI_PART >= part; part++)
			cfi->before[part] = i;
	cfi->before[n_parts] = cfi->n;
}

void ktr__cfi_free(struct ktr__cfi *cfi)
{
	if (cfi->row)
		munmap(cfi->row, cfi->room_bytes);
	if (cfi->before)
		munmap(cfi->before, row_parts_bytes(cfi->n_parts));
	memset(cfi, 0, sizeof(*cfi));
}

size_t ktr__cfi_bytes(const struct ktr__cfi *cfi)
{
	return cfi->room_bytes + row_parts_bytes(cfi->n_parts);
}

const struct ktr__cfi_row *ktr__cfi_at(const struct ktr__cfi *cfi, uint32_t at)
{
	const struct ktr__cfi_row *row = cfi->row;
	uint32_t from = 0, n = cfi->n, part, half;

	if (!n || at < row[0].at)
		return NULL;
	part = (at - row[0].at) / KTR__CFI_PART;
	if (part < cfi->n_parts) {
		from = cfi->before[part];
		n = cfi->before[part + 1] - from;
	}
	/* How many begin there or before it. One by one of a few is sooner than halves that wait for each other. */
	for (; n > ROW_FEW; n -= half) {
		half = (n + 1) / 2;
		from += row[from + half - 1].at <= at ? half : 0;
	}
	for (; n && row[from].at <= at; n--)
		from++;
	return &row[from - 1];
}
