/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/profile/tail.h"

#include <stddef.h>

#define TAIL_STACKS 32u
#define TAIL_PAGE   4096u

struct tail_walk {
	uint32_t n; /* frames; KTR__TAIL_MAX + 1: there were more */
	uint64_t zero_at;
	struct ktr__tail_frame frame[KTR__TAIL_MAX];
};

struct ktr__tail {
	uint32_t is_taken; /* atomic */
	uint32_t last;     /* the one of the two that came to the end; the other one is under way */
	uint32_t at;       /* in the last: frames before this one are further in than where the walk is */
	uint64_t end, turn;
	struct tail_walk walk[2];
};

static struct ktr__tail tail_stack[TAIL_STACKS];

struct ktr__tail *ktr__tail_take(uint64_t end, uint64_t turn)
{
	struct ktr__tail *tail = &tail_stack[end / TAIL_PAGE % TAIL_STACKS];

	if (__atomic_exchange_n(&tail->is_taken, 1, __ATOMIC_ACQUIRE))
		return NULL;
	if (tail->end != end || tail->turn != turn)
		tail->walk[tail->last].n = 0;
	tail->end = end;
	tail->turn = turn;
	tail->at = 0;
	tail->walk[!tail->last].n = 0;
	return tail;
}

void ktr__tail_add(struct ktr__tail *tail, const struct ktr__tail_frame *frame, bool follows)
{
	struct tail_walk *walk = &tail->walk[!tail->last];

	if (!follows)
		walk->n = 0;
	if (walk->n < KTR__TAIL_MAX)
		walk->frame[walk->n] = *frame;
	walk->n += walk->n <= KTR__TAIL_MAX;
}

static bool tail_is_word(uint64_t at, uint64_t word)
{
	return *(const uint64_t *)(uintptr_t)at == word; // NOLINT
}

/* Is it what its words lead to, still? */
static bool tail_holds(const struct ktr__tail_frame *frame)
{
	return tail_is_word(frame->sp - 8, frame->pc) && (!frame->bp_at || tail_is_word(frame->bp_at, frame->bp));
}

const struct ktr__tail_frame *ktr__tail_rest(struct ktr__tail *tail, unsigned *n)
{
	const struct tail_walk *walk = &tail->walk[!tail->last], *last = &tail->walk[tail->last];
	const struct ktr__tail_frame *here;

	if (!walk->n || walk->n > KTR__TAIL_MAX)
		return NULL;
	here = &walk->frame[walk->n - 1];
	while (tail->at < last->n && last->frame[tail->at].sp < here->sp)
		tail->at++;
	if (tail->at == last->n || last->frame[tail->at].sp != here->sp || last->frame[tail->at].pc != here->pc ||
	    last->frame[tail->at].bp != here->bp)
		return NULL;
	for (uint32_t i = tail->at + 1; i < last->n; i++)
		if (!tail_holds(&last->frame[i]))
			return NULL;
	if (last->zero_at && !tail_is_word(last->zero_at, 0))
		return NULL;
	*n = last->n - tail->at - 1;
	return &last->frame[tail->at + 1];
}

void ktr__tail_ends(struct ktr__tail *tail, uint64_t zero_at)
{
	struct tail_walk *walk = &tail->walk[!tail->last];

	if (!walk->n || walk->n > KTR__TAIL_MAX)
		return;
	walk->zero_at = zero_at;
	tail->last = !tail->last;
}

void ktr__tail_joins(struct ktr__tail *tail)
{
	const struct tail_walk *last = &tail->walk[tail->last];

	for (uint32_t i = tail->at + 1; i < last->n; i++)
		ktr__tail_add(tail, &last->frame[i], true);
	ktr__tail_ends(tail, last->zero_at);
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
