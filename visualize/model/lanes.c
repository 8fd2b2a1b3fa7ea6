/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/model/lanes.h"

uint32_t ktr__lanes_take(struct ktr__lanes *lanes)
{
	uint32_t lane = 0, word = 0;

	while (word < KTR__LANES_MAX / 64 && lanes->taken[word] == UINT64_MAX)
		word++;
	if (word == KTR__LANES_MAX / 64)
		return KTR__LANES_MAX;
	lane = 64 * word + (uint32_t)__builtin_ctzll(~lanes->taken[word]);
	lanes->taken[word] |= (uint64_t)1 << lane % 64;
	if (lane >= lanes->n)
		lanes->n = lane + 1;
	return lane;
}

void ktr__lanes_give(struct ktr__lanes *lanes, uint32_t lane)
{
	lanes->taken[lane / 64] &= ~((uint64_t)1 << lane % 64);
}
