/* SPDX-License-Identifier: BSD-2-Clause */
/* The counts of counted sites, one per CPU. */
#ifndef KTR_COUNT_H
#define KTR_COUNT_H

#include <stdint.h>

/* Those of a site, where they are present; NULL if they cannot be. Async-signal-safe. */
uint64_t *ktr__counts(uint32_t site);

#endif
