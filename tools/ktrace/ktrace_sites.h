/* SPDX-License-Identifier: BSD-2-Clause */
/* The call sites of a trace of system calls: two for each call, made when it first occurs. */
#ifndef TOOLS_KTRACE_SITES_H
#define TOOLS_KTRACE_SITES_H

#include "ktr/provider/syscall/calls.h"

#include <stdint.h>

/* What a return's events have besides the key and the result, so that there is a site for each that occurs. */
#define KTRACE_SITES_ERROR   1u /* it failed */
#define KTRACE_SITES_ABOUT   2u /* what it was about is known */
#define KTRACE_SITES_RETURNS 4u /* number of variants of it */

struct ktr__ktrace_trace;

struct ktrace_sites {
	struct ktr__ktrace_trace *out; /* borrowed */
	uint32_t *entry;   /* owned; by row of the table of calls */
	uint32_t *returns; /* owned; likewise, KTRACE_SITES_RETURNS each */
	uint32_t n_entries, n_returns;
	uint32_t data, signal, program, user, number_entry, number_return; /* the others */
	uint64_t mask, data_mask;
};

/* Makes the trace's classes, and the sites that are none of a call. 0 or -ENOMEM. */
int ktrace_sites_open(struct ktrace_sites *sites, struct ktr__ktrace_trace *out);

/* The site of a call's beginning, and of its end; 0: no memory. */
uint32_t ktrace_sites_entry(struct ktrace_sites *sites, const struct ktr__call *call);
uint32_t ktrace_sites_return(struct ktrace_sites *sites, const struct ktr__call *call, unsigned variant);

/* How many arguments the beginning has; is one of them the address of a socket? */
unsigned ktrace_sites_n_args(const struct ktr__call *call);
int ktrace_sites_is_address(const struct ktr__call *call, unsigned i);

void ktrace_sites_free(struct ktrace_sites *sites);

#endif
