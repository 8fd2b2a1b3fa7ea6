/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the payload of a ring entry: the strings and stacks of an event, in the order of its arguments
 * (ktr/entry.h). What lies in a ring is untrusted: more than there is cannot be taken.
 */
#ifndef KTR_PAYLOAD_TAKE_H
#define KTR_PAYLOAD_TAKE_H

#include <ktr/entry.h>

#include <stdint.h>
#include <string.h>

struct ktr__payload_at {
	const struct ktr_entry *entry; /* the first; its continuations follow it in memory */
	uint32_t at;		       /* [bytes] from there */
	uint32_t end;
};

/* n_conts: continuations that follow the entry; those beyond KTR_SLOTS_MAX are none of its own. */
static inline struct ktr__payload_at ktr__payload_at(const struct ktr_entry *entry, unsigned n_args,
						     uint32_t n_conts)
{
	uint32_t n_slots = 1 + (n_conts < KTR_SLOTS_MAX ? n_conts : KTR_SLOTS_MAX - 1);
	uint32_t at = KTR_ENTRY_BYTES - KTR_FREE_BYTES(n_args);

	return (struct ktr__payload_at){ entry, at, n_slots * KTR_ENTRY_BYTES };
}

/*
 * Copies the n bytes of the next argument, or what is there of them: returns how many. to NULL: passes over them.
 */
static inline uint32_t ktr__payload_take(struct ktr__payload_at *payload, void *to, uint32_t n)
{
	uint32_t at = payload->at, done = 0;

	while (done < n) {
		uint32_t part;

		if (at % KTR_ENTRY_BYTES == 0)
			at += KTR_ENTRY_BYTES - KTR_CONT_BYTES;
		if (at >= payload->end)
			break;
		part = KTR_ENTRY_BYTES - at % KTR_ENTRY_BYTES;
		if (part > n - done)
			part = n - done;
		if (to)
			memcpy((char *)to + done, (const char *)payload->entry + at, part);
		at += part;
		done += part;
	}
	payload->at = (at + 7) & ~7u;
	return done;
}

#endif
