/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of ktr heap, and its stacks as lines for flame graphs. */
#include "tools/heap/heap_text.h"

#include "tools/heap/heap_lines.h"
#include "tools/stack_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Of estimates that have come and gone a fraction may be left, or be missing. */
static double heap_whole(double number)
{
	return number < 0.5 ? 0 : number;
}

static void heap_rule(FILE *to)
{
	for (int i = 0; i < 79; i++)
		fputc('-', to);
	fputc('\n', to);
}

static int heap_table(const struct heap_view *view, const struct heap_measure *measure, FILE *to)
{
	const struct ktr__heap_place **sorted;
	struct heap_line *lines;
	size_t n, n_shown;
	double all = 0;

	sorted = heap_sorted(view, measure, &n);
	if (!sorted)
		return -ENOMEM;
	n_shown = view->top && view->top < n ? (size_t)view->top : n;
	lines = heap_lines(view, sorted, n_shown);
	if (!lines) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		all += measure->of(sorted[i]);
	fprintf(to, "\n%s: %.0f %s, by %zu place%s\n", measure->title, all, measure->unit, n, n == 1 ? "" : "s");
	if (n) {
		fprintf(to, "\n%s\n", measure->head);
		heap_rule(to);
	}
	for (size_t i = 0; i < n_shown; i++)
		fprintf(to, "%12.0f %5.1f %% %9.0f  %s\n", measure->of(sorted[i]),
			100 * measure->of(sorted[i]) / all, measure->other(sorted[i]), lines[i].text);
	if (n > n_shown)
		fprintf(to, "... and %zu more\n", n - n_shown);
	heap_lines_free(lines, n_shown);
	free(sorted);
	return 0;
}

static void heap_sizes(const struct ktr__heap *heap, FILE *to)
{
	fprintf(to, "\nSizes\n\n       Up to      Blocks         Bytes   In use at the end\n");
	heap_rule(to);
	for (unsigned i = 0; i < KTR__HEAP_CLASSES; i++) {
		if (heap->size_got[i].n < 0.5)
			continue;
		if (i + 1 < KTR__HEAP_CLASSES)
			fprintf(to, "%12" PRIu64, (uint64_t)1 << i);
		else
			fprintf(to, "%12s", "more");
		fprintf(to, "%12.0f  %12.0f  %12.0f in %.0f\n", heap->size_got[i].n, heap->size_got[i].bytes,
			heap_whole(heap->size_live[i].bytes), heap_whole(heap->size_live[i].n));
	}
}

static void heap_summary(const struct ktr__heap *heap, FILE *to)
{
	fprintf(to, "%.0f bytes in %.0f blocks were got, %.0f in %.0f given back\n", heap->got.bytes, heap->got.n,
		heap->gave.bytes, heap->gave.n);
	if (heap->n_peaks)
		fprintf(to, "at most %.0f bytes in %.0f blocks were in use, at %.6f s\n", heap->peak.bytes,
			heap->peak.n, (double)(heap->peak_ns - heap->first_ns) / 1e9);
	fprintf(to, "%.0f bytes in %.0f blocks are in use at the end%s\n", heap_whole(heap->live.bytes),
		heap_whole(heap->live.n), heap->processes.n > 1 ? ", those of each process at its own" : "");
	if (heap->kind == KTR__HEAP_SAMPLED)
		fprintf(to, "by %" PRIu64 " samples, one in %" PRIu64 " bytes: these are estimates\n",
			heap->n_samples, heap->period);
	if (heap->mapped.got.n > 0)
		fprintf(to,
			"%.0f bytes were mapped by %.0f calls, at most %.0f at a time, at %.6f s, and %.0f are at the end\n",
			heap->mapped.got.bytes, heap->mapped.got.n, heap->mapped.peak.bytes,
			(double)(heap->mapped.peak_ns - heap->first_ns) / 1e9, heap->mapped.live.bytes);
	if (heap->n_failed + heap->mapped.n_failed)
		fprintf(to, "%" PRIu64 " times there was no memory\n", heap->n_failed + heap->mapped.n_failed);
	if (heap->n_unknown)
		fprintf(to, "%" PRIu64 " blocks were given back that were not seen got\n", heap->n_unknown);
	if (heap->mapped.unknown_bytes)
		fprintf(to, "%" PRIu64 " bytes were unmapped that were not seen mapped\n", heap->mapped.unknown_bytes);
	if (heap->n_unseen)
		fprintf(to, "%" PRIu64 " blocks were got again that were not seen given back\n", heap->n_unseen);
	if (heap->n_other)
		fprintf(to, "%" PRIu64 " events are left out: the trace has all blocks, and samples of them\n",
			heap->n_other);
	if (heap->n_lost)
		fprintf(to, "%" PRIu64 " events are lost: what is in use may be wrong by as many blocks\n",
			heap->n_lost);
}

int heap_tables(const struct heap_view *view, FILE *to)
{
	int rc = 0;

	heap_summary(view->heap, to);
	for (unsigned i = 0; i < heap_n_measures && !rc; i++)
		if (view->by >= 0 ? (int)i == view->by :
				    heap_measures[i].is_usual &&
					    (!heap_measures[i].is_mapped || view->heap->mapped.got.n > 0))
			rc = heap_table(view, &heap_measures[i], to);
	if (view->by < 0)
		heap_sizes(view->heap, to);
	return rc;
}

int heap_folded(const struct heap_view *view, FILE *to)
{
	const struct heap_measure *measure = &heap_measures[view->by < 0 ? 0 : view->by];
	const struct ktr__heap_place **sorted;
	char name[STACK_LINE_NAME];
	size_t n;

	sorted = heap_sorted(view, measure, &n);
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = sorted[i]->stack.n; k-- > 0;) {
			stack_line_frame(view->symbols, &sorted[i]->stack, k, name);
			/* Semicolons part frames. */
			for (char *at = name; *at; at++)
				*at = *at == ';' ? ':' : *at;
			fprintf(to, "%s%s", name, k ? ";" : "");
		}
		fprintf(to, "%s %.0f\n", sorted[i]->stack.n ? "" : "?", measure->of(sorted[i]));
	}
	free(sorted);
	return 0;
}
