/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a thread kept waiting by one of lower priority that gets no CPU? The kernel is asked, and only where a thread
 * waits and the probe is on: for both priorities, and where the owner's is lower, for its time in line, twice.
 */
#ifndef KTR_LOCK_INVERSION_H
#define KTR_LOCK_INVERSION_H

#include <stdbool.h>
#include <stdint.h>

struct ktr__inversion {
	uint32_t owner; /* 0: it is none */
	int32_t mine, its; /* priorities: of real-time ones 100 and theirs, else 0 - nice */
	uint64_t delay_ns; /* that the owner has waited for a CPU in its life */
};

/* Before a wait for what owner (0: not known) has. Keeps errno; no point of cancellation. */
void ktr__inversion_begin(struct ktr__inversion *inversion, uint32_t owner);

/* [ns] For how long of the wait the owner could have run and did not. false: not known, it has ended meanwhile. */
bool ktr__inversion_end(const struct ktr__inversion *inversion, uint64_t *ns);

#endif
