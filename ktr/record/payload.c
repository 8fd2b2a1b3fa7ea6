/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings and stacks: measured, and laid out as the words of an event and its continuations.
 *
 * The host's memory is read here and where the event is written, and only where the format prints a string, so a
 * bad pointer does what printf would have done with it. Another thread may change a string between measuring and
 * copying: a byte copied is a byte that was there at some time, never one beyond the measured length.
 *
 * Pointers into read-only segments are not remembered. With a cache of them, two strings that are constants but
 * not literals would cost less (make bench: state0_table, beside state0); it would have to know each module that
 * goes, also those without a point in them, and a pointer that it keeps too long is a wrong string. Short ones lie
 * in the entry either way.
 */
#include "ktr/record/payload.h"

#include "ktr/session/session_rw.h"

#include <string.h>

_Static_assert(KTR_ARGS_MAX * KTR_STRING_MAX <= KTR_PAYLOAD_BYTES, "strings that are all as long as can be fit");
_Static_assert(KTR_STACK_MAX * 8 <= KTR_PAYLOAD_BYTES, "the deepest stack fits");

/* Where the payload goes on: in the words that are left of a slot. */
struct payload_at {
	struct ktr__image *image;
	uint64_t *to, *end;
	uint64_t (*staged)[KTR_CONT_BYTES / 8];
};

static inline uint64_t payload_load(const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/* Less than eight bytes as a word, without a look at what follows them. */
static inline uint64_t payload_end(const char *from, size_t n)
{
	uint64_t word = 0;

	if (n & 4) {
		uint32_t low, high;

		memcpy(&low, from, 4);
		memcpy(&high, from + n - 4, 4);
		return low | (uint64_t)high << (n - 4) * 8;
	}
	while (n--)
		word = word << 8 | (unsigned char)from[n];
	return word;
}

/* The next slot: n bytes or more of it are at `from`, or it is staged. Returns what is taken there. */
static inline size_t payload_slot(struct payload_at *at, const char *from, size_t n)
{
	const void **cont = &at->image->cont[at->image->n_slots++ - 1];

	if (n >= KTR_CONT_BYTES) {
		*cont = from;
		return KTR_CONT_BYTES;
	}
	at->to = *at->staged++;
	at->end = at->to + KTR_CONT_BYTES / 8;
	*cont = at->to;
	return 0;
}

/* One by one, as they are loaded again a moment later: see RSEQ_COPY_WORD. */
static inline void payload_put(struct payload_at *at, const char *from, size_t n)
{
	while (n) {
		size_t part = 8;

		if (unlikely(at->to == at->end)) {
			part = payload_slot(at, from, n);
		} else if (n >= 8) {
			__atomic_store_n(at->to++, payload_load(from), __ATOMIC_RELAXED);
		} else {
			__atomic_store_n(at->to++, payload_end(from, n), __ATOMIC_RELAXED);
			return;
		}
		from += part;
		n -= part;
	}
}

/* The most bytes of a string that its format wants; KTR_STRING_MAX + 1: as many as there are. */
static inline size_t payload_limit(const struct ktr_site *site, const uint64_t *arg, unsigned i)
{
	int64_t limit = -1;

	if (likely(site->how[i] == KTR_HOW_COPY))
		return KTR_STRING_MAX + 1;
	if (site->how[i] == KTR_HOW_COPY_MAX)
		limit = site->limit[i];
	else if (i)
		limit = (int32_t)arg[i - 1]; /* negative, it counts as none (printf(3)) */
	return limit < 0 || limit > KTR_STRING_MAX ? KTR_STRING_MAX + 1 : (size_t)limit;
}

/* The word of a string. */
static inline uint64_t payload_measure(const struct ktr_site *site, const uint64_t *arg, unsigned i)
{
	const char *text = (const char *)(uintptr_t)arg[i];
	size_t n;

	if (unlikely(!text))
		return KTR_PAYLOAD_NULL;
	n = strnlen(text, payload_limit(site, arg, i));
	return unlikely(n > KTR_STRING_MAX) ? KTR_STRING_MAX | KTR_PAYLOAD_CUT : n;
}

void ktr__image_make(struct ktr__image *image, const struct ktr_site *site, const uint64_t *arg)
{
	unsigned n_args = site->n_args;
	struct payload_at at = { image, image->arg + n_args, image->arg + KTR_ARGS_MAX, image->staged };

	image->n_slots = 1;
	for (unsigned i = 0; i < n_args; i++) {
		const struct ktr__frames *stack = (const struct ktr__frames *)(uintptr_t)arg[i];
		const char *from = (const char *)stack;
		uint64_t word = arg[i];

		if (site->copies >> i & 1) {
			if (site->how[i] == KTR_HOW_STACK) {
				from = (const char *)stack->pcs;
				word = stack->word;
			} else {
				word = payload_measure(site, arg, i);
			}
			payload_put(&at, from, word & KTR_PAYLOAD_LENGTH);
		}
		__atomic_store_n(&image->arg[i], word, __ATOMIC_RELAXED);
	}
	/* The rest of the last slot would otherwise carry bytes of our stack. */
	while (at.to != at.end)
		*at.to++ = 0;
}
