/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/heap/heap_json.h"

#include "analyze/print/sink_json.h"
#include "tools/report/report_json.h"
#include "tools/stack_line.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#define HEAP_EXACT 9007199254740992.0 /* 2^53 */

/* Whole numbers as such, as far as they are exact. */
static json_t *heap_json_number(double number)
{
	if (number > HEAP_EXACT || !(number >= 0))
		return json_real(number >= 0 ? number : 0);
	return json_integer((json_int_t)(number + 0.5));
}

static json_t *heap_json_sum(const struct ktr__heap_sum *sum)
{
	return json_pack("{s:o, s:o}", "blocks", heap_json_number(sum->n), "bytes", heap_json_number(sum->bytes));
}

static json_t *heap_json_place(const struct heap_view *view, const struct ktr__heap_place *place)
{
	json_t *frames = json_array();
	char name[STACK_LINE_NAME];
	double n_gave = place->got.n - place->live.n;

	for (uint32_t i = 0; i < place->stack.n; i++)
		json_array_append_new(
			frames, report_json_text(stack_line_frame(view->symbols, &place->stack, i, name)));
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "frames", frames, "cut", place->stack.is_cut, "got",
			 heap_json_sum(&place->got), "live", heap_json_sum(&place->live), "peak",
			 heap_json_sum(&place->peak), "brief", heap_json_number(place->n_brief), "other_thread",
			 heap_json_number(place->n_other), "age_ns",
			 n_gave > 0.5 ? heap_json_number(place->age_ns / n_gave) : json_null());
}

/* Null: nothing of mmap(2) was recorded. */
static json_t *heap_json_mapped(const struct ktr__heap *heap)
{
	if (!(heap->mapped.got.n > 0))
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "got", heap_json_sum(&heap->mapped.got), "live",
			 heap_json_sum(&heap->mapped.live), "peak", heap_json_sum(&heap->mapped.peak), "refused",
			 ktr__jansson_u64(heap->mapped.n_failed), "unknown_bytes",
			 ktr__jansson_u64(heap->mapped.unknown_bytes));
}

int heap_json(const struct heap_view *view, FILE *to)
{
	const struct heap_measure *measure = &heap_measures[view->by < 0 ? heap_measure("bytes") : view->by];
	const struct ktr__heap *heap = view->heap;
	json_t *places = json_array(), *all;
	const struct ktr__heap_place **sorted;
	size_t n;
	int rc;

	sorted = heap_sorted(view, measure, &n);
	for (size_t i = 0; sorted && i < n && (!view->top || i < view->top); i++)
		json_array_append_new(places, heap_json_place(view, sorted[i]));
	free(sorted);
	all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "got", heap_json_sum(&heap->got),
			"given_back", heap_json_sum(&heap->gave), "live", heap_json_sum(&heap->live), "peak",
			heap_json_sum(&heap->peak), "peak_ns",
			heap->n_peaks ? ktr__jansson_u64(heap->peak_ns) : json_null(), "period",
			heap->kind == KTR__HEAP_SAMPLED ? ktr__jansson_u64(heap->period) : json_null(), "samples",
			ktr__jansson_u64(heap->n_samples), "failed", ktr__jansson_u64(heap->n_failed), "unknown",
			ktr__jansson_u64(heap->n_unknown), "unseen", ktr__jansson_u64(heap->n_unseen), "lost",
			ktr__jansson_u64(heap->n_lost), "mapped", heap_json_mapped(heap), "places", places);
	rc = !all || !sorted ? -ENOMEM : json_dumpf(all, to, JSON_INDENT(2)) == 0 ? 0 : ferror(to) ? -EIO : -ENOMEM;
	if (!rc)
		fputc('\n', to);
	json_decref(all);
	return rc;
}
