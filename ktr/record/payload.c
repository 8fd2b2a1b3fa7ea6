/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings and stacks: measured, then copied into continuation entries staged in the caller's memory.
 *
 * The host's memory is read here and nowhere else, and only where the format prints a string, so a bad
 * pointer does what printf would have done with it. Reading happens outside of the restartable
 * sequence. Another thread may change a string between measuring and copying: a byte copied is a byte
 * that was there at some time, never one beyond the measured length.
 */
#include "ktr/record/payload.h"

#include "ktr/session/session_rw.h"

#include <string.h>

static void payload_string(struct ktr__payload *payload, unsigned i, uint64_t word, uint64_t limit)
{
	const char *text = (const char *)(uintptr_t)word;
	size_t length;

	payload->from[i] = text;
	if (!text) {
		payload->flags[i] = KTR_PAYLOAD_NULL;
		return;
	}
	if (limit <= KTR_STRING_MAX) {
		payload->bytes[i] = (uint32_t)strnlen(text, (size_t)limit);
		return;
	}
	length = strnlen(text, KTR_STRING_MAX + 1);
	if (length > KTR_STRING_MAX) {
		length = KTR_STRING_MAX;
		payload->flags[i] = KTR_PAYLOAD_CUT;
	}
	payload->bytes[i] = (uint32_t)length;
}

static void payload_one(struct ktr__payload *payload, unsigned i, const uint64_t *arg)
{
	const struct ktr_site *site = payload->site;
	int64_t precision;

	switch (site->how[i]) {
	case KTR_HOW_COPY:
		payload_string(payload, i, arg[i], UINT64_MAX);
		break;
	case KTR_HOW_COPY_MAX:
		payload_string(payload, i, arg[i], site->limit[i]);
		break;
	case KTR_HOW_COPY_PREC:
		/* A negative precision counts as none (printf(3)). */
		precision = i ? (int32_t)arg[i - 1] : -1;
		payload_string(payload, i, arg[i], precision < 0 ? UINT64_MAX : (uint64_t)precision);
		break;
	default:
		break;
	}
}

unsigned ktr__payload_measure(struct ktr__payload *payload, const struct ktr_site *site,
			      const uint64_t *arg, const uint64_t *pcs, unsigned depth)
{
	uint32_t total = 0;

	memset(payload, 0, sizeof(*payload));
	payload->site = site;
	for (unsigned i = 0; i < site->n_args && i < KTR_ARGS_MAX; i++) {
		if (site->how[i] == KTR_HOW_STACK) {
			payload->from[i] = pcs;
			payload->bytes[i] = pcs ? (depth & ~KTR_DEPTH_CUT) * 8 : 0;
			payload->flags[i] = depth & KTR_DEPTH_CUT ? KTR_PAYLOAD_CUT : 0;
		} else {
			payload_one(payload, i, arg);
		}
		if (payload->bytes[i] > KTR_PAYLOAD_BYTES - total) {
			payload->bytes[i] = KTR_PAYLOAD_BYTES - total;
			payload->flags[i] |= KTR_PAYLOAD_CUT;
		}
		total += payload->bytes[i];
	}
	payload->n_slots = 1 + (total + KTR_CONT_BYTES - 1) / KTR_CONT_BYTES;
	return payload->n_slots;
}

/* Appends bytes after those already staged; *at counts payload bytes so far. */
static void payload_append(struct ktr_entry *staged, uint32_t *at, const char *from, uint32_t bytes)
{
	while (bytes) {
		struct ktr_cont *cont = (struct ktr_cont *)(void *)&staged[1 + *at / KTR_CONT_BYTES];
		uint32_t used = *at % KTR_CONT_BYTES;
		uint32_t n = KTR_CONT_BYTES - used < bytes ? KTR_CONT_BYTES - used : bytes;

		memcpy(cont->data + used, from, n);
		from += n;
		*at += n;
		bytes -= n;
	}
}

unsigned ktr__payload_stage(const struct ktr__payload *payload, const struct ktr_entry *first,
			    struct ktr_entry *staged)
{
	uint32_t at = 0;
	const uint64_t *from = (const uint64_t *)(const void *)first;
	uint64_t *to = (uint64_t *)(void *)staged;

	for (int i = 1; i < KTR_ENTRY_BYTES / 8; i++)
		__atomic_store_n(&to[i], ktr__load_word(&from[i]), __ATOMIC_RELAXED);
	/* The rest of the last continuation would otherwise carry bytes of our stack. */
	if (payload->n_slots > 1)
		memset(&staged[payload->n_slots - 1], 0, sizeof(*staged));
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		uint8_t how = payload->site->how[i];

		if (how == KTR_HOW_VALUE)
			continue;
		staged[0].arg[i] = payload->bytes[i] | payload->flags[i];
		payload_append(staged, &at, payload->from[i], payload->bytes[i]);
	}
	return payload->n_slots;
}
