/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/heap/heap_lines.h"

#include "tools/stack_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void heap_line_whose(const struct heap_view *view, const struct ktr__framed *stack, FILE *to)
{
	const struct ktr_reader_thread *thread = ktr__heap_thread_of(view->heap, stack->proc);

	if (thread)
		fprintf(to, ", %s (%" PRIu32 ")", thread->process, thread->pid);
}

/* whose: of which process it is stands there, too. NULL without memory. */
static char *heap_line_text(const struct heap_view *view, const struct ktr__framed *stack,
			    const unsigned char *exact, int whose)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *to = open_memstream(&text, &n_bytes);

	if (!to)
		return NULL;
	stack_line(view->symbols, stack, view->depth, exact, to);
	if (whose)
		heap_line_whose(view, stack, to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

static int heap_line_order(const void *a, const void *b)
{
	const struct heap_line *x = *(struct heap_line *const *)a, *y = *(struct heap_line *const *)b;

	return strcmp(x->text, y->text);
}

/* Lines that read the same: with the places in functions, and the processes, in which they differ. 0 or -ENOMEM. */
static int heap_lines_part(const struct heap_view *view, struct heap_line *const *line, size_t n)
{
	const struct ktr__framed *first = line[0]->stack;
	unsigned char *exact;
	uint32_t most = 0;
	int rc = 0, whose = 0;

	for (size_t i = 0; i < n; i++)
		most = line[i]->stack->n > most ? line[i]->stack->n : most;
	exact = calloc(most + 1, 1);
	if (!exact)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++)
		whose |= line[i]->stack->proc != first->proc;
	for (size_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < line[i]->stack->n && k < first->n; k++)
			exact[k] |= line[i]->stack->pc[k] != first->pc[k];
	for (size_t i = 0; i < n && !rc; i++) {
		free(line[i]->text);
		line[i]->text = heap_line_text(view, line[i]->stack, exact, whose);
		rc = line[i]->text ? 0 : -ENOMEM;
	}
	free(exact);
	return rc;
}

static int heap_lines_same(const struct heap_view *view, struct heap_line **sorted, size_t n)
{
	size_t next;
	int rc = 0;

	qsort(sorted, n, sizeof(*sorted), heap_line_order);
	for (size_t i = 0; i < n && !rc; i = next) {
		for (next = i + 1; next < n && strcmp(sorted[next]->text, sorted[i]->text) == 0;)
			next++;
		if (next - i > 1)
			rc = heap_lines_part(view, sorted + i, next - i);
	}
	return rc;
}

struct heap_line *heap_lines(const struct heap_view *view, const struct ktr__heap_place *const *place, size_t n)
{
	struct heap_line *lines = calloc(n + 1, sizeof(*lines));
	struct heap_line **sorted = calloc(n + 1, sizeof(struct heap_line *));
	int rc = lines && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++) {
		lines[i].stack = &place[i]->stack;
		lines[i].text = heap_line_text(view, lines[i].stack, NULL, 0);
		sorted[i] = &lines[i];
		rc = lines[i].text ? 0 : -ENOMEM;
	}
	if (!rc)
		rc = heap_lines_same(view, sorted, n);
	free(sorted);
	if (!rc)
		return lines;
	heap_lines_free(lines, n);
	return NULL;
}

void heap_lines_free(struct heap_line *lines, size_t n)
{
	for (size_t i = 0; lines && i < n; i++)
		free(lines[i].text);
	free(lines);
}
