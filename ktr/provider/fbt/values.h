/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of arguments and results as an event has them. Async-signal-safe, and for general registers alone, as
 * fire.c is.
 */
#ifndef KTR_FBT_VALUES_H
#define KTR_FBT_VALUES_H

#include "ktr/provider/fbt/typed.h"

/* Vectors 3 to 7, before anything has changed them: their lower eight bytes. */
struct ktr__fbt_vectors {
	uint64_t low[5];
};

static inline void ktr__fbt_vectors(struct ktr__fbt_vectors *to)
{
	__asm__ volatile("movq %%xmm3, %0\n\t"
			 "movq %%xmm4, %1\n\t"
			 "movq %%xmm5, %2\n\t"
			 "movq %%xmm6, %3\n\t"
			 "movq %%xmm7, %4"
			 : "=m"(to->low[0]), "=m"(to->low[1]), "=m"(to->low[2]), "=m"(to->low[3]),
			   "=m"(to->low[4]));
}

/*
 * Has the kernel copy memory that may not be there: how many bytes it could. n: 4,096 at most. errno stays as it
 * is.
 */
size_t ktr__fbt_copy(void *to, uintptr_t from, size_t n);

/* Room for what a value is as text, with the marks of one that was cut. */
struct ktr__fbt_text {
	char bytes[KTR__FBT_TEXT + 4];
};

#define KTR__FBT_WINDOW 128 /* [bytes] */

/* What was read last: members of one struct are near each other. n 0: nothing was. */
struct ktr__fbt_window {
	uintptr_t from;
	size_t n;
	uint64_t word[KTR__FBT_WINDOW / 8 + 1];
};

/* What values are read from: of all of an event. */
struct ktr__fbt_source {
	const uint64_t *place; /* of the return address, around which they lie */
	const struct ktr__fbt_vectors *vectors; /* NULL: there are none */
	bool may_ask; /* the kernel, for what pointers point to */
	struct ktr__fbt_window window;
};

/*
 * The word that an event has for a value; of one that is text it points to that, in room or for good, or is NULL.
 * false: it is a number, and its pointer cannot be read. What is no number says so itself: text, or not a number.
 */
bool ktr__fbt_value(const struct ktr__fbt_value *value, struct ktr__fbt_source *source, struct ktr__fbt_text *room,
		    uint64_t *word);

/* A number among members as text; is_read false: that it could not be. */
const char *ktr__fbt_value_told(const struct ktr__fbt_value *value, uint64_t word, bool is_read,
				struct ktr__fbt_text *room);

#endif
