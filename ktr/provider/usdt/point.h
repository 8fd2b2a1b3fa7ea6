/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places in the text at which there is, or was, a trap of ours. A probe has one for each place that it was compiled
 * to; and several may have the same place, where the linker has made one function of two. They are never freed, so
 * that a handler may look at any time.
 */
#ifndef KTR_USDT_POINT_H
#define KTR_USDT_POINT_H

#include "ktr/provider/usdt/args.h"

#include <ktr/provider.h>

#define KTR__USDT_TRAP 0xcc /* int3 */
#define KTR__USDT_NOP  5    /* [bytes] that are looked at: the longest */
#define KTR__USDT_ARGS 6 /* that an event takes */

struct ktr__usdt_point {
	struct ktr__usdt_point *chain; /* of its bucket */
	struct ktr__usdt_point *next; /* of its probe */
	uint8_t *at;
	uint8_t first; /* the byte in the place of which the trap is */
	uint8_t n_nop; /* [bytes] of the instruction there */
	uint8_t n_args;
	uint8_t kind[KTR__USDT_ARGS]; /* enum ktr__usdt_kind */
	uint8_t is_on; /* atomic */
	uint8_t was_on; /* once. Atomic */
	uint8_t is_gone; /* its object was unloaded. Atomic */
	uint16_t *semaphore; /* NULL: it has none */
	struct ktr_provider_probe *probe; /* atomic */
	void (*instead)(void); /* of a function's first byte: what is called in its place; NULL: it is a probe's */
	struct ktr__usdt_arg arg[KTR__USDT_ARGS];
};

/* Of an object that is gone, at an address, to be used anew; or a new one. NULL: no memory. */
struct ktr__usdt_point *ktr__usdt_point_make(uint8_t *at);

/* It can be found from now on. One caller at a time. */
void ktr__usdt_point_add(struct ktr__usdt_point *point);

/* That is at an address, and the next one there; NULL: none. Async-signal-safe. */
struct ktr__usdt_point *ktr__usdt_point_at(const uint8_t *at);
struct ktr__usdt_point *ktr__usdt_point_also(const struct ktr__usdt_point *point);

/* [bytes] of the instruction that does nothing and begins there; 0: it is another one. */
uint8_t ktr__usdt_point_nop(const uint8_t *at);

/*
 * Puts the trap there, or takes it back when no other point at its place wants it, if what is there is what was
 * left there. 0 or -errno; -EBUSY: not so. A debugger that had a breakpoint there may have put a trap of ours back:
 * that is as good as a new one.
 */
int ktr__usdt_point_on(struct ktr__usdt_point *point);
int ktr__usdt_point_off(struct ktr__usdt_point *point);

#endif
