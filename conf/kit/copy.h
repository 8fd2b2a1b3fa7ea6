/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes copied without a call, where they are few: words, numbers and the like. */
#ifndef CONF_COPY_H
#define CONF_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* memcpy(3); of up to 16 bytes the first and the last half are copied as words, which may overlap. */
static inline void ktr__copy(char *to, const char *from, size_t n)
{
	uint64_t first, last;
	uint32_t first4, last4;

	if (n > 16) {
		memcpy(to, from, n);
	} else if (n >= 8) {
		memcpy(&first, from, 8);
		memcpy(&last, from + n - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + n - 8, &last, 8);
	} else if (n >= 4) {
		memcpy(&first4, from, 4);
		memcpy(&last4, from + n - 4, 4);
		memcpy(to, &first4, 4);
		memcpy(to + n - 4, &last4, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

#endif
