/* SPDX-License-Identifier: BSD-2-Clause */
/* debug.ktr.budget: a probe that takes more of a thread's time is switched off. By the registry's thread alone. */
#ifndef KTR_BUDGET_H
#define KTR_BUDGET_H

#include "ktr/provider/registry/shares.h"

#include <ktr/entry.h>

#include <sys/types.h>

#define KTR__BUDGET_MS 100 /* between two looks: what is over its budget for so long is switched off */

#define KTR__BUDGET_BATCH 1024u /* [slots] read at a place of a ring */

struct ktr__budget {
	ino_t ino; /* the session that base is of */
	dev_t dev;
	uint64_t began_ns; /* CLOCK_MONOTONIC of the last look; 0: there was none since probes are on */
	uint64_t *base;	   /* [slots] heads of the main rings at the last look; owned */
	uint64_t *head;	   /* now; of the same allocation */
	uint32_t n_rings;
	uint32_t n_sites;
	uint64_t *what; /* by call site: its provider, module and function as one number; 0: not known; owned */
	struct ktr__shares *shares; /* owned, as entry[KTR__BUDGET_BATCH] */
	struct ktr_entry *entry;
};

/* Is there anything to look at? Then looks begin, from where the rings are now, or go on. */
bool ktr__budget_begin(struct ktr__budget *budget);

/* [ms] Until the next look. */
unsigned ktr__budget_left(const struct ktr__budget *budget);

/* Looks. Has anything been switched off? */
bool ktr__budget_look(struct ktr__budget *budget);

void ktr__budget_end(struct ktr__budget *budget);

/* [ps] Firing a probe takes, on this machine. */
uint32_t ktr__budget_price(void);

#endif
