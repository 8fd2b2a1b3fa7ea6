/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `span NAME` is in a filter: how long the spans around an event take.
 *
 *	ktr__filter_spans_new(expr, tables, &spans);	NULL where the expression asks for none
 *	ktr__filter_spans_walk(spans, reader, &err);	all spans of a source, before events of it are looked at
 *	...	ktr__filter_spans_value()
 *
 * A name is a pattern that matches the group or the id of a span, the name of a KTR_SCOPE, or a state. An event is
 * within those during which it was recorded, by the thread that began or the one that ended them; of several the
 * longest counts. Left out are those of which an end is not known: because it is missing, or because events that
 * their threads may have recorded were lost in between. One that has not ended takes as long as it has been seen.
 *
 * Whoever follows a source cannot know what is to come. For him an event is within those alone that end with it:
 *
 *	ktr__filter_spans_begin(spans, begin_ns, 1);
 *	...	ktr__filter_spans_event(spans, event), then ktr__filter_spans_value() of the same event
 */
#ifndef ANALYZE_FILTER_SPANS_H
#define ANALYZE_FILTER_SPANS_H

#include "analyze/read/tables.h"
#include "conf/expr/expr.h"

#include <ktr/reader.h>

struct ktr__filter_spans;

/* Borrows the texts of the expression, and the tables. 0 with *out owned, which may be NULL, or -ENOMEM. */
int ktr__filter_spans_new(const struct ktr__expr *expr, const struct ktr__tables *tables,
			  struct ktr__filter_spans **out);
void ktr__filter_spans_free(struct ktr__filter_spans *spans);

/* reader: a forward one, at its beginning. 0; -EINVAL with err filled for a name that no span has; or -errno. */
int ktr__filter_spans_walk(struct ktr__filter_spans *spans, struct ktr_reader *reader, struct ktr_error *err);

/* 0 or -ENOMEM. */
int ktr__filter_spans_begin(struct ktr__filter_spans *spans, uint64_t begin_ns, int follow);
int ktr__filter_spans_event(struct ktr__filter_spans *spans, const struct ktr_event *event);
void ktr__filter_spans_loss(struct ktr__filter_spans *spans, const struct ktr_loss *loss);

/*
 * Gives the nanoseconds of the span that the event is within; name is a text of the expression. Without one
 * the value stays as it is.
 */
void ktr__filter_spans_value(const struct ktr__filter_spans *spans, const char *name,
			     const struct ktr_event *event, struct ktr__expr_value *value);

/* Does the text ask for spans? 1; 0 also where it is no expression. */
int ktr__filter_spans_asked(const char *text);

/* Followed: the last span that ended, "request 7", and how long it took. Valid until the next event. */
const char *ktr__filter_spans_ended(const struct ktr__filter_spans *spans, uint64_t *ns);

#endif
