/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/heap/heap_view.h"

#include <stdlib.h>
#include <string.h>

#define HEAP_OF(name, expression)                                                                \
	static double heap_##name(const struct ktr__heap_place *place)                           \
	{                                                                                        \
		return expression;                                                               \
	}
HEAP_OF(live_bytes, place->live.bytes)
HEAP_OF(live, place->live.n)
HEAP_OF(peak_bytes, place->peak.bytes)
HEAP_OF(peak, place->peak.n)
HEAP_OF(got_bytes, place->got.bytes)
HEAP_OF(got, place->got.n)
HEAP_OF(brief, place->n_brief)
HEAP_OF(other, place->n_other)

const struct heap_measure heap_measures[] = {
	{ "live", "In use at the end", "bytes", "in use at the end", heap_live_bytes, heap_live,
	  "       Bytes   Share    Blocks  Place", 1, 0 },
	{ "peak", "In use at the peak", "bytes", "in use at the peak", heap_peak_bytes, heap_peak,
	  "       Bytes   Share    Blocks  Place", 1, 0 },
	{ "got", "Got most often", "blocks", "in all", heap_got, heap_got_bytes,
	  "      Blocks   Share     Bytes  Place", 1, 0 },
	{ "bytes", "Got most", "bytes", "in all", heap_got_bytes, heap_got,
	  "       Bytes   Share    Blocks  Place", 0, 0 },
	{ "brief", "Given back before the thread got another", "blocks", "given back before their thread got another", heap_brief, heap_got,
	  "      Blocks   Share    Of all  Place", 0, 0 },
	{ "other", "Given back by another thread", "blocks", "given back by another thread", heap_other, heap_got,
	  "      Blocks   Share    Of all  Place", 0, 0 },
	{ "mapped", "Mapped at the end", "bytes", "mapped at the end", heap_live_bytes, heap_live,
	  "       Bytes   Share    Ranges  Place", 1, 1 },
	{ "maps", "Mapped most", "bytes", "mapped in all", heap_got_bytes, heap_got,
	  "       Bytes   Share     Calls  Place", 0, 1 },
};
const unsigned heap_n_measures = sizeof(heap_measures) / sizeof(heap_measures[0]);

int heap_measure(const char *name)
{
	for (unsigned i = 0; i < heap_n_measures; i++)
		if (strcmp(heap_measures[i].name, name) == 0)
			return (int)i;
	return -1;
}

static double (*heap_order_of)(const struct ktr__heap_place *place); /* qsort(3) hands nothing on */

static int heap_order(const void *a, const void *b)
{
	const struct ktr__heap_place *x = *(const struct ktr__heap_place *const *)a,
				     *y = *(const struct ktr__heap_place *const *)b;
	double of_x = heap_order_of(x), of_y = heap_order_of(y);

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return memcmp(x->stack.keyed.key, y->stack.keyed.key, sizeof(x->stack.keyed.key));
}

const struct ktr__heap_place **heap_sorted(const struct heap_view *view, const struct heap_measure *measure,
					  size_t *n)
{
	const struct ktr__keyed *places = measure->is_mapped ? &view->heap->mapped.places : &view->heap->places;
	const struct ktr__heap_place **sorted = malloc((places->n + 1) * sizeof(const struct ktr__heap_place *));

	*n = 0;
	if (!sorted)
		return NULL;
	/* Of estimates that have come and gone a fraction of a byte may be left. */
	for (size_t i = 0; i < places->n; i++) {
		const struct ktr__heap_place *place = (const struct ktr__heap_place *)(const void *)places->row[i];

		if (measure->of(place) > 0.5)
			sorted[(*n)++] = place;
	}
	heap_order_of = measure->of;
	qsort(sorted, *n, sizeof(const struct ktr__heap_place *), heap_order);
	return sorted;
}
