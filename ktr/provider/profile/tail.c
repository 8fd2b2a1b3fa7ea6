/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/profile/tail.h"

#include <stddef.h>

#define TAIL_STACKS 32u
#define TAIL_PAGE   4096u

_Static_assert(KTR__TAIL_MAX <= 64, "a bit each");

/*
 * The last walk that came to the end has its outermost frame in the last place, so that one that joins it has only
 * its inner frames written before the others. What each sample reads of all frames lies together.
 */
struct ktr__tail {
	uint32_t is_taken; /* atomic */
	uint32_t from;     /* the innermost frame of the last walk; KTR__TAIL_MAX: there was none */
	uint32_t at;       /* frames before this one are further in than where the walk is */
	uint32_t n;	   /* of the walk that is under way; KTR__TAIL_MAX + 1: there were more */
	uint64_t end, turn, zero_at;
	uint64_t needs; /* a bit for each frame of the last walk: what follows has gone by its bp */
	uint64_t pc[KTR__TAIL_MAX], sp[KTR__TAIL_MAX];
	uint64_t bp[KTR__TAIL_MAX], bp_at[KTR__TAIL_MAX];
	struct ktr__tail_frame now[KTR__TAIL_MAX];
};

static struct ktr__tail tail_stack[TAIL_STACKS]; /* 0, 0: of no stack */

struct ktr__tail *ktr__tail_take(uint64_t end, uint64_t turn)
{
	struct ktr__tail *tail = &tail_stack[end / TAIL_PAGE % TAIL_STACKS];

	if (__atomic_exchange_n(&tail->is_taken, 1, __ATOMIC_ACQUIRE))
		return NULL;
	if (tail->end != end || tail->turn != turn)
		tail->from = KTR__TAIL_MAX;
	tail->end = end;
	tail->turn = turn;
	tail->at = tail->from;
	tail->n = 0;
	return tail;
}

void ktr__tail_add(struct ktr__tail *tail, const struct ktr__tail_frame *frame, bool follows)
{
	if (!follows)
		tail->n = 0;
	if (tail->n < KTR__TAIL_MAX)
		tail->now[tail->n] = *frame;
	tail->n += tail->n <= KTR__TAIL_MAX;
}

static bool tail_needs(const struct ktr__tail *tail, uint32_t i)
{
	return tail->needs >> i & 1;
}

static bool tail_is_word(uint64_t at, uint64_t word)
{
	return *(const uint64_t *)(uintptr_t)at == word; // NOLINT
}

/* Is a frame what its words lead to, still? */
static bool tail_holds(const struct ktr__tail *tail, uint32_t i)
{
	if (!tail_is_word(tail->sp[i] - 8, tail->pc[i]))
		return false;
	return !tail_needs(tail, i) || !tail->bp_at[i] || tail_is_word(tail->bp_at[i], tail->bp[i]);
}

/* Is frame i of the last walk where this one is? */
static bool tail_meets(const struct ktr__tail *tail, uint32_t i)
{
	const struct ktr__tail_frame *here = &tail->now[tail->n - 1];

	return tail->sp[i] == here->sp && tail->pc[i] == here->pc &&
	       (!tail_needs(tail, i) || tail->bp[i] == here->bp);
}

const uint64_t *ktr__tail_rest(struct ktr__tail *tail, unsigned *n)
{
	if (!tail->n || tail->n > KTR__TAIL_MAX)
		return NULL;
	while (tail->at < KTR__TAIL_MAX && tail->sp[tail->at] < tail->now[tail->n - 1].sp)
		tail->at++;
	if (tail->at == KTR__TAIL_MAX || !tail_meets(tail, tail->at))
		return NULL;
	for (uint32_t i = tail->at + 1; i < KTR__TAIL_MAX; i++)
		if (!tail_holds(tail, i))
			return NULL;
	if (tail->zero_at && !tail_is_word(tail->zero_at, 0))
		return NULL;
	*n = KTR__TAIL_MAX - 1 - tail->at;
	return &tail->pc[tail->at + 1];
}

/* The walk that is under way becomes the last one, up to a frame whose place is `at`. */
static void tail_place(struct ktr__tail *tail, uint32_t at)
{
	uint32_t from = at + 1 - tail->n;
	bool needs = tail_needs(tail, at);

	for (uint32_t i = at + 1; i-- > from;) {
		const struct ktr__tail_frame *frame = &tail->now[i - from];

		tail->pc[i] = frame->pc;
		tail->sp[i] = frame->sp;
		tail->bp[i] = frame->bp;
		tail->bp_at[i] = frame->bp_at;
		tail->needs = (tail->needs & ~(1ull << i)) | (uint64_t)needs << i;
		needs = frame->by_bp || (needs && !frame->bp_at);
	}
	tail->from = from;
}

/* The end is taken to be told by the last one's bp. */
void ktr__tail_ends(struct ktr__tail *tail, uint64_t zero_at)
{
	if (!tail->n || tail->n > KTR__TAIL_MAX)
		return;
	tail->zero_at = zero_at;
	tail->needs = 1ull << (KTR__TAIL_MAX - 1);
	tail_place(tail, KTR__TAIL_MAX - 1);
}

void ktr__tail_joins(struct ktr__tail *tail)
{
	if (tail->n > 1 && tail->n <= tail->at + 1)
		tail_place(tail, tail->at);
}

void ktr__tail_give(struct ktr__tail *tail)
{
	__atomic_store_n(&tail->is_taken, 0, __ATOMIC_RELEASE);
}

void ktr__tail_forked(void)
{
	for (unsigned i = 0; i < TAIL_STACKS; i++)
		ktr__tail_give(&tail_stack[i]);
}
