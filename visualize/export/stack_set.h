/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The samples of a trace as formats of profilers want them: each thread's in the order of time, their stacks as one
 * tree of frames, each frame, function and object once.
 *
 * Zeroed memory is an empty set, once ktr__stack_set_begin() has been called. Names are clean (label.h). One thread
 * at a time.
 */
#ifndef VISUALIZE_STACK_SET_H
#define VISUALIZE_STACK_SET_H

#include "analyze/stats/sampler.h"
#include "visualize/model/keymap.h"

/* An object that a process had mapped. */
struct ktr__stack_module {
	const struct ktr__module_entry *entry; /* of the reader's tables */
	uint32_t lib; /* the same file is one in all processes */
};

struct ktr__stack_function {
	char *name; /* owned */
	char *file; /* of its source; owned, NULL: not known */
	uint32_t lib; /* + 1; 0: none */
};

/* A function that a frame is in, or that was inlined there. */
struct ktr__stack_line {
	uint32_t function;
	uint32_t line; /* of the source; 0: not known */
};

struct ktr__stack_frame {
	uint64_t address; /* of the instruction, or within the call; 0: a word about what is not known */
	uint32_t module;  /* + 1; 0: none */
	uint32_t line, n_lines; /* in `line`, the innermost first; at least one */
};

/* A frame and what is around it. */
struct ktr__stack_node {
	uint32_t parent; /* 0: none, it is outermost */
	uint32_t frame;
};

struct ktr__stack_sample {
	uint64_t time_ns; /* as that of the event */
	uint64_t ns, n_ticks;
	uint32_t node; /* 0: no frame at all */
	enum ktr__sample_how how;
	uint32_t cpu; /* on the CPU: which */
};

struct ktr__stack_thread {
	const struct ktr_reader_thread *thread;
	struct ktr__stack_sample *sample; /* owned */
	uint32_t n, room;
};

struct ktr__stack_set {
	struct ktr__sampler sampler;
	struct ktr__symbols *symbols; /* borrowed; NULL: addresses alone */
	struct ktr__stack_module *module;
	const struct ktr__module_entry **lib;
	struct ktr__stack_function *function;
	struct ktr__stack_line *line;
	struct ktr__stack_frame *frame;
	struct ktr__stack_node *node; /* 0 is none; a parent comes before its children */
	struct ktr__stack_thread *thread; /* in the order of their first samples */
	uint32_t n_modules, n_libs, n_functions, n_lines, n_frames, n_nodes, n_threads;
	uint32_t module_room, lib_room, function_room, line_room, frame_room, node_room, thread_room;
	uint32_t *of_thread; /* by id: index in `thread` + 1 */
	uint32_t n_of_thread;
	struct ktr__keymap module_of, function_of, frame_of, node_of; /* each + 1 */
	uint64_t n, ns, n_ticks; /* of all samples */
	uint64_t tick_ns; /* of those that have ticks */
	uint64_t n_off; /* times that threads were off the CPU */
	int on_cpu_only; /* to be set after begin(): what is off it is left out */
	int is_wall; /* some have waited, or were off the CPU: times are those of a clock, not of CPUs */
};

/* 0 or -ENOMEM; free() is due in any case. */
int ktr__stack_set_begin(struct ktr__stack_set *set, struct ktr__symbols *symbols, const struct ktr_reader *reader);

/* Takes in an event, if it is a sample. 0 or -ENOMEM. */
int ktr__stack_set_event(struct ktr__stack_set *set, const struct ktr_event *event);
void ktr__stack_set_loss(struct ktr__stack_set *set);

/* After the last event: sorts each thread's samples. 0 or -ENOMEM. */
int ktr__stack_set_finish(struct ktr__stack_set *set);

/* What the user should know of the set: "" or a line. */
void ktr__stack_set_note(const struct ktr__stack_set *set, char *note, size_t size);
void ktr__stack_set_free(struct ktr__stack_set *set);

/* [ns] between two samples. */
static inline uint64_t ktr__stack_set_period(const struct ktr__stack_set *set)
{
	return set->n_ticks ? set->tick_ns / set->n_ticks : 0;
}

#endif
