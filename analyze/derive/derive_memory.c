/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of memory. A program gets and gives back some thousand times where a picture has a column, so a number
 * is told when it has changed by a thousandth of the greatest one so far.
 */
#include "analyze/derive/derive_memory.h"

#include "analyze/derive/derive_tell.h"

#include <errno.h>
#include <math.h>

#define MEMORY_STEPS 1000

struct memory_process {
	struct ktr__keyed_row keyed; /* first: process, site */
	const struct ktr_reader_thread *thread; /* one of its */
	int is_told;
	double told, most;
};

static int memory_tell(struct ktr__derive *derive, const struct ktr_event *event, uint32_t proc,
		       enum ktr__derive_site site, double bytes)
{
	struct memory_process *of =
		ktr__keyed_get(&derive->memories, (const uint64_t[4]){ proc, site, 0, 0 }, sizeof(*of));

	if (!of)
		return -ENOMEM;
	bytes = bytes > 0 ? bytes : 0; /* of estimates that have come and gone a fraction may be missing */
	of->most = fmax(of->most, bytes);
	if (of->is_told && fabs(bytes - of->told) * MEMORY_STEPS < of->most)
		return 0;
	of->is_told = 1;
	of->thread = event->thread;
	of->told = bytes;
	return ktr__derive_number(derive, event, site, (uint64_t)(bytes + 0.5));
}

int ktr__derive_memory(struct ktr__derive *derive, const struct ktr_event *event)
{
	struct ktr__heap_event e;
	int rc;

	if (!ktr__heap_event(&derive->heap.sites, event, &e))
		return 0;
	rc = ktr__heap_take(&derive->heap, &e);
	if (rc)
		return rc;
	if (ktr__heap_is_map(e.what))
		return memory_tell(derive, event, e.proc, KTR__DERIVE_MAPPED,
				   ktr__mapped_of(&derive->heap.mapped, e.proc));
	return memory_tell(derive, event, e.proc, KTR__DERIVE_IN_USE,
			   ktr__heap_live_of(&derive->heap, e.proc).bytes);
}

int ktr__derive_memory_again(struct ktr__derive *derive, uint64_t ns)
{
	struct ktr_event at = { .time_ns = ns };
	int rc = 0;

	for (size_t i = 0; i < derive->memories.n && !rc; i++) {
		const struct memory_process *of =
			(const struct memory_process *)(const void *)derive->memories.row[i];

		at.thread = of->thread;
		if (of->is_told)
			rc = ktr__derive_number(derive, &at, (enum ktr__derive_site)of->keyed.key[1],
						(uint64_t)(of->told + 0.5));
	}
	return rc;
}
