/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of the filter language. */
#ifndef ANALYZE_FILTER_FIELDS_H
#define ANALYZE_FILTER_FIELDS_H

#include "analyze/read/field.h"
#include "conf/expr/expr.h"

#include <ktr/reader.h>

/* X(NAME, name, type, either, file, line, number, where, help). The order is that of ktr-filter(7). */
#define KTR__FILTER_FIELDS(X)                                                                                      \
	X(TIME, "time", NUMBER, 0, 0, 0, 0, EVENT(TIME, time_ns), "nanoseconds since the trace began")             \
	X(CLASS, "class", SET, CLASS_NAME, 0, 0, 0, SITE(U64, mask), "classes of the call site")                   \
	X(SITE, "site", PLACE, FUNC_OR, FILE, LINE, SITE_ID, SITE(NONE, id),                                       \
	  "call site: FILE:LINE, its number, function, format or identity")                                        \
	X(FILE, "file", PATH, 0, 0, 0, 0, SITE(TEXT, file), "source file: whole, or its last components")          \
	X(LINE, "line", NUMBER, 0, 0, 0, 0, SITE(U32, line), "line in the source file")                            \
	X(FUNC, "func", TEXT, 0, 0, 0, 0, SITE(TEXT, func), "function")                                            \
	X(FORMAT, "format", TEXT, 0, 0, 0, 0, SITE(TEXT, format), "format")                                        \
	X(KIND, "kind", TEXT, 0, 0, 0, 0, SITE(KIND, kind), "event, state, counter, point, start or stop")         \
	X(GROUP, "group", TEXT, 0, 0, 0, 0, SITE(TEXT, group), "group of a state, counter, point or span")         \
	X(IDENT, "ident", TEXT, 0, 0, 0, 0, SITE(TEXT, ident), "name of a KTR_SCOPE")                              \
	X(MODULE, "module", PATH, 0, 0, 0, 0, SITE(TEXT, module), "executable or shared object")                   \
	X(CPU, "cpu", NUMBER, 0, 0, 0, 0, EVENT(U32, cpu), "processor")                                            \
	X(PID, "pid", NUMBER, 0, 0, 0, 0, THREAD(U32, pid), "process")                                             \
	X(TID, "tid", NUMBER, 0, 0, 0, 0, THREAD(U32, tid), "thread")                                              \
	X(THREAD, "thread", TEXT, 0, 0, 0, 0, THREAD(TEXT, name), "thread's name")                                 \
	X(PROCESS, "process", TEXT, 0, 0, 0, 0, THREAD(TEXT, process), "process's name")                           \
	X(MSG, "msg", TEXT, 0, 0, 0, 0, EVENT(NONE, str), "text, as dump prints it")                               \
	X(UTC, "utc", NUMBER, 0, 0, 0, 0, EVENT(UTC, time_ns),                                                     \
	  "nanoseconds since 1970, or \"2026-01-31 23:59:59.5\"")                                                  \
	X(MONO, "mono", NUMBER, 0, 0, 0, 0, EVENT(U64, time_ns), "nanoseconds of CLOCK_MONOTONIC")                 \
	X(SPAN, "span", OF, 0, 0, 0, 0, EVENT(NONE, str), "how long the span of the name after it takes")          \
	X(INDEX, "index", NUMBER, 0, 0, 0, 0, EVENT(U64, index), "running number in its ring")                     \
	X(KEEP, "keep", NUMBER, 0, 0, 0, 0, EVENT(U8, keep), "1: from a ring of rare events")                      \
	X(APPROX, "approx", NUMBER, 0, 0, 0, 0, EVENT(U8, approx), "1: the time is that of an event before")       \
	/* Not to be typed. */                                                                                     \
	X(CLASS_NAME, "class name", TEXT, 0, 0, 0, 0, SITE(TEXT, class_name), "")                                  \
	X(SITE_ID, "site id", NUMBER, 0, 0, 0, 0, SITE(U32, id), "")                                               \
	X(FUNC_OR, "site func", TEXT, FORMAT_OR, 0, 0, 0, SITE(TEXT, func), "")                                    \
	X(FORMAT_OR, "site format", TEXT, IDENT_OR, 0, 0, 0, SITE(TEXT, format), "")                               \
	X(IDENT_OR, "site ident", TEXT, 0, 0, 0, 0, SITE(TEXT, ident), "")

enum ktr__filter_field {
#define KTR__FILTER_ENUM(NAME, ...) KTR__FILTER_##NAME,
	KTR__FILTER_FIELDS(KTR__FILTER_ENUM)
#undef KTR__FILTER_ENUM
	KTR__FILTER_N_FIELDS
};

extern const struct ktr__expr_field ktr__filter_fields[];

/*
 * A ktr__expr_constant_fn over tables, which are the context: a text as a field's value, of class names and of
 * moments of the calendar. Returns 0, or -errno with err, which may be NULL, filled.
 */
int ktr__filter_constant(void *context, unsigned field, const char *text, uint64_t *value,
			 struct ktr_error *err);

/*
 * Gives the value of a site's field, or of an event's where the event is not NULL; its text is borrowed from
 * them. MSG is not known here. Returns 1, or 0 where it is an event's field and there is no event.
 */
int ktr__filter_value(unsigned field, const struct ktr_reader_info *info, const struct ktr_reader_site *site,
		      const struct ktr_event *event, struct ktr__expr_value *value);

#endif
