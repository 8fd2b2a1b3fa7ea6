/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks, a line each, as flame graphs are made of: "program;thread;outer;inner NUMBER".
 *
 * Where a trace has CTRSTACK events the frames are theirs, and the number is how often. Else they are the
 * spans that were open on a thread, and the number is the time in nanoseconds that the innermost had for
 * itself. A span that another thread ends counts for the one that began it.
 */
#include "analyze/read/reader.h"
#include "analyze/stats/spans.h"
#include "conf/kit/array.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/keymap.h"
#include "visualize/model/label.h"

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
	const struct ktr__span *span[FOLDED_DEPTH]; /* in the order in which they began */
};

struct folded {
	struct ktr__spans *spans;
	struct ktr__keymap known;
	struct folded_line *line;
	uint32_t n_lines, line_room;
	struct folded_thread **thread; /* by id */
	uint32_t n_threads;
	uint64_t n_left_out;
	uint64_t n_too_deep;
	uint64_t last_ns; /* of the last event: a window ends before its trace */
	int has_stacks;
};

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
	uint32_t *at = ktr__keymap_at(&f->known, ktr__hash_bytes((uint64_t)is_stack, text, n));

	if (at == NULL)
		return -ENOMEM;
	if (*at == 0 && f->n_lines == FOLDED_LINES) {
		f->n_left_out++;
		return 0;
	}
	if (*at == 0) {
		if (ktr__array_grow(&f->line, &f->line_room, f->n_lines, sizeof(*f->line)) != 0)
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
		for (unsigned i = 0; i < t->n; i++) {
			/* As ktr__export_name() has it. */
			const struct ktr_reader_site *site = t->span[i]->site;
			const char *name = site->ident != NULL ? site->ident : site->group;

			used = folded_frame(text, used, name, strlen(name));
		}
		rc = folded_add(f, text, used, ns - t->since_ns, 0);
	}
	if (ns > t->since_ns)
		t->since_ns = ns;
	return rc;
}

static struct folded_thread *folded_thread(struct folded *f, const struct ktr_reader_thread *thread)
{
	if (ktr__array_grow(&f->thread, &f->n_threads, thread->id, sizeof(*f->thread)) != 0)
		return NULL;
	if (f->thread[thread->id] == NULL)
		f->thread[thread->id] = calloc(1, sizeof(struct folded_thread));
	return f->thread[thread->id];
}

/* A span begins on its thread. */
static int folded_begun(void *context, struct ktr__span *span)
{
	struct ktr__export *e = context;
	struct folded *f = e->data;
	struct folded_thread *t;

	if (span->kind != KTR_KIND_START)
		return 0;
	t = folded_thread(f, span->thread);
	if (t == NULL || folded_settle(f, t, span->thread, span->from_ns) != 0)
		return -ENOMEM;
	if (t->n == FOLDED_DEPTH) {
		f->n_too_deep++;
		return 0;
	}
	t->span[t->n++] = span;
	return 0;
}

/* It ends; spans are told apart by where they are. */
static int folded_ended(void *context, const struct ktr__span *span)
{
	struct ktr__export *e = context;
	struct folded *f = e->data;
	struct folded_thread *t;
	unsigned to = 0;

	if (span->kind != KTR_KIND_START)
		return 0;
	t = folded_thread(f, span->thread);
	if (t == NULL || folded_settle(f, t, span->thread, span->to_ns) != 0)
		return -ENOMEM;
	for (unsigned from = 0; from < t->n; from++)
		if (t->span[from] != span)
			t->span[to++] = t->span[from];
	t->n = to;
	return 0;
}

static int folded_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct folded *f = e->data;

	ktr__spans_loss(f->spans, loss);
	return 0;
}

static int folded_event(struct ktr__export *e, const struct ktr_event *event)
{
	struct folded *f = e->data;
	int rc = ktr__spans_event(f->spans, event);

	f->last_ns = event->time_ns;
	for (unsigned i = 0; i < event->site->n_args && rc == 0; i++)
		if (event->site->arg[i].type == KTR_ARG_STACK)
			rc = folded_stack(e, event, i);
	return rc;
}

static int folded_begin(struct ktr__export *e)
{
	struct folded *f = e->data;

	if (ktr__spans_new(&f->spans, e->info->first_ns, folded_ended, e) != 0)
		return -ENOMEM;
	ktr__spans_follow(f->spans, folded_begun);
	return 0;
}

static void folded_free(struct ktr__export *e)
{
	struct folded *f = e->data;

	for (uint32_t i = 0; i < f->n_lines; i++)
		free(f->line[i].text);
	for (uint32_t i = 0; i < f->n_threads; i++)
		free(f->thread[i]);
	ktr__spans_free(f->spans);
	ktr__keymap_free(&f->known);
	free(f->line);
	free(f->thread);
}

static int folded_end(struct ktr__export *e)
{
	struct folded *f = e->data;
	uint32_t n = 0;
	int rc = ktr__spans_finish(f->spans, f->last_ns);

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
	else if (f->n_too_deep > 0)
		snprintf(e->note, sizeof(e->note), "%" PRIu64 " spans were left out: more than %u within each other",
			 f->n_too_deep, FOLDED_DEPTH);
	return rc;
}

const struct ktr__export_format ktr__export_folded = {
	.name = "folded",
	.help = "stacks, or else spans by their own time: speedscope, flamegraph.pl",
	.n_data = sizeof(struct folded),
	.begin = folded_begin,
	.event = folded_event,
	.loss = folded_loss,
	.end = folded_end,
	.free = folded_free,
};
