/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktr/provider/fbt/function.h"

#include <stdlib.h>
#include <string.h>

struct ktr__fbt_function *ktr__fbt_block[KTR__FBT_BLOCKS];
static uint32_t function_n = 1; /* 0 is none */

static const uint32_t function_off;
struct ktr_provider_probe ktr__fbt_none = { .on = &function_off };

static struct ktr__fbt_function *function_block(void)
{
	size_t n_bytes = KTR__FBT_BLOCK * sizeof(struct ktr__fbt_function);
	struct ktr__fbt_function *made = aligned_alloc(_Alignof(struct ktr__fbt_function), n_bytes);

	if (!made)
		return NULL;
	memset(made, 0, n_bytes);
	for (uint32_t i = 0; i < KTR__FBT_BLOCK; i++)
		made[i].probe[KTR__FBT_ENTRY] = made[i].probe[KTR__FBT_RETURN] = &ktr__fbt_none;
	return made;
}

uint32_t ktr__fbt_function_new(uint32_t n)
{
	uint32_t first = function_n;

	if (n > KTR__FBT_BLOCK * KTR__FBT_BLOCKS - first)
		return 0;
	for (uint32_t block = first / KTR__FBT_BLOCK; block <= (first + n - 1) / KTR__FBT_BLOCK; block++) {
		struct ktr__fbt_function *made = ktr__fbt_block[block];

		if (!made && !(made = function_block()))
			return 0;
		__atomic_store_n(&ktr__fbt_block[block], made, __ATOMIC_RELEASE);
	}
	function_n += n;
	return first;
}
