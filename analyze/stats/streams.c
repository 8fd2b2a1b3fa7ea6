/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX (1u << 20) /* rings that are told apart */

void ktr__streams_free(struct ktr__streams *streams)
{
	for (uint32_t i = 0; i < streams->n_threads; i++)
		free(streams->thread[i].word);
	free(streams->thread);
	free(streams->lost);
	memset(streams, 0, sizeof(*streams));
}

/* An array that has an element i, new ones zero; NULL without memory, the old one then stays. */
static void *streams_room(void *array, uint32_t *n, uint32_t i, size_t size)
{
	uint32_t room = *n ? *n : 1;
	char *grown;

	if (i < *n)
		return array;
	while (room <= i)
		room *= 2;
	grown = realloc(array, room * size);
	if (!grown)
		return NULL;
	memset(grown + *n * size, 0, (room - *n) * size);
	*n = room;
	return grown;
}

int ktr__streams_see(struct ktr__streams *streams, uint32_t thread, uint32_t cpu, int keep)
{
	uint32_t ring = 2 * cpu + (keep != 0);
	struct ktr__stream_set *set;
	void *grown;

	if (cpu >= STREAMS_MAX / 2)
		return 0;
	grown = streams_room(streams->thread, &streams->n_threads, thread, sizeof(*set));
	if (!grown)
		return -ENOMEM;
	streams->thread = grown;
	set = &streams->thread[thread];
	grown = streams_room(set->word, &set->n_words, ring / 64, sizeof(*set->word));
	if (!grown)
		return -ENOMEM;
	set->word = grown;
	set->word[ring / 64] |= (uint64_t)1 << ring % 64;
	return 0;
}

void ktr__streams_loss(struct ktr__streams *streams, const struct ktr_loss *loss)
{
	uint32_t ring = 2 * loss->cpu + (loss->keep != 0);
	uint64_t *grown = NULL, to_ns = loss->to_ns ? loss->to_ns : UINT64_MAX;

	if (!loss->n_events)
		return;
	if (to_ns > streams->until_ns)
		streams->until_ns = to_ns;
	if (loss->cpu < STREAMS_MAX / 2)
		grown = streams_room(streams->lost, &streams->n_lost, ring, sizeof(*streams->lost));
	if (grown)
		streams->lost = grown;
	grown = grown ? &grown[ring] : &streams->lost_any;
	if (to_ns > *grown)
		*grown = to_ns;
}

int ktr__streams_lost(const struct ktr__streams *streams, uint32_t thread, uint64_t since_ns)
{
	const struct ktr__stream_set *set;

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
