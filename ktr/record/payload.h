/* SPDX-License-Identifier: BSD-2-Clause */
/* What an event carries after its first entry: strings and stacks. */
#ifndef KTR_PAYLOAD_H
#define KTR_PAYLOAD_H

#include "ktr/record/record.h"

#define KTR_DEPTH_CUT (1u << 31) /* with a stack's depth: there was more, or frames are missing */

struct ktr__payload {
	const struct ktr_site *site;
	const void *from[KTR_ARGS_MAX]; /* NULL: nothing to copy */
	uint32_t bytes[KTR_ARGS_MAX];
	uint32_t flags[KTR_ARGS_MAX]; /* KTR_PAYLOAD_CUT, KTR_PAYLOAD_NULL */
	unsigned n_slots;
};

/*
 * measure() finds the lengths, bounded, and returns the number of slots; stage() copies. A string that shrinks in
 * between ends where it ends now. Both are async-signal-safe.
 */
unsigned ktr__payload_measure(struct ktr__payload *payload, const struct ktr_site *site,
			      const uint64_t *arg, const uint64_t *pcs, unsigned depth);
unsigned ktr__payload_stage(const struct ktr__payload *payload, const struct ktr_entry *first,
			    struct ktr_entry *staged);

#endif
