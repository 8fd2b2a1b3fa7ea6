/* SPDX-License-Identifier: BSD-2-Clause */
/* See stack_set.h. */
#include "visualize/export/stack_set.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One more in a growing array: its index, or -ENOMEM. */
#define STACK_SET_MORE(set, what, n, room) \
	(ktr__array_grow(&(set)->what, &(set)->room, (set)->n, sizeof(*(set)->what)) ? \
		 -ENOMEM : (int64_t)(set)->n++)

/* ---- objects ---- */

static int stack_set_same(const struct ktr__module_entry *a, const struct ktr__module_entry *b)
{
	return a->n_build_id == b->n_build_id && memcmp(a->build_id, b->build_id, a->n_build_id) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

static int64_t stack_set_lib(struct ktr__stack_set *set, const struct ktr__module_entry *entry)
{
	int64_t at;

	for (uint32_t i = 0; i < set->n_libs; i++)
		if (stack_set_same(set->lib[i], entry))
			return i;
	at = STACK_SET_MORE(set, lib, n_libs, lib_room);
	if (at >= 0)
		set->lib[at] = entry;
	return at;
}

/* Index + 1; 0: in no object. Or -ENOMEM. */
static int64_t stack_set_module(struct ktr__stack_set *set, uint32_t proc, uint64_t address)
{
	const struct ktr__module_entry *entry =
		set->symbols ? ktr__symbols_module(set->symbols, proc, address) : NULL;
	uint32_t *found;
	int64_t at, lib;

	if (!entry)
		return 0;
	found = ktr__keymap_at(&set->module_of, (uint64_t)(uintptr_t)entry);
	if (!found)
		return -ENOMEM;
	if (*found)
		return *found;
	lib = stack_set_lib(set, entry);
	at = lib < 0 ? lib : STACK_SET_MORE(set, module, n_modules, module_room);
	if (at < 0)
		return at;
	set->module[at] = (struct ktr__stack_module){ entry, (uint32_t)lib };
	return *found = (uint32_t)at + 1;
}

/* ---- functions ---- */

/* A copy of text, clean. NULL without memory. */
static char *stack_set_clean(const char *text, size_t n)
{
	char clean[4 * 1024 + 4];

	return strndup(clean, ktr__label_clean(clean, sizeof(clean), text, n < 1024 ? n : 1024));
}

static int64_t stack_set_function(struct ktr__stack_set *set, const char *name, size_t n, const char *file,
				  uint32_t lib)
{
	uint64_t key = ktr__hash_bytes(ktr__hash_bytes(lib, name, n), file ? file : "", file ? strlen(file) : 0);
	uint32_t *found = ktr__keymap_at(&set->function_of, key);
	struct ktr__stack_function *function;
	int64_t at;

	if (!found)
		return -ENOMEM;
	if (*found)
		return *found - 1;
	at = STACK_SET_MORE(set, function, n_functions, function_room);
	if (at < 0)
		return at;
	function = &set->function[at];
	function->lib = lib;
	function->name = stack_set_clean(name, n);
	function->file = file ? stack_set_clean(file, strlen(file)) : NULL;
	*found = (uint32_t)at + 1;
	return function->name && (function->file || !file) ? at : -ENOMEM;
}

/* ---- frames ---- */

static int stack_set_line(struct ktr__stack_set *set, const char *name, size_t n, const char *file, uint32_t line,
			  uint32_t lib)
{
	int64_t function = stack_set_function(set, name, n, file, lib),
		at = function < 0 ? function : STACK_SET_MORE(set, line, n_lines, line_room);

	if (at < 0)
		return (int)at;
	set->line[at] = (struct ktr__stack_line){ (uint32_t)function, line };
	return 0;
}

/* What a frame is in, with what was inlined there. 0 or -ENOMEM. */
static int stack_set_lines(struct ktr__stack_set *set, const struct ktr_event *event, uint64_t pc, uint32_t lib)
{
	struct ktr__sample_line line[KTR__DEBUG_LINES];
	char text[24];
	unsigned n = ktr__sample_lines(set->symbols, event, pc, line, text);
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = stack_set_line(set, line[i].name, line[i].n, line[i].file, line[i].line, lib);
	return rc;
}

/* The frame of an address, or of a word. Its index, or -ENOMEM. */
static int64_t stack_set_frame(struct ktr__stack_set *set, const struct ktr_event *event, uint64_t pc,
			       const char *word)
{
	uint32_t proc = ktr__tables_proc(event->thread);
	uint64_t key = word ? ktr__hash_bytes(0, word, strlen(word)) : ktr__hash_word(ktr__hash_word(1, proc), pc);
	uint32_t *found = ktr__keymap_at(&set->frame_of, key), line = set->n_lines;
	int64_t module, at;
	int rc;

	if (!found)
		return -ENOMEM;
	if (*found)
		return *found - 1;
	module = word ? 0 : stack_set_module(set, proc, pc - 1);
	if (module < 0)
		return module;
	rc = word ? stack_set_line(set, word, strlen(word), NULL, 0, 0)
		  : stack_set_lines(set, event, pc, module ? set->module[module - 1].lib + 1 : 0);
	at = rc ? rc : STACK_SET_MORE(set, frame, n_frames, frame_room);
	if (at < 0)
		return at;
	set->frame[at] =
		(struct ktr__stack_frame){ word ? 0 : pc - 1, (uint32_t)module, line, set->n_lines - line };
	*found = (uint32_t)at + 1;
	return at;
}

/* Goes from a node to one within it. 0 or -ENOMEM. */
static int stack_set_node(struct ktr__stack_set *set, uint32_t *node, int64_t frame)
{
	uint32_t *found;
	int64_t at;

	if (frame < 0)
		return (int)frame;
	found = ktr__keymap_at(&set->node_of, (uint64_t)*node << 32 | (uint32_t)frame);
	if (!found)
		return -ENOMEM;
	if (!*found) {
		at = STACK_SET_MORE(set, node, n_nodes, node_room);
		if (at < 0)
			return (int)at;
		set->node[at] = (struct ktr__stack_node){ *node, (uint32_t)frame };
		*found = (uint32_t)at;
	}
	*node = *found;
	return 0;
}

/* From the outermost inwards; what is missing has a frame that says why, as in flame graphs. */
static int stack_set_stack(struct ktr__stack_set *set, const struct ktr_event *event,
			   const struct ktr__sample *sample, uint32_t *node)
{
	const char *inner = ktr__sample_inner(sample);
	uint32_t at = sample->stack->n_bytes / 8 * 8;
	int rc = sample->stack->cut ? stack_set_node(set, node, stack_set_frame(set, event, 0, "...")) : 0;

	while (at > 0 && rc == 0) {
		uint64_t pc;

		at -= 8;
		memcpy(&pc, sample->stack->bytes + at, sizeof(pc));
		rc = stack_set_node(set, node, stack_set_frame(set, event, pc, NULL));
	}
	return rc || !inner ? rc : stack_set_node(set, node, stack_set_frame(set, event, 0, inner));
}

/* ---- samples ---- */

static struct ktr__stack_thread *stack_set_thread(struct ktr__stack_set *set,
						  const struct ktr_reader_thread *thread)
{
	int64_t at;

	if (ktr__array_grow(&set->of_thread, &set->n_of_thread, thread->id, sizeof(*set->of_thread)) != 0)
		return NULL;
	if (set->of_thread[thread->id])
		return &set->thread[set->of_thread[thread->id] - 1];
	at = STACK_SET_MORE(set, thread, n_threads, thread_room);
	if (at < 0)
		return NULL;
	set->thread[at].thread = thread;
	set->of_thread[thread->id] = (uint32_t)at + 1;
	return &set->thread[at];
}

static int stack_set_found(void *context, const struct ktr_event *event, const struct ktr__sample *sample)
{
	struct ktr__stack_set *set = context;
	struct ktr__stack_thread *thread;
	uint32_t node = 0;
	int rc;

	if (set->on_cpu_only && ktr__sample_is_off(sample->how))
		return 0;
	thread = stack_set_thread(set, event->thread);
	rc = thread ? stack_set_stack(set, event, sample, &node) : -ENOMEM;
	if (!rc)
		rc = ktr__array_grow(&thread->sample, &thread->room, thread->n, sizeof(*thread->sample));
	if (rc)
		return rc;
	thread->sample[thread->n++] =
		(struct ktr__stack_sample){ event->time_ns, sample->ns, sample->n_ticks, node, sample->how,
					    event->cpu };
	set->n++;
	set->is_wall |= sample->how == KTR__SAMPLE_WAITING || ktr__sample_is_off(sample->how);
	set->n_off += (uint64_t)ktr__sample_is_off(sample->how);
	set->n_ticks += sample->n_ticks;
	set->tick_ns += sample->n_ticks ? sample->ns : 0;
	set->ns += sample->ns;
	return 0;
}

int ktr__stack_set_event(struct ktr__stack_set *set, const struct ktr_event *event)
{
	int rc = ktr__sampler_event(&set->sampler, event);

	return rc < 0 ? rc : 0;
}

void ktr__stack_set_loss(struct ktr__stack_set *set)
{
	ktr__sampler_loss(&set->sampler);
}

static int stack_set_earlier(const void *a, const void *b)
{
	const struct ktr__stack_sample *one = a, *other = b;

	return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

/* Times off the CPU are told a while after they have ended. */
int ktr__stack_set_finish(struct ktr__stack_set *set)
{
	int rc = ktr__sampler_finish(&set->sampler);

	for (uint32_t i = 0; i < set->n_threads && set->n_off; i++)
		qsort(set->thread[i].sample, set->thread[i].n, sizeof(struct ktr__stack_sample), stack_set_earlier);
	return rc;
}

void ktr__stack_set_note(const struct ktr__stack_set *set, char *note, size_t size)
{
	note[0] = '\0';
	if (set->n == 0)
		snprintf(note, size, "the trace has no samples (ktr profile): the file is empty of them");
}

int ktr__stack_set_begin(struct ktr__stack_set *set, struct ktr__symbols *symbols, const struct ktr_reader *reader)
{
	*set = (struct ktr__stack_set){ .symbols = symbols };
	if (ktr__sampler_init(&set->sampler, reader, stack_set_found, set))
		return -ENOMEM;
	return STACK_SET_MORE(set, node, n_nodes, node_room) < 0 ? -ENOMEM : 0;
}

void ktr__stack_set_free(struct ktr__stack_set *set)
{
	for (uint32_t i = 0; i < set->n_functions; i++) {
		free(set->function[i].name);
		free(set->function[i].file);
	}
	for (uint32_t i = 0; i < set->n_threads; i++)
		free(set->thread[i].sample);
	free(set->module);
	free(set->lib);
	free(set->function);
	free(set->line);
	free(set->frame);
	free(set->node);
	free(set->thread);
	free(set->of_thread);
	ktr__sampler_free(&set->sampler);
	ktr__keymap_free(&set->module_of);
	ktr__keymap_free(&set->function_of);
	ktr__keymap_free(&set->frame_of);
	ktr__keymap_free(&set->node_of);
}
