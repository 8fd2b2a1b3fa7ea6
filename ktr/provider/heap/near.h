/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each call of the program's reads, on one page: a program that uses as many pages as its processor has at
 * hand waits for each that comes in addition.
 */
#ifndef KTR_HEAP_NEAR_H
#define KTR_HEAP_NEAR_H

#include "ktr/provider/heap/calls.h"

#include <stdint.h>

#define KTR__HEAP_FEW_LOG2 11

#define KTR__HEAP_NONE_YET 1u /* no probe's bit; odd, which the low half of no address of the C library's is */
#define KTR__HEAP_TURN	   4096u

struct ktr__heap_near {
	/*
	 * KTR__HEAP_NONE_YET: nothing is found yet. Else a bit per probe (KTR__HEAP_BIT): somebody wants it; above
	 * them turns, each time one is. Atomic
	 */
	uint32_t on;
	uint32_t unused;
	uint64_t self; /* [bytes] of a thread's ktr__heap_self from where its %fs is */
	struct ktr__heap_calls real; /* written once, before anything is traced */
	struct ktr__heap_calls way;  /* where calls go now; atomic, each */
	/* How many sampled blocks there are, by the hash of their address. Atomic, each. Each free(3) reads one. */
	uint8_t few[1u << KTR__HEAP_FEW_LOG2];
};

/* Not by way of the table that another object's names are found by. */
extern __attribute__((visibility("hidden"))) struct ktr__heap_near ktr__heap_near;

#endif
