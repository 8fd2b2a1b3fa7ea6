/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is told of a block is told by a thread that is not telling already: who tells may need memory itself, and an
 * allocator may call another of these functions. Threads of ktr's own tell nothing.
 *
 * A sampled block that realloc(3) could not move is followed no more.
 */
#include "ktr/provider/heap/traced.h"

#include "ktr/provider/heap/probes.h"
#include "ktr/provider/heap/sampled.h"
#include "ktr/provider/profile/create.h"
#include "ktr/provider/profile/stacks.h"

#include <errno.h>

static __thread struct {
	bool tells;
	int64_t left; /* [bytes] until the next sample; what comes before one is asked for does not count */
	uint64_t random;
} heap_self __attribute__((tls_model("initial-exec")));

/* ---- who tells ---- */

static bool heap_begin(const struct ktr__here *here)
{
	if (heap_self.tells || ktr__create_is_own || ktr__create_is_ours((const void *)(uintptr_t)here->pc))
		return false;
	heap_self.tells = true;
	return true;
}

static void heap_end(void)
{
	heap_self.tells = false;
}

/* ---- samples ---- */

static void heap_sample(uint64_t block, uint64_t n, const struct ktr__here *here)
{
	uint64_t period = __atomic_load_n(&ktr__heap_period, __ATOMIC_RELAXED);
	struct ktr__frames frames;

	/* One that is longer than several gaps is one sample: how likely that was is known by its length. */
	heap_self.left = (int64_t)ktr__sampled_gap(&heap_self.random, period);
	if (!ktr__sampled_add(block))
		return;
	ktr__stacks_from(&frames, here);
	ktr_provider_fire4(ktr__heap_probe[KTR__HEAP_SAMPLE], block, n, period, (uint64_t)(uintptr_t)&frames);
}

/* Is it for this block to be a sample? A thread's first gap begins with its first block. */
static bool heap_is_due(uint64_t n)
{
	if (heap_self.left > 0 || !ktr__heap_is_on(KTR__HEAP_SAMPLE))
		return false;
	if (!heap_self.random)
		heap_self.left = (int64_t)(ktr__sampled_gap(&heap_self.random, ktr__heap_period) - n);
	return heap_self.left <= 0;
}

/* ---- what is told ---- */

static __attribute__((noinline)) void heap_tell_got(uint64_t block, uint64_t n, const struct ktr__here *here)
{
	struct ktr__frames frames;
	int saved = errno;

	if (!heap_begin(here))
		return;
	if (!block) {
		if (ktr__heap_is_on(KTR__HEAP_FAIL))
			ktr_provider_fire2(ktr__heap_probe[KTR__HEAP_FAIL], n, here->pc);
	} else if (heap_is_due(n)) {
		heap_sample(block, n, here);
	}
	if (block && ktr__heap_is_on(KTR__HEAP_ALLOC_STACK)) {
		ktr__stacks_from(&frames, here);
		ktr_provider_fire3(ktr__heap_probe[KTR__HEAP_ALLOC_STACK], block, n, (uint64_t)(uintptr_t)&frames);
	} else if (block && ktr__heap_is_on(KTR__HEAP_ALLOC)) {
		ktr_provider_fire3(ktr__heap_probe[KTR__HEAP_ALLOC], block, n, here->pc);
	}
	heap_end();
	errno = saved;
}

#define HEAP_ALL (KTR__HEAP_BIT(ALLOC) | KTR__HEAP_BIT(ALLOC_STACK))

static inline __attribute__((always_inline)) void heap_got(const void *block, uint64_t n,
							   const struct ktr__here *here)
{
	heap_self.left -= block ? (int64_t)n : 0;
	if (heap_self.left <= 0 || !block || __atomic_load_n(&ktr__heap_on, __ATOMIC_RELAXED) & HEAP_ALL)
		heap_tell_got((uint64_t)(uintptr_t)block, n, here);
}

static __attribute__((noinline)) void heap_tell_gives(uint64_t block, const struct ktr__here *here)
{
	bool is_sampled = ktr__sampled_take(block);
	int saved = errno;

	if (!heap_begin(here))
		return;
	if (is_sampled && ktr__heap_is_on(KTR__HEAP_SAMPLED_FREE))
		ktr_provider_fire2(ktr__heap_probe[KTR__HEAP_SAMPLED_FREE], block, here->pc);
	if (ktr__heap_is_on(KTR__HEAP_FREE))
		ktr_provider_fire2(ktr__heap_probe[KTR__HEAP_FREE], block, here->pc);
	heap_end();
	errno = saved;
}

void ktr__traced_free(void *p)
{
	const struct ktr__here here = KTR__HERE();

	if (ktr__sampled_may((uintptr_t)p) || (p && ktr__heap_is_on(KTR__HEAP_FREE)))
		heap_tell_gives((uintptr_t)p, &here);
	ktr__heap_real.free(p);
}

static __attribute__((noinline)) void heap_tell_moves(uint64_t block, uint64_t n, const struct ktr__here *here)
{
	bool is_sampled = ktr__sampled_take(block);
	int saved = errno;

	if (!heap_begin(here))
		return;
	if (is_sampled && ktr__heap_is_on(KTR__HEAP_SAMPLED_FREE))
		ktr_provider_fire2(ktr__heap_probe[KTR__HEAP_SAMPLED_FREE], block, here->pc);
	if (ktr__heap_is_on(KTR__HEAP_REALLOC))
		ktr_provider_fire3(ktr__heap_probe[KTR__HEAP_REALLOC], block, n, here->pc);
	heap_end();
	errno = saved;
}

void *ktr__traced_realloc(void *p, size_t n)
{
	const struct ktr__here here = KTR__HERE();
	void *block;

	if (p)
		heap_tell_moves((uintptr_t)p, n, &here);
	block = ktr__heap_real.realloc(p, n);
	heap_got(block, n, &here);
	return block;
}

void *ktr__traced_malloc(size_t n)
{
	const struct ktr__here here = KTR__HERE();
	void *block = ktr__heap_real.malloc(n);

	heap_got(block, n, &here);
	return block;
}

void *ktr__traced_calloc(size_t k, size_t n)
{
	const struct ktr__here here = KTR__HERE();
	void *block = ktr__heap_real.calloc(k, n);

	heap_got(block, k * n, &here);
	return block;
}

int ktr__traced_posix_memalign(void **to, size_t align, size_t n)
{
	const struct ktr__here here = KTR__HERE();
	int code = ktr__heap_real.posix_memalign(to, align, n);

	heap_got(code ? NULL : *to, n, &here);
	return code;
}

#define HEAP_ALIGNED(name, parameters, arguments)                                                \
	void *ktr__traced_##name parameters                                                      \
	{                                                                                        \
		const struct ktr__here here = KTR__HERE();                                       \
		void *block = ktr__heap_real.name arguments;                                     \
												 \
		heap_got(block, n, &here);                                                       \
		return block;                                                                    \
	}
HEAP_ALIGNED(aligned_alloc, (size_t align, size_t n), (align, n))
HEAP_ALIGNED(memalign, (size_t align, size_t n), (align, n))
HEAP_ALIGNED(valloc, (size_t n), (n))
HEAP_ALIGNED(pvalloc, (size_t n), (n))
