/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks, a line each, as flame graphs are made of: "program;thread;outer;inner NUMBER".
 *
 * Where a trace has CTRSTACK events the frames are theirs, and the number is how often. Else they are the
 * spans that were open on a thread, and the number is the time in nanoseconds that the innermost had for
 * itself. A span that another thread ends counts for the one that began it.
 */
#include "visualize/exports.h"
#include "visualize/keymap.h"
#include "visualize/label.h"
#include "visualize/room.h"
#include "visualize/stack_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FOLDED_LINES 1000000u /* different ones; more are counted in the note */
#define FOLDED_DEPTH 64u      /* spans of a thread that are told apart */
#define FOLDED_BYTES 8192

struct folded_line {
	char *text;
	uint64_t number;
	int is_stack;
};

struct folded_thread {
	unsigned n;
	uint64_t since_ns; /* when the set of open spans last changed */
	struct folded_span {
		uint64_t key;
		char name[64];
	} span[FOLDED_DEPTH];
};

struct folded {
	struct ktr__keymap known;
	struct folded_line *line;
	uint32_t n_lines, line_room;
	struct folded_thread **thread; /* by id */
	uint32_t n_threads;
	uint64_t n_left_out;
	int has_stacks;
};

static int folded_begin(struct ktr__export *e)
{
	e->data = calloc(1, sizeof(struct folded));
	return e->data != NULL ? 0 : -ENOMEM;
}

static void folded_free(struct ktr__export *e)
{
	struct folded *f = e->data;

	if (f == NULL)
		return;
	for (uint32_t i = 0; i < f->n_lines; i++)
		free(f->line[i].text);
	for (uint32_t i = 0; i < f->n_threads; i++)
		free(f->thread[i]);
	ktr__keymap_free(&f->known);
	free(f->line);
	free(f->thread);
	free(f);
}

/* Appends a frame: clean, and without what separates frames. */
static size_t folded_frame(char *text, size_t used, const char *bytes, size_t n)
{
	size_t end;

	if (used + 2 >= FOLDED_BYTES)
		return used;
	if (used > 0)
		text[used++] = ';';
	end = used + ktr__label_clean(text + used, FOLDED_BYTES - used, n > 0 ? bytes : "(none)",
				      n > 0 ? n : 6);
	for (; used < end; used++)
		if (text[used] == ';')
			text[used] = ':';
	return used;
}

static size_t folded_thread_frames(char *text, const struct ktr_reader_thread *thread)
{
	size_t used = folded_frame(text, 0, thread->process, strlen(thread->process));

	return folded_frame(text, used, thread->name, strlen(thread->name));
}

static int folded_add(struct folded *f, const char *text, size_t n, uint64_t number, int is_stack)
{
	uint32_t *at = ktr__keymap_at(&f->known, ktr__keymap_hash((uint64_t)is_stack, text, n));

	if (at == NULL)
		return -ENOMEM;
	if (*at == 0 && f->n_lines == FOLDED_LINES) {
		f->n_left_out++;
		return 0;
	}
	if (*at == 0) {
		if (ktr__room(&f->line, &f->line_room, f->n_lines, sizeof(*f->line)) != 0)
			return -ENOMEM;
		f->line[f->n_lines] = (struct folded_line){ strndup(text, n), 0, is_stack };
		if (f->line[f->n_lines].text == NULL)
			return -ENOMEM;
		*at = ++f->n_lines;
	}
	f->line[*at - 1].number += number;
	return 0;
}

/* Frames come innermost first, and are wanted the other way around. */
static int folded_stack(struct ktr__export *e, const struct ktr_event *event, unsigned arg)
{
	struct folded *f = e->data;
	char stack[KTR__STACK_TEXT], text[FOLDED_BYTES];
	size_t end = ktr__stack_text(event, arg, ktr__reader_symbols(e->reader), "\n", stack);
	size_t used = folded_thread_frames(text, event->thread);

	f->has_stacks = 1;
	while (end > 0) {
		size_t from = end;

		while (from > 0 && stack[from - 1] != '\n')
			from--;
		used = folded_frame(text, used, stack + from, end - from);
		end = from > 0 ? from - 1 : 0;
	}
	return folded_add(f, text, used, 1, 1);
}

/* What passed since the last change belongs to the spans that were open. */
static int folded_settle(struct folded *f, struct folded_thread *t,
			 const struct ktr_reader_thread *thread, uint64_t ns)
{
	char text[FOLDED_BYTES];
	size_t used;
	int rc = 0;

	if (t->n > 0 && ns > t->since_ns) {
		used = folded_thread_frames(text, thread);
		for (unsigned i = 0; i < t->n; i++)
			used = folded_frame(text, used, t->span[i].name, strlen(t->span[i].name));
		rc = folded_add(f, text, used, ns - t->since_ns, 0);
	}
	t->since_ns = ns;
	return rc;
}

static int folded_span(struct ktr__export *e, const struct ktr_event *event)
{
	struct folded *f = e->data;
	uint64_t key = event->arg[event->site->value_arg];
	struct folded_thread *t;
	struct ktr_event_bytes name;
	char number[24];
	unsigned i;
	int rc;

	if (ktr__room(&f->thread, &f->n_threads, event->thread->id, sizeof(*f->thread)) != 0)
		return -ENOMEM;
	if (f->thread[event->thread->id] == NULL)
		f->thread[event->thread->id] = calloc(1, sizeof(*t));
	t = f->thread[event->thread->id];
	if (t == NULL)
		return -ENOMEM;
	rc = folded_settle(f, t, event->thread, event->time_ns);
	for (i = t->n; i > 0 && t->span[i - 1].key != key;)
		i--;
	if (event->site->kind == KTR_KIND_STOP && i > 0) {
		memmove(&t->span[i - 1], &t->span[i], (t->n - i) * sizeof(t->span[0]));
		t->n--;
	} else if (event->site->kind == KTR_KIND_START && t->n < FOLDED_DEPTH) {
		name = ktr__export_name(event, number);
		t->span[t->n].key = key;
		ktr__label_clean(t->span[t->n].name, sizeof(t->span[0].name), name.bytes,
				 name.n_bytes);
		t->n++;
	}
	return rc;
}

static int folded_event(struct ktr__export *e, const struct ktr_event *event)
{
	int rc = 0;

	if (event->site->kind == KTR_KIND_START || event->site->kind == KTR_KIND_STOP)
		return folded_span(e, event);
	for (unsigned i = 0; i < event->site->n_args && rc == 0; i++)
		if (event->site->arg[i].type == KTR_ARG_STACK)
			rc = folded_stack(e, event, i);
	return rc;
}

static int folded_end(struct ktr__export *e)
{
	struct folded *f = e->data;
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < f->n_threads && rc == 0; i++)
		if (f->thread[i] != NULL)
			rc = folded_settle(f, f->thread[i], ktr_reader_thread(e->reader, i),
					   e->info->last_ns);
	for (uint32_t i = 0; i < f->n_lines; i++) {
		if (f->line[i].is_stack != f->has_stacks)
			continue;
		fprintf(e->to, "%s %" PRIu64 "\n", f->line[i].text, f->line[i].number);
		n++;
	}
	if (n == 0)
		snprintf(e->note, sizeof(e->note),
			 "the trace has neither stacks (CTRSTACK) nor spans: the file is empty");
	else if (f->n_left_out > 0)
		snprintf(e->note, sizeof(e->note),
			 "%" PRIu64 " samples were left out: more than %u different stacks",
			 f->n_left_out, FOLDED_LINES);
	return rc;
}

const struct ktr__export_format ktr__export_folded = {
	.name = "folded",
	.help = "stacks, or else spans by their own time: speedscope, flamegraph.pl",
	.begin = folded_begin,
	.event = folded_event,
	.end = folded_end,
	.free = folded_free,
};
