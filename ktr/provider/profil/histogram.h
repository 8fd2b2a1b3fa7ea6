/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where ticks are counted: a buffer of counters, of which there is one at a time.
 *
 *	operation x operation	count	set
 *	count			safe	safe: when set() returns nobody counts in the one before
 *	set			safe	one at a time
 */
#ifndef KTR_PROFIL_HISTOGRAM_H
#define KTR_PROFIL_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ktr__histogram {
	uintptr_t base;
	size_t size; /* [bytes] of counters of 2 bytes */
	uint64_t offset;
	uint32_t scale;
	uint32_t wide; /* 1: each counter has 4 bytes in the place of its 2 */
};

/* NULL: nothing is counted. Waits for those who count. True: there was one before. */
bool ktr__histogram_set(const struct ktr__histogram *histogram);

enum ktr__counted {
	KTR__COUNTED,
	KTR__COUNTED_OUTSIDE, /* in no counter */
	KTR__COUNTED_NOT,     /* there is no histogram */
	KTR__COUNTED_FAULT,   /* it could not be written to, and is no more */
};

/* Async-signal-safe. */
enum ktr__counted ktr__histogram_count(uint64_t pc, uint64_t n_ticks);

bool ktr__histogram_is_set(void);

/* In the child of a fork: nobody counts. */
void ktr__histogram_forked(void);

#endif
