/* SPDX-License-Identifier: BSD-2-Clause */
/* For who knows only when a probe fires how many arguments its event has. */
#ifndef KTR_RECORD_WORDS_H
#define KTR_RECORD_WORDS_H

#include <ktr/trace.h>

/* Records one event with the first n_args of the words, all six if it is no such number. Async-signal-safe. */
static inline __attribute__((always_inline)) void ktr__record_words(struct ktr_site *site, uint32_t n_args,
								     uint64_t a0, uint64_t a1, uint64_t a2,
								     uint64_t a3, uint64_t a4, uint64_t a5)
{
	switch (n_args) {
	case 0:
		ktr__record0(site);
		break;
	case 1:
		ktr__record1(site, a0);
		break;
	case 2:
		ktr__record2(site, a0, a1);
		break;
	case 3:
		ktr__record3(site, a0, a1, a2);
		break;
	case 4:
		ktr__record4(site, a0, a1, a2, a3);
		break;
	case 5:
		ktr__record5(site, a0, a1, a2, a3, a4);
		break;
	default:
		ktr__record6(site, a0, a1, a2, a3, a4, a5);
	}
}

#endif
