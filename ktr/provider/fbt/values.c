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
#define VALUES_AROUND 64   /* [bytes] below a member that is read, at the least; a page is a multiple of it */
#define VALUES_FIRST  4096 /* nothing is mapped below it */

typedef uint64_t values_word __attribute__((aligned(1), may_alias));

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

static const char *values_text(const struct ktr__fbt_value *value, uint64_t word, bool may_ask,
			       struct ktr__fbt_text *room)
{
	size_t most = value->n_text ? value->n_text : KTR__FBT_TEXT, end = 0;
	size_t n = may_ask ? ktr__fbt_copy(room->bytes, (uintptr_t)word, most) : 0;

	if (!n)
		return values_hex(word, room);
	while (end < n && room->bytes[end])
		end++;
	for (int i = 0; i < 3 && end == n + (size_t)i && !(value->is_whole && n == most); i++)
		room->bytes[end++] = '.';
	room->bytes[end] = '\0';
	return room->bytes;
}

static uint64_t values_extend(uint64_t word, unsigned n_bytes, bool is_signed)
{
	unsigned shift = 64 - 8 * n_bytes;

	return is_signed ? (uint64_t)((int64_t)(word << shift) >> shift) : word << shift >> shift;
}

static const char *values_number(int64_t number, bool is_signed, struct ktr__fbt_text *room)
{
	bool is_negative = is_signed && number < 0;
	char *at = room->bytes + sizeof(room->bytes);

	*--at = '\0';
	at = ktr__decimal(at, is_negative ? -(uint64_t)number : (uint64_t)number);
	if (is_negative)
		*--at = '-';
	return at;
}

/* Of a number that has no name the number, as an int where it may be one. */
static const char *values_name(const struct ktr__fbt_names *names, uint64_t word, unsigned n_bytes,
			       struct ktr__fbt_text *room)
{
	uint32_t from = 0, to = names->n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (names->row[middle].value == word)
			return names->row[middle].name;
		if (names->row[middle].value < word)
			from = middle + 1;
		else
			to = middle;
	}
	return values_number((int64_t)values_extend(word, n_bytes, true), true, room);
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

/* n: 8 at most. A copy of what lies around it costs as much as one of it. */
static bool values_read(struct ktr__fbt_window *window, uint64_t from, unsigned n, uint64_t *to)
{
	if (from < VALUES_FIRST)
		return false;
	if (from < window->from || from - window->from + n > window->n) {
		window->from = from & ~(uint64_t)(VALUES_AROUND - 1);
		window->n = ktr__fbt_copy(window->word, window->from, KTR__FBT_WINDOW);
	}
	if (from - window->from + n > window->n)
		return false;
	*to = *(const values_word *)((const char *)window->word + (from - window->from));
	if (n < 8)
		*to &= (1ull << 8 * n) - 1;
	return true;
}

/* From the pointer to its member, or to the place of it. false: it cannot be read. */
static bool values_load(const struct ktr__fbt_load *load, uint64_t *word, struct ktr__fbt_window *window)
{
	uint64_t at = *word;

	for (unsigned i = 0; i + 1 < load->n; i++)
		if (!values_read(window, at + load->offset[i], 8, &at))
			return false;
	if (at < VALUES_FIRST)
		return false;
	at += load->offset[load->n - 1];
	*word = at;
	if (!load->n_bytes)
		return true;
	if (!values_read(window, at, load->n_bytes, word))
		return false;
	if (!load->n_bits)
		return true;
	*word = *word >> load->shift << (64 - load->n_bits);
	*word = load->is_signed ? (uint64_t)((int64_t)*word >> (64 - load->n_bits)) : *word >> (64 - load->n_bits);
	return true;
}

static const char values_unread[] = "{unreadable}";

/* false: of a number, to which nothing can be added that is none. */
static bool values_say_unread(const struct ktr__fbt_value *value, uint64_t *word)
{
	*word = 0;
	if (value->type == KTR_ARG_STR)
		*word = (uint64_t)(uintptr_t)values_unread;
	else if (value->type == KTR_ARG_F64)
		*word = 0x7ff8ull << 48; /* not a number */
	else
		return false;
	return true;
}

bool ktr__fbt_value(const struct ktr__fbt_value *value, struct ktr__fbt_source *source, struct ktr__fbt_text *room,
		    uint64_t *word)
{
	*word = source->place[value->at];
	if (value->vector && source->vectors)
		*word = source->vectors->low[value->vector - 3];
	if (value->load && !(source->may_ask && values_load(value->load, word, &source->window)))
		return values_say_unread(value, word);
	switch (value->shape) {
	case KTR__FBT_FLOAT:
		*word = value->n_bytes == 4 ? values_double((uint32_t)*word) : *word;
		break;
	case KTR__FBT_STRING:
		if (*word)
			*word = (uint64_t)(uintptr_t)values_text(value, *word, source->may_ask, room);
		break;
	case KTR__FBT_ENUM:
		*word = values_extend(*word, value->n_bytes, false);
		*word = (uint64_t)(uintptr_t)values_name(value->names, *word, value->n_bytes, room);
		break;
	default:
		*word = values_extend(*word, value->n_bytes, value->shape == KTR__FBT_SIGNED);
	}
	return true;
}

const char *ktr__fbt_value_told(const struct ktr__fbt_value *value, uint64_t word, bool is_read,
				struct ktr__fbt_text *room)
{
	if (!is_read)
		return values_unread;
	if (value->type == KTR_ARG_PTR)
		return values_hex(word, room);
	return values_number((int64_t)word, value->shape == KTR__FBT_SIGNED, room);
}
