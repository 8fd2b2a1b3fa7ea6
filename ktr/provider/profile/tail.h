/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a walk over a stack has found, for the next one: most of a thread's callers are those of the sample before.
 *
 * Each frame follows from the one before it, and from the words that lead out of that. So where a walk comes to a
 * frame that it has been in, with the same registers, and all words from there on are what they were, the rest is
 * what it was. It is no guess: a word is read for each frame, but nothing is looked up. rbp, which most code uses
 * as any register, counts where what follows has gone by it.
 *
 * Async-signal-safe, all of it: who finds the place taken, by whom it has interrupted say, does without.
 */
#ifndef KTR_TAIL_H
#define KTR_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#define KTR__TAIL_MAX 64u

struct ktr__tail_frame {
	uint64_t pc, sp, bp;
	uint64_t bp_at; /* where bp was read when it was come to; 0: it is that of the frame before */
	bool by_bp;     /* that of the frame before has led to it */
};

struct ktr__tail;

/* Of a stack that ends there, as long as what is loaded is that of `turn`. NULL: somebody is using it. */
struct ktr__tail *ktr__tail_take(uint64_t end, uint64_t turn);

/*
 * A frame that was come to. follows: by the registers and words of the one added last; else what was added is of no
 * more use.
 */
void ktr__tail_add(struct ktr__tail *tail, const struct ktr__tail_frame *frame, bool follows);

/*
 * The pcs of the *n frames that follow the one added last, if it was come to before and they are as they were. They
 * stay until it is given back.
 */
const uint64_t *ktr__tail_rest(struct ktr__tail *tail, unsigned *n);

/* The walk has come to the end, which is told by a word of 0 at zero_at, or, 0, by the last frame itself. */
void ktr__tail_ends(struct ktr__tail *tail, uint64_t zero_at);

/* It has come to the end by the rest. */
void ktr__tail_joins(struct ktr__tail *tail);

void ktr__tail_give(struct ktr__tail *tail);

/* In the child of a fork: whoever else was walking is gone. */
void ktr__tail_forked(void);

#endif
