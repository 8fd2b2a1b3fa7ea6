/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/spans/streams.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ktr__streams_free(struct ktr__streams *streams)
{
	for (uint32_t i = 0; i < streams->n_threads; i++)
		free(streams->thread[i].word);
	free(streams->thread);
	free(streams->lost);
	memset(streams, 0, sizeof(*streams));
}

/* So many words: there is a set for each thread and row, and few machines have many CPUs. */
static int rings_room(struct ktr__rings *rings, uint32_t n)
{
	uint64_t *word = realloc(rings->word, n * sizeof(*word));

	if (word == NULL)
		return -ENOMEM;
	memset(word + rings->n_words, 0, (n - rings->n_words) * sizeof(*word));
	*rings = (struct ktr__rings){ word, n };
	return 0;
}

int ktr__rings_add(struct ktr__rings *rings, uint32_t cpu, int keep)
{
	uint32_t bit = 2 * cpu + (keep != 0);

	if (cpu >= KTR__RINGS_CPUS)
		return 0;
	if (bit / 64 >= rings->n_words && rings_room(rings, bit / 64 + 1) != 0)
		return -ENOMEM;
	rings->word[bit / 64] |= (uint64_t)1 << bit % 64;
	return 0;
}

int ktr__rings_join(struct ktr__rings *rings, const struct ktr__rings *more)
{
	if (more->n_words > rings->n_words && rings_room(rings, more->n_words) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < more->n_words; i++)
		rings->word[i] |= more->word[i];
	return 0;
}

int ktr__rings_have(const struct ktr__rings *rings, uint32_t cpu, int keep)
{
	uint32_t bit = 2 * cpu + (keep != 0);

	return cpu < KTR__RINGS_CPUS && bit / 64 < rings->n_words && (rings->word[bit / 64] >> bit % 64 & 1);
}

int ktr__streams_see(struct ktr__streams *streams, uint32_t thread, uint32_t cpu, int keep)
{
	if (ktr__array_grow(&streams->thread, &streams->n_threads, thread, sizeof(*streams->thread)))
		return -ENOMEM;
	return ktr__rings_add(&streams->thread[thread], cpu, keep);
}

void ktr__streams_loss(struct ktr__streams *streams, const struct ktr_loss *loss)
{
	uint32_t ring = 2 * loss->cpu + (loss->keep != 0);
	uint64_t *lost = &streams->lost_any, to_ns = loss->to_ns ? loss->to_ns : UINT64_MAX;

	if (!loss->n_events)
		return;
	if (to_ns > streams->until_ns)
		streams->until_ns = to_ns;
	if (loss->cpu < KTR__RINGS_CPUS &&
	    ktr__array_grow(&streams->lost, &streams->n_lost, ring, sizeof(*streams->lost)) == 0)
		lost = &streams->lost[ring];
	if (to_ns > *lost)
		*lost = to_ns;
}

int ktr__streams_lost(const struct ktr__streams *streams, uint32_t thread, uint64_t since_ns)
{
	const struct ktr__rings *set;

	if (streams->until_ns <= since_ns)
		return 0;
	if (streams->lost_any > since_ns || thread >= streams->n_threads)
		return streams->lost_any > since_ns;
	set = &streams->thread[thread];
	for (uint32_t ring = 0; ring < streams->n_lost && ring / 64 < set->n_words; ring++)
		if ((set->word[ring / 64] >> ring % 64 & 1) && streams->lost[ring] > since_ns)
			return 1;
	return 0;
}
