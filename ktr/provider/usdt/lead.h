/* SPDX-License-Identifier: BSD-2-Clause */
/* A function of the C library that leads elsewhere for a while. */
#ifndef KTR_USDT_LEAD_H
#define KTR_USDT_LEAD_H

#include "ktr/provider/usdt/point.h"

#include <ktr/error.h>

struct ktr__usdt_lead {
	const char *name;
	void (*instead)(void); /* what is called in its place */
	bool jumps; /* it must be a jump: threads come there that block all signals */
	uint8_t *at; /* NULL: not known yet, or the C library has none of the name */
	uint64_t word; /* what is there where there is a jump now; 0: there is none */
	struct ktr__usdt_point point; /* a trap, where it cannot be a jump */
};

/*
 * Looks where it is. Not under the registry's lock, for the loader is asked. What somebody else has put before the
 * C library's is left alone: false.
 */
bool ktr__usdt_lead_find(struct ktr__usdt_lead *lead);

/* It leads there from now on; and back. 0, or -errno and why not. */
int ktr__usdt_lead_on(struct ktr__usdt_lead *lead, struct ktr_error *why);
void ktr__usdt_lead_off(struct ktr__usdt_lead *lead);

#endif
