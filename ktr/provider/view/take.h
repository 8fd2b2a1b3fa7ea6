/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of probes, taken out of the program's own rings: each once, in order of time. */
#ifndef KTR_TAKE_H
#define KTR_TAKE_H

#include <ktr/entry.h>
#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ktr__take_ring;

/* One at a time may use it. */
struct ktr__taker {
	uint32_t (*of_site)(uint32_t site); /* set by its owner: the probe of a call site, 0: none; for good, */
	uint32_t n_kinds; /* of rings: the main ones, those of rare classes, those of the kernel, */
	int fd; /* the session, read only; -1 at first */
	dev_t dev; /* which one */
	ino_t ino;
	uint64_t n_overruns; /* events overwritten before a cursor came to them */
	struct ktr__take_ring **ring; /* by row of the ring table; made when the ring has memory */
	uint32_t n_rings, n_sites;
	uint32_t *probe; /* by call site: 0 unknown, else of_site() + 1 */
	struct ktr_anchor now, first; /* first: as it was when it was first looked at */
};

struct ktr__taken {
	uint32_t probe; /* of_site()'s */
	uint32_t cpu, tid, pid;
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t arg[KTR_ARGS_MAX];
};

/* The oldest event that has not been taken yet. false: there is none now. */
bool ktr__take(struct ktr__taker *taker, struct ktr__taken *taken);

#endif
