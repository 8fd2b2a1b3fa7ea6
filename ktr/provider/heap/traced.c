/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is told with a stack is told by a thread that is not telling already, for an allocator may call another of
 * these functions. Threads of ktr's own tell nothing.
 *
 * A sampled block that realloc(3) could not move is followed no more.
 */
#include "ktr/provider/heap/traced.h"

#include "ktr/provider/heap/tell.h"
#include "ktr/provider/imports/image.h"
#include "ktr/provider/profile/create.h"
#include "ktr/provider/registry/fire.h"

#include <errno.h>

__thread struct ktr__heap_passes ktr__heap_self;
static __thread struct {
	uint64_t random;
	uint64_t tells; /* where its stack was when it began to tell of a call; 0: it does not */
	uint32_t on;	/* ktr__heap_near.on when it drew a gap */
} heap_self __attribute__((tls_model("initial-exec")));

#define HEAP_LATER 1048576u /* [bytes] while nobody wants samples */
#define HEAP_GETS  (KTR__HEAP_BIT(ALLOC) | KTR__HEAP_BIT(ALLOC_STACK) | KTR__HEAP_BIT(FAIL))

/* What a thread has left by siglongjmp(3) it does not tell any more. */
static inline __attribute__((always_inline)) bool heap_is_ours(const struct ktr__here *here)
{
	return ktr__create_is_own || here->sp < heap_self.tells || ktr__image_is_ours(here->pc);
}

bool ktr__heap_is_ours(const struct ktr__here *here)
{
	return heap_is_ours(here);
}

/* ---- samples ---- */

/*
 * Is it for this block to be a sample? A thread's first gap, after each change of what is on, begins with its first
 * block. One that is longer than several gaps is one sample: how likely that was is known by its length.
 */
static bool heap_is_due(uint64_t n, uint32_t on, uint64_t period)
{
	bool sampled = on & KTR__HEAP_BIT(SAMPLE), was_on = heap_self.on == on;

	if (!was_on) {
		heap_self.on = on;
		ktr__heap_self.on = on & HEAP_GETS ? 0 : on;
	}
	if (was_on && ktr__heap_self.left > n) {
		ktr__heap_self.left -= n;
		return false;
	}
	ktr__heap_self.left = sampled ? ktr__sampled_gap(&heap_self.random, period) : HEAP_LATER;
	if (was_on || ktr__heap_self.left <= n)
		return sampled;
	ktr__heap_self.left -= n;
	return false;
}

/* ---- what is told ---- */

static void heap_fire(const void *block, uint64_t n, uint64_t period, const void *stack)
{
	if (period)
		KTR__FIRE4(ktr__heap_probe[KTR__HEAP_SAMPLE], block, n, period, stack);
	if (ktr__heap_is_on(KTR__HEAP_ALLOC_STACK))
		KTR__FIRE3(ktr__heap_probe[KTR__HEAP_ALLOC_STACK], block, n, stack);
}

/* period 0: it is no sample. */
static __attribute__((noinline)) void heap_got_known(const void *block, uint64_t n, uint64_t period,
						     const struct ktr__here *here)
{
	struct ktr__frames frames;
	int saved = errno;

	heap_self.tells = here->sp;
	ktr__stacks_from(&frames, here);
	heap_self.tells = 0;
	heap_fire(block, n, period, &frames);
	errno = saved;
}

/* Others are small, it may be. */
static __attribute__((noinline)) void heap_got_strange(const void *block, uint64_t n, uint64_t period,
						       const struct ktr__here *here)
{
	struct ktr__frame frame;

	ktr__stacks_one(&frame, here->pc);
	heap_fire(block, n, period, &frame);
}

/* There is none, or it may be told with its stack. */
static __attribute__((noinline)) void heap_got_more(const void *block, uint64_t n, const struct ktr__here *here)
{
	uint32_t on = __atomic_load_n(&ktr__heap_near.on, __ATOMIC_RELAXED);
	uint64_t period = __atomic_load_n(&ktr__heap_period, __ATOMIC_RELAXED);

	if (heap_is_ours(here))
		return;
	if (!block) {
		if (on & KTR__HEAP_BIT(FAIL))
			KTR__FIRE2(ktr__heap_probe[KTR__HEAP_FAIL], n, here->pc);
		return;
	}
	if (!(on & (KTR__HEAP_BIT(SAMPLE) | KTR__HEAP_BIT(ALLOC_STACK))) || !heap_is_due(n, on, period) ||
	    !ktr__sampled_add((uintptr_t)block))
		period = 0;
	if (!period && !(on & KTR__HEAP_BIT(ALLOC_STACK))) {
		if (on & KTR__HEAP_BIT(ALLOC))
			KTR__FIRE3(ktr__heap_probe[KTR__HEAP_ALLOC], block, n, here->pc);
	} else if (ktr__stacks_known(here->sp)) {
		heap_got_known(block, n, period, here);
	} else {
		heap_got_strange(block, n, period, here);
	}
}

/* What is told by who called needs no more than that. */
void ktr__heap_got(const void *block, uint64_t n, const struct ktr__here *here)
{
	uint32_t on = __atomic_load_n(&ktr__heap_near.on, __ATOMIC_RELAXED);

	if (__builtin_expect(!block || on & (KTR__HEAP_BIT(SAMPLE) | KTR__HEAP_BIT(ALLOC_STACK)), 0))
		heap_got_more(block, n, here);
	else if (on & KTR__HEAP_BIT(ALLOC) && !heap_is_ours(here))
		KTR__FIRE3(ktr__heap_probe[KTR__HEAP_ALLOC], block, n, here->pc);
}

static inline __attribute__((always_inline)) void heap_gives_any(const void *block, const struct ktr__here *here)
{
	if (ktr__heap_is_on(KTR__HEAP_FREE) && !heap_is_ours(here))
		KTR__FIRE2(ktr__heap_probe[KTR__HEAP_FREE], block, here->pc);
}

/* One that is sampled, it may be. */
static __attribute__((noinline)) void heap_gives_known(const void *block, const struct ktr__here *here)
{
	if (ktr__sampled_take((uintptr_t)block) && !heap_is_ours(here) && ktr__heap_is_on(KTR__HEAP_SAMPLED_FREE))
		KTR__FIRE2(ktr__heap_probe[KTR__HEAP_SAMPLED_FREE], block, here->pc);
	heap_gives_any(block, here);
}

void ktr__heap_gives(const void *block, const struct ktr__here *here)
{
	if (__builtin_expect(ktr__sampled_may((uintptr_t)block), 0))
		heap_gives_known(block, here);
	else
		heap_gives_any(block, here);
}

static void heap_moves(const void *block, uint64_t n, const struct ktr__here *here)
{
	bool is_sampled = ktr__sampled_may((uintptr_t)block) && ktr__sampled_take((uintptr_t)block);

	if (heap_is_ours(here))
		return;
	if (is_sampled && ktr__heap_is_on(KTR__HEAP_SAMPLED_FREE))
		KTR__FIRE2(ktr__heap_probe[KTR__HEAP_SAMPLED_FREE], block, here->pc);
	if (ktr__heap_is_on(KTR__HEAP_REALLOC))
		KTR__FIRE3(ktr__heap_probe[KTR__HEAP_REALLOC], block, n, here->pc);
}

/* ---- calls that are told of ---- */

#define HEAP_TOLD(name, parameters, arguments, n)                                                \
	__attribute__((noinline)) void *ktr__traced_##name parameters                            \
	{                                                                                        \
		const struct ktr__here here = KTR__HERE();                                       \
		void *block = ktr__heap_near.real.name arguments;                                     \
												 \
		ktr__heap_got(block, n, &here);                                                       \
		return block;                                                                    \
	}
HEAP_TOLD(malloc, (size_t n), (n), n)
HEAP_TOLD(calloc, (size_t k, size_t n), (k, n), n && k > SIZE_MAX / n ? SIZE_MAX : k * n)
HEAP_TOLD(aligned_alloc, (size_t align, size_t n), (align, n), n)
HEAP_TOLD(memalign, (size_t align, size_t n), (align, n), n)
HEAP_TOLD(valloc, (size_t n), (n), n)
HEAP_TOLD(pvalloc, (size_t n), (n), n)

__attribute__((noinline)) int ktr__traced_posix_memalign(void **to, size_t align, size_t n)
{
	const struct ktr__here here = KTR__HERE();
	int code = ktr__heap_near.real.posix_memalign(to, align, n);

	if (code != EINVAL)
		ktr__heap_got(code ? NULL : *to, n, &here);
	return code;
}

__attribute__((noinline)) void *ktr__traced_realloc(void *p, size_t n)
{
	const struct ktr__here here = KTR__HERE();
	void *block;

	if (p)
		heap_moves(p, n, &here);
	block = ktr__heap_near.real.realloc(p, n);
	ktr__heap_got(block, n, &here);
	return block;
}

__attribute__((noinline)) void ktr__traced_free(void *p)
{
	const struct ktr__here here = KTR__HERE();

	if (p)
		ktr__heap_gives(p, &here);
	ktr__heap_near.real.free(p);
}
