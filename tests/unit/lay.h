/* SPDX-License-Identifier: BSD-2-Clause */
/* A payload as it lies in a ring, made by hand: what readers say is held against it. */
#ifndef TESTS_UNIT_LAY_H
#define TESTS_UNIT_LAY_H

#include <ktr/entry.h>

#include <stdint.h>
#include <string.h>

/* Where the next string or stack begins, one of n bytes being at `at`. */
static inline size_t lay_next(size_t at, size_t n)
{
	return (at + n + 7) / 8 * 8;
}

/*
 * Lays n bytes into the event of n_args arguments at slot[0]. Returns the number of continuations; marks are not
 * set.
 */
static inline unsigned lay(struct ktr_entry *slot, unsigned n_args, const void *payload, size_t n)
{
	size_t n_free = 8 * (6 - (size_t)n_args), n_first = n < n_free ? n : n_free;
	unsigned n_conts = 0;

	memcpy((char *)&slot[0] + sizeof(slot[0]) - n_free, payload, n_first);
	for (size_t done = n_first; done < n; done += KTR_CONT_BYTES) {
		size_t part = n - done < KTR_CONT_BYTES ? n - done : KTR_CONT_BYTES;

		memcpy((char *)&slot[++n_conts] + 8, (const char *)payload + done, part);
	}
	return n_conts;
}

#endif
