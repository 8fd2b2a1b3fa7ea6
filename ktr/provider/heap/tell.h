/* SPDX-License-Identifier: BSD-2-Clause */
/* What a call that gets memory, or gives some back, tells. Each keeps errno. */
#ifndef KTR_HEAP_TELL_H
#define KTR_HEAP_TELL_H

#include "ktr/provider/heap/probes.h"
#include "ktr/provider/heap/sampled.h"
#include "ktr/provider/profile/stacks.h"

#include <stdbool.h>
#include <stdint.h>

/* Is it ktr that calls, or a thread that tells of a call already? */
bool ktr__heap_is_ours(const struct ktr__here *here);

/* Of a thread: while `on` is ktr__heap_on the next `left` bytes are of no interest. on 0: all are told, or none. */
struct ktr__heap_passes {
	uint64_t left; /* [bytes] before a block that may be a sample */
	uint32_t on;
};

extern __thread struct ktr__heap_passes ktr__heap_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Does nobody want to know of a block of so many bytes that is got? Counts it. */
static inline __attribute__((always_inline)) bool ktr__heap_passes(uint64_t n)
{
	uint32_t on = __atomic_load_n(&ktr__heap_on, __ATOMIC_RELAXED);

	if (__builtin_expect(ktr__heap_self.left <= n || ktr__heap_self.on != on, 0))
		return false;
	ktr__heap_self.left -= n;
	return true;
}

/* One was got, NULL: none. Not told where ktr__heap_passes() says so. */
void ktr__heap_got(const void *block, uint64_t n, const struct ktr__here *here);

/* May somebody want to know that this one is given back? */
static inline bool ktr__heap_tells_free(const void *block)
{
	return ktr__sampled_may((uintptr_t)block) || ktr__heap_is_on(KTR__HEAP_FREE);
}

/* It is about to be; not NULL. */
void ktr__heap_gives(const void *block, const struct ktr__here *here);

#endif
