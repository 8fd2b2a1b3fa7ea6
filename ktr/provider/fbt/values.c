/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pointer to text may point anywhere, or to text that another thread frees meanwhile. So the kernel copies it,
 * out of this very process (process_vm_readv(2)), which ends with an error where there is no memory: no signal
 * comes of it. Where that cannot be asked for, the pointer is what is recorded.
 */
#include "ktr/provider/fbt/values.h"

#include "ktr/provider/fbt/ask.h"

#include "conf/kit/decimal.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#define VALUES_PAGE 4096 /* [bytes] the smallest; parts of an area that is copied are there whole, or not at all */

size_t ktr__fbt_copy(void *to, uintptr_t from, size_t n)
{
	size_t n_first = VALUES_PAGE - from % VALUES_PAGE < n ? VALUES_PAGE - from % VALUES_PAGE : n;
	struct iovec local = { to, n };
	struct iovec remote[2] = { { (void *)from, n_first }, { (void *)(from + n_first), n - n_first } };
	long pid = ktr__fbt_ask(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long got = ktr__fbt_ask(SYS_process_vm_readv, pid, (long)(uintptr_t)&local, 1, (long)(uintptr_t)remote,
			      n_first < n ? 2 : 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static const char *values_hex(uint64_t word, struct ktr__fbt_text *room)
{
	char *at = room->bytes + sizeof(room->bytes);

	*--at = '\0';
	do {
		*--at = "0123456789abcdef"[word & 15];
		word >>= 4;
	} while (word);
	*--at = 'x';
	*--at = '0';
	return at;
}

static const char *values_text(uint64_t word, bool may_ask, struct ktr__fbt_text *room)
{
	size_t n = may_ask ? ktr__fbt_copy(room->bytes, (uintptr_t)word, KTR__FBT_TEXT) : 0, end = 0;

	if (!n)
		return values_hex(word, room);
	while (end < n && room->bytes[end])
		end++;
	if (end == n) {
		for (int i = 0; i < 3; i++)
			room->bytes[end++] = '.';
		room->bytes[end] = '\0';
	}
	return room->bytes;
}

static uint64_t values_extend(uint64_t word, unsigned n_bytes, bool is_signed)
{
	unsigned shift = 64 - 8 * n_bytes;

	return is_signed ? (uint64_t)((int64_t)(word << shift) >> shift) : word << shift >> shift;
}

/* Of a number that has no name the number, as an int where it may be one. */
static const char *values_name(const struct ktr__fbt_names *names, uint64_t word, unsigned n_bytes,
			       struct ktr__fbt_text *room)
{
	int64_t number = (int64_t)values_extend(word, n_bytes, true);
	uint32_t from = 0, to = names->n;
	char *at = room->bytes + sizeof(room->bytes);

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (names->row[middle].value == word)
			return names->row[middle].name;
		if (names->row[middle].value < word)
			from = middle + 1;
		else
			to = middle;
	}
	*--at = '\0';
	at = ktr__decimal(at, number < 0 ? -(uint64_t)number : (uint64_t)number);
	if (number < 0)
		*--at = '-';
	return at;
}

/* A float as a double, without the registers that could do it. */
static uint64_t values_double(uint32_t bits)
{
	uint64_t sign = (uint64_t)(bits >> 31) << 63, fraction = bits & 0x7fffff;
	uint32_t exponent = bits >> 23 & 0xff;

	if (exponent == 0xff)
		return sign | 0x7ffull << 52 | fraction << 29;
	if (!exponent && !fraction)
		return sign;
	for (exponent += exponent == 0; !(fraction & 0x800000) && (bits & 0x7f800000) == 0; exponent--)
		fraction <<= 1;
	return sign | (uint64_t)(exponent + 1023 - 127) << 52 | (fraction & 0x7fffff) << 29;
}

uint64_t ktr__fbt_value(const struct ktr__fbt_value *value, const uint64_t *place,
			const struct ktr__fbt_vectors *vectors, bool may_ask, struct ktr__fbt_text *room)
{
	uint64_t word = value->vector && vectors ? vectors->low[value->vector - 3] : place[value->at];

	switch (value->shape) {
	case KTR__FBT_FLOAT:
		return value->n_bytes == 4 ? values_double((uint32_t)word) : word;
	case KTR__FBT_STRING:
		return word ? (uint64_t)(uintptr_t)values_text(word, may_ask, room) : 0;
	case KTR__FBT_ENUM:
		word = values_extend(word, value->n_bytes, false);
		return (uint64_t)(uintptr_t)values_name(value->names, word, value->n_bytes, room);
	default:
		return values_extend(word, value->n_bytes, value->shape == KTR__FBT_SIGNED);
	}
}
