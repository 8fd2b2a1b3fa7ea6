/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans are those of the span engine. For each name the stays of threads within them are kept, sorted by thread and
 * beginning; a stay within a longer one of its thread is dropped, so that ends are sorted, too, and those around a
 * moment lie side by side.
 */
#include "analyze/filter/filter_spans.h"

#include "analyze/filter/filter_fields.h"
#include "analyze/filter/pattern.h"
#include "analyze/spans/spans.h"
#include "conf/expr/expr_parse.h"
#include "conf/kit/array.h"
#include "conf/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filter_spans_stay {
	uint64_t from_ns, to_ns;
	uint64_t took_ns;
	uint32_t thread;
};

struct filter_spans_name {
	const char *text;
	size_t length;
	unsigned column;
	int found;
	uint32_t n, room;
	struct filter_spans_stay *stay; /* owned */
	int ended;                      /* followed: with the event that was last, */
	uint64_t took_ns;               /* after so long */
};

struct ktr__filter_spans {
	const struct ktr__tables *tables;
	struct ktr__spans *engine;
	int follow;
	char last[160];
	uint64_t last_ns;
	unsigned n_names;
	struct filter_spans_name name[];
};

static int filter_spans_asks(const struct ktr__expr_node *node)
{
	return node->kind == KTR__EXPR_N_FIELD && node->field == KTR__FILTER_SPAN;
}

int ktr__filter_spans_new(const struct ktr__expr *expr, const struct ktr__tables *tables,
			  struct ktr__filter_spans **out)
{
	struct ktr__filter_spans *spans;
	unsigned n = 0;

	*out = NULL;
	for (unsigned i = 0; i < expr->n_nodes; i++)
		n += (unsigned)filter_spans_asks(&expr->node[i]);
	if (!n)
		return 0;
	spans = calloc(1, sizeof(*spans) + n * sizeof(spans->name[0]));
	if (!spans)
		return -ENOMEM;
	spans->tables = tables;
	for (unsigned i = 0; i < expr->n_nodes; i++)
		if (filter_spans_asks(&expr->node[i]))
			spans->name[spans->n_names++] = (struct filter_spans_name){
				.text = expr->node[i].value.text,
				.length = expr->node[i].value.length,
				.column = expr->node[i].column,
			};
	*out = spans;
	return 0;
}

/* Any name of a class or moment will do: what they are is not known yet. */
static int filter_spans_constant(void *context, unsigned field, const char *text, uint64_t *value,
				 struct ktr_error *err)
{
	(void)context;
	(void)text;
	(void)err;
	*value = 0;
	return field == KTR__FILTER_CLASS || field == KTR__FILTER_UTC ? 0 : -ENOTSUP;
}

int ktr__filter_spans_asked(const char *text)
{
	const struct ktr__expr_language language = { ktr__filter_fields, KTR__FILTER_N_FIELDS,
						     KTR_ARGS_MAX, filter_spans_constant, NULL };
	struct ktr__expr *expr;
	int asked = 0;

	if (ktr__expr_parse(text, &language, &expr, NULL))
		return 0;
	for (unsigned i = 0; i < expr->n_nodes; i++)
		asked |= filter_spans_asks(&expr->node[i]);
	ktr__expr_free(expr);
	return asked;
}

void ktr__filter_spans_free(struct ktr__filter_spans *spans)
{
	if (!spans)
		return;
	for (unsigned i = 0; i < spans->n_names; i++)
		free(spans->name[i].stay);
	ktr__spans_free(spans->engine);
	free(spans);
}

static int filter_spans_fits(const char *name, const struct ktr__span *span)
{
	if (span->kind == KTR_KIND_STATE)
		return ktr__pattern_matches(name, span->state.bytes, span->state.n_bytes);
	return ktr__pattern_matches(name, span->group, strlen(span->group)) ||
	       ktr__pattern_matches(name, span->ident.bytes, span->ident.n_bytes);
}

static int filter_spans_add(struct filter_spans_name *name, const struct ktr__span *span,
			    uint32_t thread)
{
	int rc = ktr__array_grow(&name->stay, &name->room, name->n, sizeof(*name->stay));

	if (!rc)
		name->stay[name->n++] = (struct filter_spans_stay){ span->from_ns, span->to_ns,
								    span->to_ns - span->from_ns,
								    thread };
	return rc;
}

static int filter_spans_keep(struct filter_spans_name *name, const struct ktr__span *span)
{
	int rc = filter_spans_add(name, span, span->thread->id);

	if (!rc && span->end_thread && span->end_thread != span->thread)
		rc = filter_spans_add(name, span, span->end_thread->id);
	return rc;
}

static void filter_spans_follow(struct ktr__filter_spans *spans, struct filter_spans_name *name,
				const struct ktr__span *span)
{
	const struct ktr_event_bytes *more = span->kind == KTR_KIND_STATE ? &span->state
									  : &span->ident;
	int is_scope = span->kind != KTR_KIND_STATE && span->site->ident != NULL;

	if (span->flags & KTR__SPAN_NO_END)
		return;
	name->ended = 1;
	name->took_ns = span->to_ns - span->from_ns;
	spans->last_ns = name->took_ns;
	snprintf(spans->last, sizeof(spans->last), "%s%s%.*s", is_scope ? "" : span->group,
		 is_scope ? "" : " ", more->n_bytes < 64 ? (int)more->n_bytes : 64, more->bytes);
}

static int filter_spans_span(void *context, const struct ktr__span *span)
{
	struct ktr__filter_spans *spans = context;
	int rc = 0;

	for (unsigned i = 0; i < spans->n_names && !rc; i++) {
		struct filter_spans_name *name = &spans->name[i];

		if (!filter_spans_fits(name->text, span))
			continue;
		name->found = 1;
		if (span->flags & (KTR__SPAN_NO_START | KTR__SPAN_MISSING | KTR__SPAN_UNSURE))
			continue;
		if (spans->follow)
			filter_spans_follow(spans, name, span);
		else
			rc = filter_spans_keep(name, span);
	}
	return rc;
}

int ktr__filter_spans_begin(struct ktr__filter_spans *spans, uint64_t begin_ns, int follow)
{
	spans->follow = follow;
	return ktr__spans_new(&spans->engine, begin_ns, filter_spans_span, spans);
}

int ktr__filter_spans_event(struct ktr__filter_spans *spans, const struct ktr_event *event)
{
	for (unsigned i = 0; i < spans->n_names; i++)
		spans->name[i].ended = 0;
	return ktr__spans_event(spans->engine, event);
}

void ktr__filter_spans_loss(struct ktr__filter_spans *spans, const struct ktr_loss *loss)
{
	ktr__spans_loss(spans->engine, loss);
}

const char *ktr__filter_spans_ended(const struct ktr__filter_spans *spans, uint64_t *ns)
{
	*ns = spans->last_ns;
	return spans->last;
}

/* ---- all spans of a source ---- */

static int filter_spans_order(const void *a, const void *b)
{
	const struct filter_spans_stay *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->to_ns > y->to_ns ? -1 : x->to_ns < y->to_ns;
}

/* Sorts, and drops what lies within a longer one of its thread. */
static void filter_spans_sort(struct filter_spans_name *name)
{
	uint32_t n = 0;

	if (name->n)
		qsort(name->stay, name->n, sizeof(*name->stay), filter_spans_order);
	for (uint32_t i = 0; i < name->n; i++)
		if (!n || name->stay[n - 1].thread != name->stay[i].thread ||
		    name->stay[i].to_ns > name->stay[n - 1].to_ns)
			name->stay[n++] = name->stay[i];
	name->n = n;
}

/* What a mistyped name may have meant: groups and names of call sites. A ktr_names_fn over the tables. */
static int filter_spans_names(void *context, unsigned idx, char *text, size_t size, uint64_t *value)
{
	const struct ktr__tables *tables = context;
	const struct ktr_reader_site *site;
	const char *found;

	*value = idx;
	if (idx / 2 >= tables->n_sites)
		return -ENOENT;
	site = tables->site[idx / 2];
	if (!site || site->kind != KTR_KIND_START)
		return 1;
	found = idx % 2 ? site->ident : site->group;
	if (!found || (site->ident && !(idx % 2)))
		return 1;
	snprintf(text, size, "%s", found);
	return 0;
}

static int filter_spans_read(struct ktr__filter_spans *spans, struct ktr_reader *reader)
{
	struct ktr_event event;
	int what, rc = ktr__filter_spans_begin(spans, ktr_reader_info(reader)->first_ns, 0);

	while (!rc && (what = ktr_reader_next(reader, &event)) != KTR_READ_END) {
		if (what == KTR_READ_EVENT)
			rc = ktr__filter_spans_event(spans, &event);
		else if (what == KTR_READ_LOSS)
			ktr__filter_spans_loss(spans, ktr_reader_loss(reader));
		else if (what < 0)
			rc = what;
	}
	return rc ? rc : ktr__spans_finish(spans->engine, ktr_reader_info(reader)->last_ns);
}

int ktr__filter_spans_walk(struct ktr__filter_spans *spans, struct ktr_reader *reader, struct ktr_error *err)
{
	int rc = filter_spans_read(spans, reader);

	if (rc)
		return ktr_error_at(err, NULL, 0, 0, -rc, "%s", strerror(-rc));
	for (unsigned i = 0; i < spans->n_names; i++) {
		struct filter_spans_name *name = &spans->name[i];

		if (!name->found && spans->tables->n_sites > 1)
			return ktr__unknown_word("span", name->text, name->length, name->column, EINVAL,
						 filter_spans_names, (void *)(uintptr_t)spans->tables, err);
		filter_spans_sort(name);
	}
	return 0;
}

/* ---- values ---- */

/* How many of the stays begin at the moment or earlier, by the order of the array? */
static uint32_t filter_spans_before(const struct filter_spans_name *name, uint32_t thread,
				    uint64_t ns)
{
	uint32_t low = 0, high = name->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct filter_spans_stay *stay = &name->stay[middle];

		if (stay->thread < thread || (stay->thread == thread && stay->from_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int filter_spans_longest(const struct filter_spans_name *name, const struct ktr_event *event,
				uint64_t *ns)
{
	uint32_t thread = event->thread->id;
	int found = 0;

	for (uint32_t i = filter_spans_before(name, thread, event->time_ns); i-- > 0;) {
		const struct filter_spans_stay *stay = &name->stay[i];

		if (stay->thread != thread || stay->to_ns < event->time_ns)
			break;
		if (!found || stay->took_ns > *ns)
			*ns = stay->took_ns;
		found = 1;
	}
	return found;
}

void ktr__filter_spans_value(const struct ktr__filter_spans *spans, const char *name,
			     const struct ktr_event *event, struct ktr__expr_value *value)
{
	unsigned i = 0;
	uint64_t ns = 0;
	int found;

	while (spans->name[i].text != name)
		i++;
	ns = spans->name[i].took_ns;
	found = spans->follow ? spans->name[i].ended
			      : filter_spans_longest(&spans->name[i], event, &ns);
	if (found)
		*value = (struct ktr__expr_value){ .bits = ns, .kind = KTR__EXPR_INT };
}
