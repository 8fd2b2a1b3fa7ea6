/* SPDX-License-Identifier: BSD-2-Clause */
/* What an event with strings or a stack becomes in a ring. */
#ifndef KTR_PAYLOAD_H
#define KTR_PAYLOAD_H

#include "ktr/record/record.h"

/* An event ready to be written. What a sequence copies of it is at the offsets of ktr/arch/offsets.h. */
struct ktr__image {
	uint64_t meta; /* site, thread */
	uint64_t arg[KTR_ARGS_MAX]; /* and the beginning of the payload */
	uint64_t n_slots;
	const void *cont[KTR_SLOTS_MAX - 1]; /* where the KTR_CONT_BYTES of each continuation are */
	uint64_t staged[KTR_ARGS_MAX][KTR_CONT_BYTES / 8]; /* those that lie nowhere in one piece */
};

#define IMAGE__AT(field, offset) KTR__LAYOUT(offsetof(struct ktr__image, field) == (offset), "ktr/arch/offsets.h")
IMAGE__AT(meta, IMAGE_META);
IMAGE__AT(arg, IMAGE_META + 8);
IMAGE__AT(n_slots, IMAGE_N_SLOTS);
IMAGE__AT(cont, IMAGE_CONT);
#undef IMAGE__AT

/*
 * Fills all but meta. Strings are measured, bounded; whole continuations are copied later, by whoever writes the
 * event, from where they are. A string that shrinks in between has zeros after its end, or what followed it.
 * Async-signal-safe.
 */
void ktr__image_make(struct ktr__image *image, const struct ktr_site *site, const uint64_t *arg);

#endif
