/* SPDX-License-Identifier: BSD-2-Clause */
/* What of an object is in memory: between its parts there may be nothing. */
#ifndef KTR_USDT_PARTS_H
#define KTR_USDT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#define KTR__USDT_PARTS 16 /* of an object; what has more has some that are not seen */

struct ktr__usdt_part {
	uint64_t from, to;
	uint32_t flags; /* PF_X, PF_W of elf(5) */
};

struct ktr__usdt_parts {
	uint32_t n;
	struct ktr__usdt_part part[KTR__USDT_PARTS];
	struct ktr__usdt_part relro; /* is not written to once the object is loaded; from == to: there is none */
};

/* Those of the object that was moved by base and ends at end, as the loader has it. */
void ktr__usdt_parts(uint64_t base, uint64_t end, struct ktr__usdt_parts *parts);

/* Are n bytes there, in a part that has these flags? */
bool ktr__usdt_parts_have(const struct ktr__usdt_parts *parts, uint64_t at, uint64_t n, uint32_t flags);

#endif
