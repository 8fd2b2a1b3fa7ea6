/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table with a line per event, as RFC 4180 has it: fields with a comma, a quote or a line's end stand in
 * quotes. What an argument is called differs from one call site to the next, so there are six columns for
 * values, and one with their names. Losses are lines of kind "loss" with their number of events.
 *
 * A field of text that begins like a formula of a spreadsheet has a quote (') in front.
 *
 * What never changes of a call site or of a thread is written once, and kept as text; the lines of most call sites
 * are steps (csv_line.h), if the event's strings can stand as they are.
 */
#include "analyze/print/out.h"
#include "analyze/print/render.h"
#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "conf/kit/decimal.h"
#include "conf/kit/utf8.h"
#include "visualize/export/csv_line.h"
#include "visualize/export/export_args.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CSV_FIELD KTR__CSV_FIELD
#define CSV_PIECE KTR__CSV_PIECE

/* What a site's lines have in common; owned texts. */
struct csv_site {
	char *place; /* its columns from kind to group, with the comma after them */
	char *names; /* of its arguments, between commas */
	size_t n_place, n_names;
	struct ktr__csv_line *line; /* owned; NULL: there is none */
};

struct csv_thread {
	char *text; /* pid to process, with the comma after them; owned */
	size_t n;
};

struct csv {
	struct csv_site *site;
	struct csv_thread *thread;
	uint32_t n_sites;
	uint32_t n_threads;
	struct ktr__decimal_above seconds;
};

/* ---- fields ---- */

static void csv_quoted(struct ktr__out *out, const char *bytes, size_t n)
{
	const char *quote;

	ktr__out_char(out, '"');
	while ((quote = memchr(bytes, '"', n)) != NULL) {
		size_t part = (size_t)(quote - bytes) + 1;

		ktr__out_bytes(out, bytes, part);
		ktr__out_char(out, '"');
		bytes += part;
		n -= part;
	}
	ktr__out_bytes(out, bytes, n);
	ktr__out_char(out, '"');
}

/* 0: none of eight bytes is a comma, a quote or no printable ASCII. */
static inline uint64_t csv_uneasy_word(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;
	/* Of ASCII what differs has no top bit: only taking one from nothing sets it. */
	uint64_t odd = ((word ^ ones * ',') - ones) | ((word ^ ones * '"') - ones);

	return ktr__utf8_unplain(word) | (odd & ones * 0x80);
}

static int csv_is_odd(const char *bytes, size_t n)
{
	return ktr__utf8_any(bytes, n, ktr__csv_odd_word) != 0;
}

/* Can they stand in a field as they are, if they do not begin like a formula? */
static inline int csv_is_easy(const char *bytes, size_t n)
{
	return !ktr__utf8_any(bytes, n, csv_uneasy_word);
}

/* A field of clean bytes. */
static void csv_put(struct ktr__out *out, const char *bytes, size_t n)
{
	if (csv_is_odd(bytes, n))
		csv_quoted(out, bytes, n);
	else
		ktr__out_bytes(out, bytes, n);
}

/* A field of any bytes, cleaned. */
static void csv_odd(struct ktr__out *out, const char *bytes, size_t n)
{
	char text[1 + 4 * CSV_FIELD + 4];
	int formula;

	text[0] = '\'';
	n = ktr__label_clean(text + 1, sizeof(text) - 1, bytes, n);
	formula = ktr__utf8_is_formula(text + 1, n);
	csv_put(out, text + !formula, n + (size_t)formula);
}

static void csv_clean(struct ktr__out *out, const char *bytes, size_t n)
{
	n = n < CSV_FIELD ? n : CSV_FIELD;
	if (ktr__csv_begins_well(bytes, n) && csv_is_easy(bytes, n))
		ktr__out_bytes(out, bytes, n);
	else if (ktr__utf8_plain(bytes, n) == n && !ktr__utf8_is_formula(bytes, n))
		csv_put(out, bytes, n);
	else
		csv_odd(out, bytes, n);
}

static void csv_text(struct ktr__out *out, const char *text)
{
	csv_clean(out, text ? text : "", text ? strlen(text) : 0);
	ktr__out_char(out, ',');
}

/* As all that has a bounded length: there is room for a line. */
static void csv_u64(struct ktr__out *out, uint64_t number)
{
	char *end = ktr__decimal_put(out->buffer + out->n, number);

	*end++ = ',';
	out->n = (size_t)(end - out->buffer);
}

static void csv_stack(struct ktr__export *e, const struct ktr_event *event, unsigned i)
{
	char text[KTR__STACK_TEXT];

	csv_clean(e->out, text, ktr__stack_text(event, i, e->symbols, " < ", text));
}

/* easy: bit i: string i can stand as it is, if it does not begin like a formula. */
static inline void csv_value(struct ktr__export *e, const struct ktr_event *event, unsigned i, unsigned easy)
{
	const struct ktr_event_bytes *str = &event->str[i];
	enum ktr_arg_type type = event->site->arg[i].type;
	struct ktr__out *out = e->out;

	if (type == KTR_ARG_STACK)
		csv_stack(e, event, i);
	else if (type != KTR_ARG_STR)
		out->n += ktr__export_digits(out->buffer + out->n, event, i);
	else if (easy >> i & 1 && ktr__csv_begins_well(str->bytes, str->n_bytes))
		ktr__out_bytes(out, str->bytes, str->n_bytes);
	else if (!str->is_null)
		csv_clean(out, str->bytes, str->n_bytes);
}

/* Which strings and stacks of the event can stand as they are: of them a bit each. Longer ones are shortened. */
static inline unsigned csv_easy(const struct ktr_event *event)
{
	unsigned easy = 0;

	for (unsigned left = event->site->in_str; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		easy |= (unsigned)(event->str[i].n_bytes <= CSV_FIELD &&
				   csv_is_easy(event->str[i].bytes, event->str[i].n_bytes))
			<< i;
	}
	return easy;
}

/* ---- what lines have in common ---- */

/* Takes what was written after `from` out again, as an owned text; NULL without memory. */
static char *csv_keep(struct ktr__out *out, size_t from)
{
	char *text = calloc(1, out->n - from + CSV_PIECE);

	if (text)
		memcpy(text, out->buffer + from, out->n - from);
	out->n = from;
	return text;
}

/* Such a text once more. */
static inline void csv_again(struct ktr__out *out, const char *text, size_t n)
{
	if (n > CSV_PIECE || out->room - out->n < CSV_PIECE) {
		ktr__out_bytes(out, text, n);
		return;
	}
	memcpy(out->buffer + out->n, text, CSV_PIECE);
	out->n += n;
}

/* Names of arguments, with blanks between them; expressions of the source have theirs taken out. */
static void csv_names(struct ktr__out *out, const struct ktr_reader_site *site)
{
	char names[1024];
	size_t used = 0;

	for (unsigned i = 0; i < site->n_args; i++) {
		if (i > 0 && used + 1 < sizeof(names))
			names[used++] = ' ';
		for (const char *at = site->arg[i].name; *at != '\0' && used + 1 < sizeof(names);
		     at++)
			if (*at != ' ')
				names[used++] = *at;
	}
	ktr__out_char(out, ',');
	csv_clean(out, names, used);
	ktr__out_char(out, ',');
}

/* NULL without memory. */
static const struct csv_site *csv_site(struct csv *csv, struct ktr__out *out, const struct ktr_reader_site *site)
{
	size_t from = out->n;
	struct csv_site *s;

	if (ktr__array_grow(&csv->site, &csv->n_sites, site->id, sizeof(*s)))
		return NULL;
	s = &csv->site[site->id];
	if (s->names != NULL)
		return s;
	csv_text(out, ktr__ktrgraph_text(site->kind));
	csv_text(out, site->class_name);
	csv_text(out, site->file);
	csv_u64(out, site->line);
	csv_text(out, site->func);
	csv_text(out, site->group);
	free(s->place);
	s->place = csv_keep(out, from);
	csv_names(out, site);
	s->names = csv_keep(out, from);
	s->n_place = s->place ? strlen(s->place) : 0;
	s->n_names = s->names ? strlen(s->names) : 0;
	if (s->place == NULL || s->names == NULL || ktr__csv_line_new(&s->line, site, s->place, s->names) != 0)
		return NULL;
	return s;
}

/* NULL without memory. */
static const struct csv_thread *csv_thread(struct csv *csv, struct ktr__out *out,
					   const struct ktr_reader_thread *thread)
{
	size_t from = out->n;
	struct csv_thread *t;

	if (ktr__array_grow(&csv->thread, &csv->n_threads, thread->id, sizeof(*t)))
		return NULL;
	t = &csv->thread[thread->id];
	if (t->text != NULL)
		return t;
	csv_u64(out, thread->pid);
	csv_u64(out, thread->tid);
	csv_text(out, thread->name);
	csv_text(out, thread->process);
	t->n = out->n - from;
	t->text = csv_keep(out, from);
	return t->text != NULL ? t : NULL;
}

/* ---- lines ---- */

static int csv_begin(struct ktr__export *e)
{
	ktr__out_text(e->out, "ts_ns,cpu,pid,tid,thread,process,kind,class,file,line,func,group,message,"
			      "names,arg0,arg1,arg2,arg3,arg4,arg5\r\n");
	return 0;
}

static void csv_time(struct csv *csv, struct ktr__out *out, uint64_t ns)
{
	char *end = ktr__decimal_near(&csv->seconds, out->buffer + out->n, ns);

	*end++ = ',';
	out->n = (size_t)(end - out->buffer);
}

/* Most are made where they stay. */
static void csv_message(struct ktr__out *out, const struct ktr_event *event)
{
	char *text = out->buffer + out->n, copy[CSV_FIELD];
	size_t n = ktr_event_text(event, text, CSV_FIELD);

	if (n >= CSV_FIELD)
		n = CSV_FIELD - 1;
	if (ktr__csv_begins_well(text, n) && csv_is_easy(text, n)) {
		out->n += n;
		return;
	}
	memcpy(copy, text, n);
	csv_clean(out, copy, n);
}

/* What follows the thread, of an event that has to be looked at. */
static void csv_rest(struct ktr__export *e, const struct ktr_event *event, const struct csv_site *site,
		     unsigned easy)
{
	static const char end[32] = ",,,,,\r\n"; /* longer, so that it can be copied as words */
	unsigned n_args = event->site->n_args, n_missing = KTR_ARGS_MAX - (n_args ? n_args : 1);
	struct ktr__out *out = e->out;

	csv_again(out, site->place, site->n_place);
	csv_message(out, event);
	csv_again(out, site->names, site->n_names);
	for (unsigned i = 0; i < n_args; i++) {
		if (i > 0)
			ktr__out_char(out, ',');
		csv_value(e, event, i, easy);
	}
	ktr__out_bytes(out, end + KTR_ARGS_MAX - 1 - n_missing, n_missing + 2);
}

static int csv_event(struct ktr__export *e, const struct ktr_event *event)
{
	struct csv *csv = e->data;
	struct ktr__out *out = e->out;
	int rc = ktr__export_line(e);
	const struct csv_site *site = rc ? NULL : csv_site(csv, out, event->site);
	const struct csv_thread *thread = rc ? NULL : csv_thread(csv, out, event->thread);
	unsigned easy;
	char *end;

	if (rc != 0 || site == NULL || thread == NULL)
		return rc != 0 ? rc : -ENOMEM;
	csv_time(csv, out, event->time_ns);
	csv_u64(out, event->cpu);
	csv_again(out, thread->text, thread->n);
	easy = csv_easy(event);
	if (site->line == NULL || easy != event->site->in_str || !ktr__csv_line_fits(site->line, event)) {
		csv_rest(e, event, site, easy);
		return 0;
	}
	end = ktr__csv_line_put(site->line, event, out->buffer + out->n);
	out->n = (size_t)(end - out->buffer);
	return 0;
}

static int csv_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct ktr__out *out = e->out;
	int rc = ktr__export_line(e);

	csv_u64(out, loss->from_ns ? loss->from_ns : e->info->first_ns);
	csv_u64(out, loss->cpu);
	ktr__out_text(out, ",,,,loss,,,,,,");
	ktr__out_number(out, loss->n_events, 0, ' ');
	ktr__out_text(out, " events lost,events,");
	csv_u64(out, loss->n_events);
	ktr__out_text(out, ",,,,\r\n");
	return rc;
}

static void csv_free(struct ktr__export *e)
{
	struct csv *csv = e->data;

	for (uint32_t i = 0; i < csv->n_sites; i++) {
		free(csv->site[i].place);
		free(csv->site[i].names);
		free(csv->site[i].line);
	}
	for (uint32_t i = 0; i < csv->n_threads; i++)
		free(csv->thread[i].text);
	free(csv->site);
	free(csv->thread);
}

const struct ktr__export_format ktr__export_csv = {
	.name = "csv",
	.help = "a line per event: spreadsheets, sqlite3, data frames",
	.n_data = sizeof(struct csv),
	.begin = csv_begin,
	.event = csv_event,
	.loss = csv_loss,
	.free = csv_free,
	.sharing = KTR__EXPORT_LINES,
};
