/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/stats/calls.h"

#include "analyze/print/render.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct calls_thread {
	unsigned n, room;
	struct ktr__call *open; /* owned; the outermost first */
};

struct ktr__calls {
	struct ktr__spans *spans; /* owned; NULL: another one drives the engine */
	struct ktr__calls_hooks hooks;
	void *context;
	struct calls_thread **thread; /* owned; by thread id */
	unsigned n_threads;
	const struct ktr_event *event; /* that is being looked at; NULL: none */
};

static struct calls_thread *calls_thread(struct ktr__calls *calls, const struct ktr_reader_thread *thread)
{
	if (ktr__array_grow(&calls->thread, &calls->n_threads, thread->id, sizeof(*calls->thread)))
		return NULL;
	if (!calls->thread[thread->id])
		calls->thread[thread->id] = calloc(1, sizeof(struct calls_thread));
	return calls->thread[thread->id];
}

/* What an event says of its call, owned: NULL: nothing, or no memory. How late it comes is not of the call. */
static char *calls_text(const struct ktr_event *event)
{
	static const char result[] = "result=";
	size_t n = event && !ktr__span_late(event) ? ktr__render_attributes(event, NULL, 0) : 0, skip;
	char *text = n ? malloc(n + 1) : NULL;

	if (!text)
		return NULL;
	ktr__render_attributes(event, text, n + 1);
	skip = strlen(result);
	if (event->site->kind == KTR_KIND_STOP && strncmp(text, result, skip) == 0)
		memmove(text, text + skip, n + 1 - skip);
	return text;
}

static int calls_is_one(const struct ktr__span *span)
{
	return span->kind == KTR_KIND_START && strcmp(span->group, "scope") == 0;
}

static int calls_room(struct calls_thread *t)
{
	unsigned room = t->room ? 2 * t->room : 16;
	struct ktr__call *grown = t->n < t->room ? t->open : realloc(t->open, room * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	if (t->n == t->room)
		t->room = room;
	t->open = grown;
	return 0;
}

int ktr__calls_begun(struct ktr__calls *calls, const struct ktr__span *span)
{
	struct calls_thread *t = calls_thread(calls, span->thread);
	struct ktr__call *call;
	unsigned at;

	if (!t || calls_room(t))
		return -ENOMEM;
	/* What is told of late may be around what began after it. */
	for (at = t->n; at > 0 && t->open[at - 1].span->from_ns > span->from_ns;)
		at--;
	call = &t->open[at];
	memmove(call + 1, call, (t->n++ - at) * sizeof(*call));
	*call = (struct ktr__call){ .span = span };
	call->level = at ? call[-1].level + 1 : 0;
	call->args = calls_text(calls->event);
	call->outer = at ? ktr__call_name(&call[-1]) : NULL;
	call->outer_site = at ? call[-1].span->site : NULL;
	for (unsigned i = at; i > 0 && !call->again; i--)
		call->again = strcmp(ktr__call_name(&t->open[i - 1]), ktr__call_name(call)) == 0;
	for (unsigned i = at; i < t->n; i++)
		t->open[i].depth = i;
	return calls->hooks.begin ? calls->hooks.begin(calls->context, call) : 0;
}

/* Those that began within it, and go on, are one less deep from here on. */
int ktr__calls_ended(struct ktr__calls *calls, const struct ktr__span *span)
{
	struct calls_thread *t = calls_thread(calls, span->thread);
	struct ktr__call call = { .span = span };
	unsigned at;
	int rc;

	if (!t)
		return -ENOMEM;
	for (at = t->n; at > 0 && t->open[at - 1].span != span;)
		at--;
	if (at > 0) {
		call = t->open[at - 1];
		memmove(&t->open[at - 1], &t->open[at], (t->n - at) * sizeof(*t->open));
		t->n--;
		for (unsigned i = at - 1; i < t->n; i++)
			t->open[i].depth = i;
	}
	if (at > 1)
		t->open[at - 2].inner_ns += ktr__call_total_ns(&call);
	if (!(span->flags & KTR__SPAN_NO_END) && calls->event && calls->event->site->kind == KTR_KIND_STOP)
		call.result = calls_text(calls->event);
	rc = calls->hooks.end ? calls->hooks.end(calls->context, &call) : 0;
	free(call.args);
	free(call.result);
	return rc;
}

static int calls_on_begin(void *calls, struct ktr__span *span)
{
	return calls_is_one(span) ? ktr__calls_begun(calls, span) : 0;
}

static int calls_on_end(void *calls, const struct ktr__span *span)
{
	return calls_is_one(span) ? ktr__calls_ended(calls, span) : 0;
}

int ktr__calls_within(struct ktr__calls **out, const struct ktr__calls_hooks *hooks, void *context)
{
	struct ktr__calls *calls = *out = calloc(1, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	calls->hooks = *hooks;
	calls->context = context;
	return 0;
}

int ktr__calls_new(struct ktr__calls **out, const struct ktr__calls_hooks *hooks, void *context, uint64_t begin_ns)
{
	if (ktr__calls_within(out, hooks, context))
		return -ENOMEM;
	if (ktr__spans_new(&(*out)->spans, begin_ns, calls_on_end, *out)) {
		ktr__calls_free(*out);
		*out = NULL;
		return -ENOMEM;
	}
	ktr__spans_follow((*out)->spans, calls_on_begin);
	return 0;
}

void ktr__calls_free(struct ktr__calls *calls)
{
	if (!calls)
		return;
	for (unsigned i = 0; i < calls->n_threads; i++)
		if (calls->thread[i]) {
			for (unsigned k = 0; k < calls->thread[i]->n; k++)
				free(calls->thread[i]->open[k].args);
			free(calls->thread[i]->open);
			free(calls->thread[i]);
		}
	free(calls->thread);
	ktr__spans_free(calls->spans);
	free(calls);
}

int ktr__calls_event(struct ktr__calls *calls, const struct ktr_event *event)
{
	int rc;

	calls->event = event;
	rc = ktr__spans_event(calls->spans, event);
	calls->event = NULL;
	return rc;
}

void ktr__calls_loss(struct ktr__calls *calls, const struct ktr_loss *loss)
{
	ktr__spans_loss(calls->spans, loss);
}

int ktr__calls_finish(struct ktr__calls *calls, uint64_t end_ns)
{
	return ktr__spans_finish(calls->spans, end_ns);
}

unsigned ktr__calls_depth(const struct ktr__calls *calls, const struct ktr_reader_thread *thread)
{
	return thread->id < calls->n_threads && calls->thread[thread->id] ? calls->thread[thread->id]->n : 0;
}
