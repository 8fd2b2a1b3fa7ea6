/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns events into what schedgraph.py draws. Names and texts lose what would end the string that they
 * stand in, because quotes cannot be escaped there: they become apostrophes.
 */
#include "visualize/export/schedgraph.h"

#include "analyze/read/ktrgraph.h"
#include "analyze/read/tables.h"
#include "analyze/spans/spans.h"
#include "conf/kit/array.h"
#include "visualize/export/export_args.h"
#include "visualize/model/keymap.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDGRAPH_MOMENT_NS 1000 /* what takes no time is drawn so long */

struct ktr__schedgraph {
	ktr__schedgraph_fn *line;
	void *context;
	struct ktr__keymap groups, rows;
	uint8_t *group_used; /* a counter of it was not zero */
	uint32_t n_groups, n_group_used;
	struct ktr__spans *spans;
	uint32_t *open; /* owned; by row, how many spans are */
	uint32_t n_rows, open_room;
	uint32_t now; /* row of the event, from 1 */
	char **thread; /* owned; what the row of a thread with plain events is called, by its number */
	uint32_t n_threads;
	struct ktr__keymap states; /* rows that have had one, while none has had two: */
	int drawn;
	struct ktr_event last; /* its time and CPU */
	uint64_t first_ns;     /* 0: there was no line yet */
};

static int schedgraph_begun(void *context, struct ktr__span *span)
{
	struct ktr__schedgraph *s = context;

	span->word = s->now;
	s->open[s->now - 1]++;
	return 0;
}

static int schedgraph_ended(void *context, const struct ktr__span *span)
{
	struct ktr__schedgraph *s = context;

	if (span->word != 0)
		s->open[span->word - 1]--;
	return 0;
}

int ktr__schedgraph_new(struct ktr__schedgraph **out, ktr__schedgraph_fn *line, void *context)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return -ENOMEM;
	(*out)->line = line;
	(*out)->context = context;
	if (ktr__spans_new(&(*out)->spans, 0, schedgraph_ended, *out) != 0) {
		free(*out);
		*out = NULL;
		return -ENOMEM;
	}
	ktr__spans_follow((*out)->spans, schedgraph_begun);
	return 0;
}

void ktr__schedgraph_free(struct ktr__schedgraph *s)
{
	if (s == NULL)
		return;
	ktr__spans_free(s->spans);
	ktr__keymap_free(&s->groups);
	ktr__keymap_free(&s->rows);
	ktr__keymap_free(&s->states);
	free(s->group_used);
	free(s->open);
	for (uint32_t i = 0; i < s->n_threads; i++)
		free(s->thread[i]);
	free(s->thread);
	free(s);
}

/* Clean, and without what would end the string that it stands in. */
static const char *schedgraph_text(char *to, size_t size, const char *bytes, size_t n)
{
	ktr__label_clean(to, size, bytes ? bytes : "", bytes ? n : 0);
	for (char *at = to; *at != '\0'; at++)
		if (*at == '"')
			*at = '\'';
	return to;
}

/* A state is drawn up to the next of its row. 0 or -ENOMEM. */
static int schedgraph_state(struct ktr__schedgraph *s, const char *group, const char *id)
{
	uint32_t *n = ktr__keymap_at(
		&s->states,
		ktr__hash_bytes(ktr__hash_bytes(0, group, strlen(group)), id, strlen(id)));

	if (n == NULL)
		return -ENOMEM;
	s->drawn = ++*n == 2;
	return 0;
}

/* One line: group and id are clean, what is `state:"x"`. */
static int schedgraph_line(struct ktr__schedgraph *s, const struct ktr_event *event,
			   const char *group, const char *id, const char *what,
			   const char *attributes, uint32_t counter)
{
	char line[KTR__SCHEDGRAPH_LINE];
	int n = snprintf(line, sizeof(line), "KTRGRAPH group:\"%s\", id:\"%s\", %s, attributes: %s",
			 group, id, what, attributes);

	if (n < 0)
		return -EINVAL;
	s->last.time_ns = event->time_ns;
	s->first_ns = s->first_ns ? s->first_ns : event->time_ns;
	s->last.cpu = event->cpu;
	if (!s->drawn && strncmp(what, "state:", 6) == 0 && schedgraph_state(s, group, id) != 0)
		return -ENOMEM;
	return s->line(s->context, event, line,
		       (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1, counter);
}

/* "name:value, name:value" of the arguments from one on, or "none". */
static void schedgraph_attributes(const struct ktr_event *event, unsigned from, char *text,
				  size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (unsigned i = from; i < event->site->n_args && used + 400 < size; i++) {
		char name[100], value[200];
		int n;

		schedgraph_text(name, sizeof(name), event->site->arg[i].name,
				strlen(event->site->arg[i].name));
		/* Colons and commas separate: a name that has one stands in quotes. */
		if (event->site->arg[i].type == KTR_ARG_STR)
			n = snprintf(text + used, size - used, "%s\"%s\":\"%s\"", used ? ", " : "",
				     name,
				     schedgraph_text(value, sizeof(value), event->str[i].bytes,
						     event->str[i].n_bytes));
		else
			n = snprintf(text + used, size - used, "%s\"%s\":%" PRId64,
				     used ? ", " : "", name, (int64_t)event->arg[i]);
		used += (size_t)n;
	}
}

/* Its number, from 1; 0 without memory. */
static uint32_t schedgraph_number(struct ktr__keymap *map, uint32_t *n, uint64_t key)
{
	uint32_t *at = ktr__keymap_at(map, key);

	if (at != NULL && *at == 0)
		*at = ++*n;
	return at != NULL ? *at : 0;
}

/* START and STOP: how many are open. */
static int schedgraph_open(struct ktr__schedgraph *s, const struct ktr_event *event,
			   const char *group, const char *id, char *what, size_t size)
{
	uint64_t whose = ktr__tables_process_key(event->thread);
	uint64_t key = ktr__hash_bytes(ktr__hash_bytes(whose, group, strlen(group)), id, strlen(id));
	int rc;

	s->now = schedgraph_number(&s->rows, &s->n_rows, key);
	if (s->now == 0 || ktr__array_grow(&s->open, &s->open_room, s->now - 1, sizeof(*s->open)) != 0)
		return -ENOMEM;
	rc = ktr__spans_event(s->spans, event);
	if (s->open[s->now - 1] == 0)
		snprintf(what, size, "state:\"idle\"");
	else
		snprintf(what, size, "state:\"%" PRIu32 " open\"", s->open[s->now - 1]);
	return rc;
}

/* FreeBSD's schedgraph reads whole numbers only. */
static void schedgraph_counter(const struct ktr_event *event, char *what, size_t size)
{
	unsigned arg = (unsigned)event->site->value_arg;
	double real = ktr__event_number(event, arg);

	if (event->site->arg[arg].type == KTR_ARG_U64)
		snprintf(what, size, "counter:%" PRIu64, event->arg[arg]);
	else if (event->site->arg[arg].type != KTR_ARG_F64)
		snprintf(what, size, "counter:%" PRId64, (int64_t)event->arg[arg]);
	else /* No "-0", and no number is 0. */
		snprintf(what, size, "counter:%.0f", isfinite(real) ? round(real) + 0.0 : 0.0);
}

/* An event of the KTR_STATE family. */
static int schedgraph_row(struct ktr__schedgraph *s, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	char group[200], id[200], what[256], name[200], attributes[2048];
	struct ktr_event_bytes bytes = ktr__export_name(event);
	uint32_t counter = 0;
	int rc = 0;

	schedgraph_text(group, sizeof(group), site->group, strlen(site->group));
	if (site->ident != NULL)
		schedgraph_text(id, sizeof(id), site->ident, strlen(site->ident));
	else
		schedgraph_text(id, sizeof(id), event->str[0].bytes, event->str[0].n_bytes);
	schedgraph_attributes(event, (unsigned)site->first_attr, attributes, sizeof(attributes));
	switch (site->kind) {
	case KTR_KIND_COUNTER:
		counter = schedgraph_number(&s->groups, &s->n_groups,
					    ktr__hash_bytes(0, group, strlen(group)));
		if (counter == 0 || ktr__array_grow(&s->group_used, &s->n_group_used, counter, 1) != 0)
			return -ENOMEM;
		schedgraph_counter(event, what, sizeof(what));
		s->group_used[counter] |= strcmp(what, "counter:0") != 0;
		break;
	case KTR_KIND_START:
	case KTR_KIND_STOP:
		rc = schedgraph_open(s, event, group, id, what, sizeof(what));
		break;
	default:
		snprintf(what, sizeof(what), "%s:\"%s\"",
			 site->kind == KTR_KIND_STATE ? "state" : "point",
			 schedgraph_text(name, sizeof(name), bytes.bytes, bytes.n_bytes));
	}
	return rc != 0 ? rc : schedgraph_line(s, event, group, id, what, attributes, counter);
}

int ktr__schedgraph_event(struct ktr__schedgraph *s, const struct ktr_event *event)
{
	char id[200], name[100], what[300], text[256], attributes[2048];
	size_t n;
	int rc = 0;

	if (event->site->kind != KTR_KIND_EVENT)
		return schedgraph_row(s, event);
	snprintf(id, sizeof(id), "%s tid %" PRIu32,
		 schedgraph_text(name, sizeof(name), event->thread->name,
				 strlen(event->thread->name)),
		 event->thread->tid);
	if (ktr__array_grow(&s->thread, &s->n_threads, event->thread->id, sizeof(*s->thread)) != 0)
		return -ENOMEM;
	if (s->thread[event->thread->id] == NULL) {
		s->thread[event->thread->id] = strdup(id);
		if (s->thread[event->thread->id] == NULL)
			return -ENOMEM;
		rc = schedgraph_line(s, event, "thread", id, "state:\"alive\"", "none", 0);
	}
	n = ktr_event_text(event, text, sizeof(text));
	snprintf(
		what, sizeof(what), "point:\"%s\"",
		schedgraph_text(name, sizeof(name), text, n < sizeof(text) ? n : sizeof(text) - 1));
	schedgraph_attributes(event, 0, attributes, sizeof(attributes));
	return rc != 0 ? rc : schedgraph_line(s, event, "thread", id, what, attributes, 0);
}

int ktr__schedgraph_end(struct ktr__schedgraph *s)
{
	struct ktr_event last = s->last;
	int rc = 0;

	/* A trace of one moment is divided by how long it took. */
	if (last.time_ns == s->first_ns)
		last.time_ns += SCHEDGRAPH_MOMENT_NS;
	for (uint32_t i = 0; i < s->n_threads && rc == 0; i++)
		if (s->thread[i] != NULL)
			rc = schedgraph_line(s, &last, "thread", s->thread[i], "state:\"alive\"",
					     "none", 0);
	for (unsigned i = 0, end = !s->drawn && s->first_ns; i < 2 * end && rc == 0; i++) {
		rc = schedgraph_line(s, &last, "trace", "end", "state:\"end\"", "none", 0);
		last.time_ns += SCHEDGRAPH_MOMENT_NS;
	}
	return rc;
}

void ktr__schedgraph_loss(struct ktr__schedgraph *s, const struct ktr_loss *loss)
{
	ktr__spans_loss(s->spans, loss);
}

int ktr__schedgraph_drawn(const struct ktr__schedgraph *s, uint32_t counter)
{
	return counter == 0 || s->group_used[counter];
}
