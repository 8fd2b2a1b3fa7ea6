/* SPDX-License-Identifier: BSD-2-Clause */
/* The row that holds at an address, beside a look at all of them. */
#include "tests/unit/suite.h"

/* In the agent alone. */
#include "ktr/provider/profile/cfi_row.c"

#include <stdbool.h>
#include <stdlib.h>

#define ROWS 3000

static struct ktr__cfi cfi;

static uint32_t any(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

/* [rows] of which each begins up to `most` bytes after the one before */
static void rows_fill(uint32_t n, uint32_t first, uint32_t most, uint64_t *state)
{
	memset(&cfi, 0, sizeof(cfi));
	cfi.room_bytes = ROWS * sizeof(*cfi.row);
	cfi.row = mmap(NULL, cfi.room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(cfi.row != MAP_FAILED);
	for (; cfi.n < n; cfi.n++)
		cfi.row[cfi.n].at = cfi.n ? cfi.row[cfi.n - 1].at + 1 + any(state) % most : first;
}

static const struct ktr__cfi_row *rows_look(uint32_t at)
{
	const struct ktr__cfi_row *found = NULL;

	for (uint32_t i = 0; i < cfi.n && cfi.row[i].at <= at; i++)
		found = &cfi.row[i];
	return found;
}

static bool rows_agree(uint64_t *state)
{
	uint32_t last = cfi.n ? cfi.row[cfi.n - 1].at : 0;

	for (uint32_t i = 0; i < cfi.n; i++)
		for (uint32_t at = cfi.row[i].at - 1, by = 0; by < 3; by++)
			if (ktr__cfi_at(&cfi, at + by) != rows_look(at + by))
				return false;
	for (int i = 0; i < 1000; i++) {
		uint32_t at = any(state) % (last + 1000u ? last + 1000u : 1);

		if (ktr__cfi_at(&cfi, at) != rows_look(at))
			return false;
	}
	return ktr__cfi_at(&cfi, 0) == rows_look(0) && ktr__cfi_at(&cfi, UINT32_MAX) == rows_look(UINT32_MAX);
}

static void are_found(void)
{
	static const uint32_t most[] = { 1, 2, 40, 255, 256, 257, 5000, 1000000 };
	uint64_t state = 1;

	for (unsigned i = 0; i < sizeof(most) / sizeof(most[0]); i++)
		for (uint32_t n = 0; n <= ROWS; n = n < 4 ? n + 1 : n * 5) {
			rows_fill(n, any(&state) % 3 ? any(&state) % 100000 : 0, most[i], &state);
			CU_ASSERT(rows_agree(&state));
			ktr__cfi_part(&cfi, SIZE_MAX);
			CU_ASSERT(!n == !cfi.n_parts);
			CU_ASSERT(rows_agree(&state));
			ktr__cfi_free(&cfi);
		}
}

/* Up to the last address there is. */
static void are_found_to_the_end(void)
{
	uint64_t state = 2;

	rows_fill(2, 0, 1, &state);
	cfi.row[1].at = UINT32_MAX;
	ktr__cfi_part(&cfi, SIZE_MAX);
	CU_ASSERT_EQUAL(cfi.n_parts, (UINT32_MAX / KTR__CFI_PART) + 1);
	CU_ASSERT(ktr__cfi_at(&cfi, UINT32_MAX - 1) == &cfi.row[0]);
	CU_ASSERT(ktr__cfi_at(&cfi, UINT32_MAX) == &cfi.row[1]);
	ktr__cfi_free(&cfi);
}

static void parts_take_what_they_may(void)
{
	uint64_t state = 3;

	rows_fill(100, 0, 1000, &state);
	ktr__cfi_part(&cfi, 4);
	CU_ASSERT_EQUAL(cfi.n_parts, 0);
	CU_ASSERT_EQUAL(ktr__cfi_bytes(&cfi), cfi.room_bytes);
	CU_ASSERT(rows_agree(&state));
	ktr__cfi_part(&cfi, 1u << 20);
	CU_ASSERT(cfi.n_parts > 0);
	CU_ASSERT_EQUAL(ktr__cfi_bytes(&cfi), cfi.room_bytes + (cfi.n_parts + 1) * sizeof(uint32_t));
	CU_ASSERT(rows_agree(&state));
	ktr__cfi_free(&cfi);
}

SUITE(cfi_row, TEST(are_found), TEST(are_found_to_the_end), TEST(parts_take_what_they_may));
