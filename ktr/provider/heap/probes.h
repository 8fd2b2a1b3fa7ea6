/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider's probes, heap:::NAME. What gives memory back is told before it does, what gets some after: so
 * whoever gets a block that another thread has just given back is told later than that.
 *
 * A row: identifier, name, its arguments.
 */
#ifndef KTR_HEAP_PROBES_H
#define KTR_HEAP_PROBES_H

#include "ktr/provider/heap/near.h"

#include <ktr/provider.h>

#include <stdbool.h>
#include <stdint.h>

#define KTR__HEAP_PROBES(X)                                                                      \
	X(ALLOC, "alloc", "block size caller")                                                   \
	X(ALLOC_STACK, "alloc-stack", "block size stack")                                        \
	X(REALLOC, "realloc", "block size caller")                                               \
	X(FREE, "free", "block caller")                                                          \
	X(FAIL, "fail", "size caller")                                                           \
	X(SAMPLED_FREE, "sampled-free", "block caller")                                          \
	X(MAP, "map", "block size flags stack")                                                  \
	X(UNMAP, "unmap", "block size caller")                                                   \
	X(REMAP, "remap", "block size new_size caller")                                          \
	X(MAP_FAIL, "map-fail", "size caller")                                                   \
	X(SAMPLE, "sample-N", "block size period stack")

enum ktr__heap_number {
#define HEAP_NUMBER(id, name, arguments) KTR__HEAP_##id,
	KTR__HEAP_PROBES(HEAP_NUMBER)
#undef HEAP_NUMBER
	KTR__HEAP_N
};

/* The lowest bit is KTR__HEAP_NONE_YET's. */
#define KTR__HEAP_BIT_OF(number) (2u << (number))
#define KTR__HEAP_BIT(id)	 KTR__HEAP_BIT_OF(KTR__HEAP_##id)
_Static_assert(KTR__HEAP_BIT_OF(KTR__HEAP_N - 1) < KTR__HEAP_TURN, "turns are above the probes");

extern struct ktr_provider_probe *ktr__heap_probe[KTR__HEAP_N]; /* there before its bit is set */
extern uint64_t ktr__heap_period; /* [bytes] between samples, on average. Atomic; there before SAMPLE's bit is */

static inline bool ktr__heap_is_on(enum ktr__heap_number number)
{
	return __atomic_load_n(&ktr__heap_near.on, __ATOMIC_RELAXED) & KTR__HEAP_BIT_OF(number);
}

#endif
