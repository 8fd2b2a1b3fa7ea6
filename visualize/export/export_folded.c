/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks, a line each, as flame graphs are made of: "program;thread;outer;inner NUMBER".
 *
 * Where a trace has CTRSTACK events the frames are theirs, and the number is how often. Else they are the
 * spans that were open on a thread, and the number is the time in nanoseconds that the innermost had for
 * itself. A span that another thread ends counts for the one that began it; a scope that begins where one is open
 * on the stack, or ends around it, ends that one.
 */
#include "visualize/export/exports.h"
#include "analyze/read/tables.h"
#include "visualize/model/keymap.h"
#include "visualize/model/label.h"
#include "conf/kit/array.h"
#include "visualize/export/stack_text.h"

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
		uint64_t id; /* hash of what makes it one of its own: see folded_id() */
		int is_scope;
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
	uint64_t n_too_deep;
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
		for (unsigned i = 0; i < t->n; i++)
			used = folded_frame(text, used, t->span[i].name, strlen(t->span[i].name));
		rc = folded_add(f, text, used, ns - t->since_ns, 0);
	}
	t->since_ns = ns;
	return rc;
}

/* By process and key, and but for scopes, whose key is a place on the stack, by what the user calls it. */
static uint64_t folded_id(const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	uint64_t id = ktr__keymap_mix(ktr__tables_process_key(event->thread), event->arg[site->value_arg]);

	if (site->ident != NULL)
		return id;
	id = ktr__keymap_hash(id, site->group, strlen(site->group));
	return event->str[0].bytes == NULL ? id : ktr__keymap_hash(id, event->str[0].bytes, event->str[0].n_bytes);
}

/* The innermost span of this id, counted from 1; 0: there is none. */
static unsigned folded_find(const struct folded_thread *t, uint64_t id)
{
	unsigned i = t->n;

	while (i > 0 && t->span[i - 1].id != id)
		i--;
	return i;
}

/* Takes one away, counted from 1; scopes within a scope have lost their STOP. */
static void folded_take(struct folded_thread *t, unsigned i)
{
	int is_scope = t->span[i - 1].is_scope;
	unsigned to = i - 1;

	for (unsigned from = i; from < t->n; from++)
		if (!is_scope || !t->span[from].is_scope)
			t->span[to++] = t->span[from];
	t->n = to;
}

static struct folded_thread *folded_thread(struct folded *f, const struct ktr_reader_thread *thread)
{
	if (ktr__array_grow(&f->thread, &f->n_threads, thread->id, sizeof(*f->thread)) != 0)
		return NULL;
	if (f->thread[thread->id] == NULL)
		f->thread[thread->id] = calloc(1, sizeof(struct folded_thread));
	return f->thread[thread->id];
}

/* A span that another thread of the process began. */
static int folded_stop_elsewhere(struct ktr__export *e, const struct ktr_event *event, uint64_t id)
{
	struct folded *f = e->data;

	for (uint32_t k = 0; k < f->n_threads; k++) {
		struct folded_thread *t = f->thread[k];
		unsigned i = t != NULL ? folded_find(t, id) : 0;
		int rc;

		if (i == 0)
			continue;
		rc = folded_settle(f, t, ktr_reader_thread(e->reader, k), event->time_ns);
		folded_take(t, i);
		return rc;
	}
	return 0;
}

static void folded_start(struct folded *f, struct folded_thread *t, const struct ktr_event *event, uint64_t id)
{
	struct folded_span *span = &t->span[t->n];
	struct ktr_event_bytes name;
	char number[24];

	if (t->n == FOLDED_DEPTH) {
		f->n_too_deep++;
		return;
	}
	name = ktr__export_name(event, number);
	span->id = id;
	span->is_scope = event->site->ident != NULL;
	ktr__label_clean(span->name, sizeof(span->name), name.bytes, name.n_bytes);
	t->n++;
}

static int folded_span(struct ktr__export *e, const struct ktr_event *event)
{
	struct folded *f = e->data;
	struct folded_thread *t = folded_thread(f, event->thread);
	int is_start = event->site->kind == KTR_KIND_START;
	uint64_t id = folded_id(event);
	unsigned i;
	int rc;

	if (t == NULL)
		return -ENOMEM;
	rc = folded_settle(f, t, event->thread, event->time_ns);
	if (rc != 0)
		return rc;
	i = folded_find(t, id);
	if (i > 0 && (!is_start || event->site->ident != NULL))
		folded_take(t, i);
	else if (!is_start)
		return folded_stop_elsewhere(e, event, id);
	if (is_start)
		folded_start(f, t, event, id);
	return 0;
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
	else if (f->n_too_deep > 0)
		snprintf(e->note, sizeof(e->note), "%" PRIu64 " spans were left out: more than %u within each other",
			 f->n_too_deep, FOLDED_DEPTH);
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
