/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing row of bytes: numbers of seven bits per byte, least first, the eighth bit set in all but
 * the last; signed ones folded so that small ones are short.
 */
#ifndef VISUALIZE_COLUMN_H
#define VISUALIZE_COLUMN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ktr__column {
	uint8_t *bytes; /* owned, or where it is fixed somebody else's */
	size_t n;
	size_t room;
	int is_fixed;  /* it does not grow */
	uint64_t last; /* of ktr__column_delta() */
	int error;     /* -ENOMEM: something is missing */
};

int ktr__column_more(struct ktr__column *column, size_t n);

/* Room for n bytes more; 0 or -ENOMEM. */
static inline int ktr__column_room(struct ktr__column *column, size_t n)
{
	return column->room - column->n >= n ? 0 : ktr__column_more(column, n);
}

static inline void ktr__column_number(struct ktr__column *column, uint64_t number)
{
	uint8_t *to;

	if (ktr__column_room(column, 10) != 0)
		return;
	for (to = column->bytes + column->n; number > 127; number >>= 7)
		*to++ = (uint8_t)(number | 128);
	*to++ = (uint8_t)number;
	column->n = (size_t)(to - column->bytes);
}

static inline void ktr__column_signed(struct ktr__column *column, int64_t number)
{
	ktr__column_number(column, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

/* The difference to the number before, modulo 2^64; to 0 in the beginning. */
static inline void ktr__column_delta(struct ktr__column *column, uint64_t number)
{
	ktr__column_signed(column, (int64_t)(number - column->last));
	column->last = number;
}

static inline void ktr__column_bytes(struct ktr__column *column, const void *bytes, size_t n)
{
	if (n == 0 || ktr__column_room(column, n) != 0)
		return;
	memcpy(column->bytes + column->n, bytes, n);
	column->n += n;
}

/* ---- fields of protocol buffers (https://protobuf.dev/programming-guides/encoding) ---- */

static inline void ktr__column_field(struct ktr__column *to, unsigned field, uint64_t number)
{
	ktr__column_number(to, field << 3);
	ktr__column_number(to, number);
}

static inline void ktr__column_field_word(struct ktr__column *to, unsigned field, uint64_t word)
{
	ktr__column_number(to, field << 3 | 1);
	ktr__column_bytes(to, &word, sizeof(word));
}

static inline void ktr__column_field_bytes(struct ktr__column *to, unsigned field, const void *bytes, size_t n)
{
	ktr__column_number(to, field << 3 | 2);
	ktr__column_number(to, n);
	ktr__column_bytes(to, bytes, n);
}

/* Empties it; the memory stays for what comes next. */
static inline void ktr__column_clear(struct ktr__column *column)
{
	column->n = 0;
	column->last = 0;
}

/* Puts a message into another one, and empties it. */
static inline void ktr__column_message(struct ktr__column *to, unsigned field, struct ktr__column *part)
{
	ktr__column_field_bytes(to, field, part->bytes, part->n);
	ktr__column_clear(part);
}

#endif
