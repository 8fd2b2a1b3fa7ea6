/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call within which nothing else happens takes one line, `name();`, and any other one line where it begins
 * and one where it ends, with its duration; with arguments and results where they are
 * recorded. So a call waits until the next thing happens on its thread. Other
 * events stand between as comments.
 */
#include "tools/read/dump_calls.h"

#include "analyze/print/sink_text.h"
#include "analyze/read/reader.h"
#include "analyze/stats/calls.h"
#include "conf/kit/array.h"
#include "tools/command.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_INDENT_MAX 64 /* levels; what lies deeper is as far to the right */

struct calls_waiting {
	const struct ktr__span *span; /* NULL: none waits */
	const char *args; /* or NULL; its call's, which is open */
	unsigned depth;
};

struct dump_calls {
	struct ktr_sink sink;
	struct ktr__out *out;
	const struct ktr_reader_info *info;
	struct ktr__symbols *symbols;
	struct ktr__calls *calls;
	struct calls_waiting *waiting; /* owned; by thread id */
	unsigned n_waiting;
	uint64_t last_ns;
};

static struct calls_waiting *calls_waiting(struct dump_calls *c, const struct ktr_reader_thread *thread)
{
	int rc = ktr__array_grow(&c->waiting, &c->n_waiting, thread->id, sizeof(*c->waiting));

	return rc ? NULL : &c->waiting[thread->id];
}

/* As far as what is called; duration NULL: none is known yet. */
static void calls_line(struct dump_calls *c, uint64_t ns, const char *duration,
		       const struct ktr_reader_thread *thread, unsigned depth)
{
	uint64_t since_ns = ns > c->info->first_ns ? ns - c->info->first_ns : 0;
	char name[KTR__LABEL_BYTES], text[64];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%6" PRIu64 ".%09" PRIu64 " %10s ", since_ns / 1000000000,
			     since_ns % 1000000000, duration ? duration : "");
	ktr__out_bytes(c->out, text, n);
	ktr__label_clean(name, sizeof(name), thread->name, strlen(thread->name));
	ktr__out_visible(c->out, name, strlen(name), 0);
	n = strlen(name) + (size_t)snprintf(text, sizeof(text), "/%u", thread->tid);
	ktr__out_text(c->out, text);
	ktr__out_fill(c->out, ' ', n < 20 ? 20 - n : 0);
	ktr__out_text(c->out, " | ");
	ktr__out_fill(c->out, ' ', 2 * (size_t)(depth < CALLS_INDENT_MAX ? depth : CALLS_INDENT_MAX));
}

/* The bracket that the last one of a text closes, of n bytes; NULL: none. */
static const char *calls_opens(const char *name, size_t n)
{
	const char *end = memrchr(name, ')', n);
	unsigned depth = 0;

	for (; end && end > name; end--) {
		depth += *end == ')';
		depth -= *end == '(';
		if (!depth)
			return end;
	}
	return NULL;
}

/* Is what ends there a name, "operator()"? */
static bool calls_is_operator(const char *name, const char *end)
{
	static const char word[] = "operator()";

	return (size_t)(end - name) >= strlen(word) && memcmp(end - strlen(word), word, strlen(word)) == 0;
}

/*
 * How much of a name is not what C++ says that a function is called with, "f(int, g<(h)1>) const", and what is to
 * be said behind that: of one that returns a pointer to a function, "int (*f(int))(char)", how that is called.
 */
static size_t calls_bare(const char *name, const char **behind)
{
	size_t n = strlen(name);
	const char *open = calls_opens(name, n);

	*behind = "";
	while (open && open > name && open[-1] == ')' && !calls_is_operator(name, open)) {
		*behind = open - 1;
		open = calls_opens(name, (size_t)(open - 1 - name));
	}
	return open ? (size_t)(open - name) : n;
}

/* args NULL: they are not recorded. */
static void calls_name(struct dump_calls *c, const struct ktr__span *span, const char *args)
{
	const char *name = span->site->ident ? span->site->ident : "", *behind = "";

	ktr__out_visible(c->out, name, args ? calls_bare(name, &behind) : strlen(name), 0);
	if (args) {
		ktr__out_text(c->out, "(");
		ktr__out_visible(c->out, args, strlen(args), 0);
		ktr__out_text(c->out, ")");
		ktr__out_visible(c->out, behind, strlen(behind), 0);
	} else if (!strchr(name, '(')) {
		/* Those of other languages, and scopes, have no parentheses. */
		ktr__out_text(c->out, "()");
	}
}

/* What waits has something within it. */
static int calls_open(struct dump_calls *c, const struct ktr_reader_thread *thread)
{
	struct calls_waiting *w = calls_waiting(c, thread);
	int rc = w ? ktr__out_line(c->out) : -ENOMEM;

	if (rc || !w->span)
		return rc;
	calls_line(c, w->span->from_ns, NULL, thread, w->depth);
	calls_name(c, w->span, w->args);
	ktr__out_text(c->out, " {\n");
	w->span = NULL;
	return 0;
}

static int calls_begin(void *context, const struct ktr__call *call)
{
	struct dump_calls *c = context;
	struct calls_waiting *w = calls_waiting(c, call->span->thread);
	int rc = calls_open(c, call->span->thread);

	if (rc || !w)
		return rc ? rc : -ENOMEM;
	w->span = call->span;
	w->args = call->args;
	w->depth = call->depth;
	return 0;
}

/* What is known of its end: a call that longjmp(3) left, or whose end was lost, has none of its own. */
static const char *calls_end_text(const struct ktr__span *span)
{
	return span->flags & KTR__SPAN_MISSING ? ": left, not returned" :
	       span->flags & KTR__SPAN_NO_START ? ": called before" :
	       span->flags & KTR__SPAN_LEFT ? ": its thread has ended" :
	       span->flags & KTR__SPAN_NO_END ? ": goes on" :
	       span->flags & KTR__SPAN_UNSURE ? ": something was lost" : "";
}

static void calls_result(struct dump_calls *c, const struct ktr__call *call)
{
	if (!call->result)
		return;
	ktr__out_text(c->out, " = ");
	ktr__out_visible(c->out, call->result, strlen(call->result), 0);
}

static int calls_end(void *context, const struct ktr__call *call)
{
	const struct ktr__span *span = call->span;
	struct dump_calls *c = context;
	struct calls_waiting *w = calls_waiting(c, span->thread);
	bool known = !(span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END));
	int rc = w ? ktr__out_line(c->out) : -ENOMEM;
	struct ktr__label_text duration = ktr__label_duration(ktr__call_total_ns(call));
	const char *text = calls_end_text(span);
	bool alone = w && w->span == span;

	if (rc)
		return rc;
	calls_line(c, alone ? span->from_ns : span->to_ns, known ? duration.text : NULL, span->thread, call->depth);
	if (alone)
		calls_name(c, span, call->args);
	else
		ktr__out_text(c->out, "}");
	calls_result(c, call);
	if (!alone) {
		ktr__out_text(c->out, call->result ? "; /* " : " /* ");
		calls_name(c, span, NULL);
	}
	ktr__out_text(c->out, alone ? ";" : text);
	if (alone && *text) {
		ktr__out_text(c->out, " /*");
		ktr__out_text(c->out, text + 1);
	}
	ktr__out_text(c->out, !alone || *text ? " */\n" : "\n");
	if (alone)
		w->span = NULL;
	return 0;
}

static int calls_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct dump_calls *c = (struct dump_calls *)(void *)sink;
	const struct ktr_reader_site *site = event->site;
	int rc = ktr__calls_event(c->calls, event);

	c->last_ns = event->time_ns;
	if (rc || (site->group && strcmp(site->group, "scope") == 0))
		return rc;
	rc = calls_open(c, event->thread);
	if (rc)
		return rc;
	calls_line(c, event->time_ns, NULL, event->thread, ktr__calls_depth(c->calls, event->thread));
	ktr__out_text(c->out, "/* ");
	ktr__out_visible(c->out, site->class_name, strlen(site->class_name), 0);
	ktr__out_text(c->out, ": ");
	ktr__sink_text_message(c->out, c->symbols, event, 0);
	ktr__out_text(c->out, " */\n");
	return 0;
}

static int calls_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct dump_calls *c = (struct dump_calls *)(void *)sink;
	int rc = ktr__out_line(c->out);

	if (rc)
		return rc;
	ktr__calls_loss(c->calls, loss);
	ktr__out_text(c->out, "--- ");
	ktr__out_number(c->out, loss->n_events, 0, ' ');
	ktr__out_text(c->out, loss->n_events == 1 ? " event lost on cpu " : " events lost on cpu ");
	ktr__out_number(c->out, loss->cpu, 0, ' ');
	ktr__out_text(c->out, " ---\n");
	return 0;
}

int dump_calls(struct walk *walk, struct ktr__out *out, int header)
{
	static const struct ktr__calls_hooks hooks = { calls_begin, calls_end };
	struct dump_calls c = { .sink = { calls_event, calls_loss, NULL }, .out = out };
	struct ktr_sink *sink = &c.sink;
	int rc;

	c.info = ktr_reader_info(walk->reader);
	c.symbols = ktr__reader_symbols(walk->reader);
	c.last_ns = c.info->first_ns;
	if (ktr__calls_new(&c.calls, &hooks, &c, c.info->first_ns))
		return fail(walk->find.command, "no memory");
	if (header && !ktr__out_line(out))
		ktr__out_text(out, "            time   duration thread               | calls\n");
	rc = walk_run(walk, &sink, 1);
	if (!rc)
		rc = ktr__calls_finish(c.calls, c.last_ns);
	ktr__calls_free(c.calls);
	free(c.waiting);
	return rc < 0 && !out->error;
}
