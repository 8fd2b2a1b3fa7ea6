/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables that calls are counted in: each thread's own, in the session. */
#ifndef KTR_PROVIDER_ARCS_TABLE_H
#define KTR_PROVIDER_ARCS_TABLE_H

#include <ktr/session.h>

#include <stdbool.h>
#include <stdint.h>

/* A thread's table, as the trampoline looks at it. Private: the session's words lead nowhere. */
struct ktr__arcs_self {
	struct ktr_arc *slots;
	uint64_t mask;	/* of a place: its bucket */
	uint32_t epoch; /* the gate's, when the table was made; of another one it is not to be used */
	uint32_t depth; /* calls of ktr__arcs_count() within each other */
	uint32_t n_rows;
	uint32_t n_used;
	/*
	 * The largest that there was. None is smaller after that, a child's neither: a handler may have forked
	 * between the trampoline's two looks, at the mask of one and the places of the other.
	 */
	uint32_t n_least;
	uint32_t pid, tid; /* whose it is; tid 0: that was not asked yet */
	bool is_last; /* there is no memory for a larger one */
	uintptr_t frame; /* of the outermost of these calls */
};

extern __thread struct ktr__arcs_self ktr__arcs_self;

/* Its first word is the epoch: it changes with the session, and is 0 in a child that nobody has told of. */
extern uint32_t ktr__arcs_gate[];

/*
 * Under the registry's lock: tables are made in what is the process's session now. False: there is none, or no
 * memory in it.
 */
bool ktr__arcs_follow(void);
uint64_t ktr__arcs_ino(void); /* of the session that tables are made in; 0: none yet */
uint32_t ktr__arcs_epoch(void); /* of the tables that threads count in now; another one after a fork */

/*
 * Calls of functions between two addresses that are known by one row of a module, or by none (0), are known by
 * another from now on: an object has been unloaded, or is back. Under the registry's lock; how many places there
 * were.
 */
uint32_t ktr__arcs_mark(uint64_t begin, uint64_t end, uint32_t was, uint32_t row);

void ktr__arcs_forked(void); /* in a child, before anything else counts */

#endif
