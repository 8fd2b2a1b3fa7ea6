/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table with a line per event, as RFC 4180 has it: fields with a comma, a quote or a line's end stand in
 * quotes. What an argument is called differs from one call site to the next, so there are six columns for
 * values, and one with their names. Losses are lines of kind "loss" with their number of events.
 *
 * A field of text that begins like a formula of a spreadsheet has a quote (') in front.
 */
#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "conf/kit/utf8.h"
#include "visualize/export/export_args.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/label.h"

#include <inttypes.h>
#include <string.h>

static void csv_clean(FILE *to, const char *bytes, size_t n)
{
	char text[1 + 4 * 2048 + 4] = "'";
	size_t used = ktr__label_clean(text + 1, sizeof(text) - 1, bytes, n < 2048 ? n : 2048);
	int formula = ktr__utf8_is_formula(text + 1, used);

	ktr__label_csv(to, text + !formula, used + (size_t)formula);
}

static void csv_text(FILE *to, const char *text)
{
	csv_clean(to, text ? text : "", text ? strlen(text) : 0);
	putc(',', to);
}

static int csv_begin(struct ktr__export *e)
{
	fputs("ts_ns,cpu,pid,tid,thread,process,kind,class,file,line,func,group,message,names,"
	      "arg0,arg1,arg2,arg3,arg4,arg5\r\n",
	      e->to);
	return 0;
}

static void csv_value(struct ktr__export *e, const struct ktr_event *event, unsigned i)
{
	enum ktr_arg_type type = event->site->arg[i].type;
	char stack[KTR__STACK_TEXT];

	if (type == KTR_ARG_STACK)
		csv_clean(e->to, stack, ktr__stack_text(event, i, ktr__reader_symbols(e->reader), " < ", stack));
	else if (type != KTR_ARG_STR)
		ktr__export_digits(e->to, event, i);
	else if (!event->str[i].is_null)
		csv_clean(e->to, event->str[i].bytes, event->str[i].n_bytes);
}

/* Names of arguments, with blanks between them; expressions of the source have theirs taken out. */
static void csv_names(struct ktr__export *e, const struct ktr_reader_site *site)
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
	csv_clean(e->to, names, used);
}

static int csv_event(struct ktr__export *e, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	char text[2048];
	size_t n = ktr_event_text(event, text, sizeof(text));

	fprintf(e->to, "%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", event->time_ns,
		event->cpu, event->thread->pid, event->thread->tid);
	csv_text(e->to, event->thread->name);
	csv_text(e->to, event->thread->process);
	fprintf(e->to, "%s,", ktr__ktrgraph_text(site->kind));
	csv_text(e->to, site->class_name);
	csv_text(e->to, site->file);
	fprintf(e->to, "%" PRIu32 ",", site->line);
	csv_text(e->to, site->func);
	csv_text(e->to, site->group);
	csv_clean(e->to, text, n < sizeof(text) ? n : sizeof(text) - 1);
	putc(',', e->to);
	csv_names(e, site);
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		putc(',', e->to);
		if (i < site->n_args)
			csv_value(e, event, i);
	}
	fputs("\r\n", e->to);
	return 0;
}

static int csv_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	fprintf(e->to,
		"%" PRIu64 ",%" PRIu32 ",,,,,loss,,,,,,%" PRIu64 " events lost,events,%" PRIu64
		",,,,,\r\n",
		loss->from_ns ? loss->from_ns : e->info->first_ns, loss->cpu, loss->n_events,
		loss->n_events);
	return 0;
}

const struct ktr__export_format ktr__export_csv = {
	.name = "csv",
	.help = "a line per event: spreadsheets, sqlite3, data frames",
	.begin = csv_begin,
	.event = csv_event,
	.loss = csv_loss,
};
