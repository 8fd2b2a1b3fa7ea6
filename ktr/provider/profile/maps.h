/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is loaded, with the tables that lead out of its functions: made by a thread that may wait for the loader,
 * looked up by handlers of signals.
 *
 *	operation x operation	at	look	forget
 *	at			safe	safe	safe
 *	look, forget		safe	one at a time
 */
#ifndef KTR_MAPS_H
#define KTR_MAPS_H

#include "ktr/provider/profile/cfi.h"

#include <stdbool.h>
#include <stdint.h>

struct ktr__map_object {
	uint64_t begin, end, base;
	uint64_t text_begin, text_end; /* what can be executed, and read */
	struct ktr__cfi cfi; /* none where it has no .eh_frame that can be searched */
	bool is_there; /* of the last look */
};

/*
 * Takes in what has been loaded since the last look, and lets go of what is gone. Adds rows of modules to the
 * session, so that the addresses have names. Blocks on the loader's lock. True: something has changed.
 */
bool ktr__maps_look(void);

/* Between these two what at() returns stays. Async-signal-safe. */
void ktr__maps_enter(void);
void ktr__maps_leave(void);

/* The object of an address; NULL: in none that is known. Async-signal-safe. */
const struct ktr__map_object *ktr__maps_at(uint64_t address);

/* Another one each time something has changed. Async-signal-safe. */
uint64_t ktr__maps_turn(void);

/* In the child of a fork: handlers of other threads are gone. */
void ktr__maps_forked(void);

#endif
