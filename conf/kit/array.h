/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow as larger indices come. */
#ifndef VISUALIZE_ARRAY_H
#define VISUALIZE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

int ktr__array_more(void *array, uint32_t *n, uint32_t i, size_t size);

/*
 * Grows the array whose address is given so that it has an element i, all new ones zero. *n is its
 * length. 0 or -ENOMEM, which leaves it as it was.
 */
static inline int ktr__array_grow(void *array, uint32_t *n, uint32_t i, size_t size)
{
	return i < *n ? 0 : ktr__array_more(array, n, i, size);
}

#endif
