/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/heap/heap_flame.h"

#include "tools/stack_line.h"
#include "visualize/flame/flame_file.h"
#include "visualize/model/label.h"
#include "visualize/model/palette.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int heap_flame_is(const char *path)
{
	return ktr__flame_format(path) != KTR__FLAME_TEXT;
}

/* Within its program, the outermost function first. */
static int heap_flame_place(struct ktr__flame *flame, const struct heap_view *view,
			    const struct heap_measure *measure, const struct ktr__heap_place *place)
{
	const struct ktr_reader_thread *thread = ktr__heap_thread_of(view->heap, place->stack.proc);
	const char *program = thread && *thread->process ? thread->process : "?";
	char name[STACK_LINE_NAME];
	uint32_t node = 0;
	int rc = ktr__flame_child(flame, 0, program, strlen(program), &node);

	if (!rc && (place->stack.is_cut || !place->stack.n))
		rc = ktr__flame_child(flame, node, place->stack.n ? "..." : "?", place->stack.n ? 3 : 1, &node);
	for (uint32_t k = place->stack.n; k-- > 0 && !rc;) {
		stack_line_frame(view->symbols, &place->stack, k, name);
		rc = ktr__flame_child(flame, node, name, strlen(name), &node);
	}
	if (!rc)
		flame->node[node].self[0] += (uint64_t)llrint(measure->of(place));
	return rc;
}

static int heap_flame_fill(struct ktr__flame *flame, const struct heap_view *view,
			   const struct heap_measure *measure)
{
	const struct ktr__heap_place **sorted;
	int rc = ktr__flame_init(flame);
	size_t n;

	if (rc)
		return rc;
	sorted = heap_sorted(view, measure, &n);
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n && !rc; i++)
		rc = heap_flame_place(flame, view, measure, sorted[i]);
	free(sorted);
	return rc ? rc : ktr__flame_end(flame);
}

static int heap_flame_draw(const struct ktr__flame *flame, const struct heap_view *view,
			   const struct heap_measure *measure, struct ktr__colours *colours,
			   const struct ktr_reader_info *info, const char *command, const char *path,
			   struct ktr_error *err)
{
	char unit[] = "blocks";
	struct ktr__flame_view of;
	int rc;

	snprintf(unit, sizeof(unit), "%.*s", (int)strlen(measure->unit) - 1, measure->unit);
	rc = ktr__flame_view_of(&of, flame, unit, measure->what, info, command, view->heap->n_lost);
	if (rc)
		return rc == -ENOENT ? ktr_error_at(err, path, 0, 0, -rc, "%s", of.frame.note) : rc;
	if (view->heap->kind == KTR__HEAP_SAMPLED && !measure->is_mapped)
		ktr__frame_note(&of.frame, "by %s samples, one in %s bytes: these are estimates",
				ktr__label_count(view->heap->n_samples).text,
				ktr__label_count(view->heap->period).text);
	of.colours = colours;
	of.width = 1200;
	return ktr__flame_file(&of, ktr__flame_format(path), path, err);
}

int heap_flame(const struct heap_view *view, const struct ktr_reader *reader, const char *command, const char *path,
	       struct ktr_error *err)
{
	const struct heap_measure *measure = &heap_measures[view->by < 0 ? 0 : view->by];
	struct ktr__flame flame = { 0 };
	struct ktr__colours colours;
	int rc = ktr__colours_init(&colours, reader);

	rc = rc ? rc : heap_flame_fill(&flame, view, measure);
	if (!rc)
		rc = heap_flame_draw(&flame, view, measure, &colours, ktr_reader_info(reader), command, path, err);
	ktr__flame_free(&flame);
	ktr__colours_free(&colours);
	return rc;
}
