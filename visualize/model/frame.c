/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words around a picture, made from what the trace and the timeline know.
 */
#include "visualize/model/frame.h"

#include "visualize/model/number.h"
#include "visualize/model/row.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#define FRAME_CMDLINE 160 /* [columns] of a command line that are shown; a longer one loses its middle */

/* The program's name: the first word of its command line, without directories. */
static void frame_program(struct ktr__frame *frame, const char *cmdline)
{
	size_t n = strcspn(cmdline, " \t");
	const char *slash = memrchr(cmdline, '/', n);

	if (slash != NULL) {
		n -= (size_t)(slash + 1 - cmdline);
		cmdline = slash + 1;
	}
	ktr__label_clean(frame->program, sizeof(frame->program), cmdline, n);
	if (frame->program[0] == '\0')
		snprintf(frame->program, sizeof(frame->program), "unknown program");
}

static void frame_moment(const struct ktr_reader_info *info, char *text, size_t size)
{
	int64_t utc = (int64_t)info->first_ns + info->utc_offset_ns;
	time_t seconds = (time_t)(utc / 1000000000);
	struct tm tm;

	if (info->utc_offset_ns == 0 || utc < 0 || gmtime_r(&seconds, &tm) == NULL ||
	    strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
		snprintf(text, size, "start time not known");
}

void ktr__frame_init(struct ktr__frame *frame, const struct ktr_reader_info *info,
		     const char *command)
{
	char whole[4096], cmdline[200], host[80], moment[48];
	const char *line = info->cmdline ? info->cmdline : "", *name = info->host ? info->host : "";

	memset(frame, 0, sizeof(*frame));
	frame_program(frame, line);
	ktr__label_clean(whole, sizeof(whole), line, strlen(line));
	ktr__label_fit(cmdline, sizeof(cmdline), whole, FRAME_CMDLINE, 0);
	ktr__label_clean(host, sizeof(host), name, strlen(name));
	frame_moment(info, moment, sizeof(moment));
	snprintf(frame->source, sizeof(frame->source), "%s on %s, %s, %s traced",
		 cmdline[0] ? cmdline : frame->program, host[0] ? host : "unknown host", moment,
		 ktr__label_duration(info->last_ns - info->first_ns).text);
	ktr__label_clean(frame->command, sizeof(frame->command), command, strlen(command));
}

void ktr__frame_note(struct ktr__frame *frame, const char *format, ...)
{
	size_t used = strlen(frame->note);
	va_list ap;

	if (used > 0 && used + 3 < sizeof(frame->note)) {
		memcpy(frame->note + used, "; ", 3);
		used += 2;
	}
	va_start(ap, format);
	vsnprintf(frame->note + used, sizeof(frame->note) - used, format, ap);
	va_end(ap);
}

void ktr__frame_lost(struct ktr__frame *frame, const struct ktr_reader_info *info,
		     const struct ktr__losses *losses, uint64_t n_events)
{
	uint64_t n_lost = ktr__losses_missing(losses, info), n_older = losses->n_events - n_lost;

	if (n_lost > 0)
		snprintf(frame->lost, sizeof(frame->lost), "%s events were lost (%s): what happened there is not known",
			 ktr__label_count(n_lost).text,
			 ktr__number_share((double)n_lost, (double)n_lost + (double)n_events).text);
	if (n_older > 0)
		ktr__frame_note(frame, "the rings hold the newest events; %s older ones made room for them",
				ktr__label_count(n_older).text);
}

struct ktr__label_text ktr__frame_since(const struct ktr_reader_info *info, uint64_t ns)
{
	return ktr__label_duration(ns > info->first_ns ? ns - info->first_ns : 0);
}

/* What kinds of rows there are: "12 rows of worker, shard". */
static void frame_rows(const struct ktr__view *view, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < view->n_lines; i++) {
		int n;

		if (view->line[i].row != NULL || view->line[i].marks != NULL)
			continue;
		n = snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
			     view->line[i].text);
		if (n < 0 || (size_t)n >= size - used) {
			text[used] = '\0';
			return;
		}
		used += (size_t)n;
	}
}

/* Scopes that no level was left for. */
static void frame_too_deep(struct ktr__frame *frame, const struct ktr__timeline *t)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < t->rows.n_rows; i++)
		n += t->rows.row[i]->n_deeper;
	if (n > 0)
		ktr__frame_note(frame, "%s scopes lie deeper than %u levels and are left out", ktr__label_count(n).text,
				KTR__ROWS_LEVELS);
}

static void frame_timeline_notes(struct ktr__frame *frame, const struct ktr__view *view)
{
	const struct ktr__timeline *t = view->timeline;

	if (view->n_hidden > 0)
		ktr__frame_note(frame,
				"%u of %u rows have a line, those that stand out and the busiest",
				view->n_rows, view->n_rows + view->n_hidden);
	if (view->n_deeper > 0)
		ktr__frame_note(frame, "of them, %u deeper levels of scopes have none", view->n_deeper);
	frame_too_deep(frame, t);
	if (t->rows.n_crowded > 0)
		ktr__frame_note(frame, "%s events found no room in a row",
				ktr__label_count(t->rows.n_crowded).text);
	if (t->rows.n_unpaired > 0)
		ktr__frame_note(frame, "%s STOPs have no START", ktr__label_count(t->rows.n_unpaired).text);
	if (t->n_backwards > 0)
		ktr__frame_note(frame, "time ran backwards at %s events, which stand where it did",
				ktr__label_count(t->n_backwards).text);
	if (t->losses.n_lanes > 0)
		ktr__frame_note(frame, "from a loss on a row's state is not known until its next event");
	if (t->n_damaged > 0)
		ktr__frame_note(frame, "%s parts of the trace are damaged and missing",
				ktr__label_count(t->n_damaged).text);
}

/* which: 0 is the title, 1 the line below it. */
static void frame_finding(struct ktr__frame *frame, const struct ktr__view *view,
			  const struct ktr__finding *finding, unsigned which)
{
	char *text = which == 0 ? frame->title : frame->also;
	const struct ktr__stay *stay = ktr__row_stay(finding->row, finding->label);

	ktr__finding_text(&view->timeline->rows, finding, text, sizeof(frame->title));
	if (stay != NULL)
		frame->said[which] = (struct ktr__frame_said){ finding->row, stay->longest_from_ns,
							       stay->longest_from_ns + stay->longest_ns };
}

void ktr__frame_findings(struct ktr__frame *frame, const struct ktr__view *view)
{
	for (unsigned i = 0; i < view->n_lines; i++)
		for (int k = 0; view->line[i].said > 0 && k < view->n_findings; k++)
			if (view->finding[k].row == view->line[i].row)
				frame_finding(frame, view, &view->finding[k], view->line[i].said - 1);
}

void ktr__frame_timeline(struct ktr__frame *frame, const struct ktr__view *view)
{
	const struct ktr__timeline *t = view->timeline;
	const struct ktr__grid *grid = &t->rows.grid;
	struct ktr__label_text span = ktr__label_duration(grid->to_ns - grid->from_ns);
	char groups[200];

	frame_rows(view, groups, sizeof(groups));
	snprintf(frame->subtitle, sizeof(frame->subtitle), "%s: %s%s%s, %s events: %s", frame->program, span.text,
		 grid->from_ns > t->info->first_ns ? " from +" : "",
		 grid->from_ns > t->info->first_ns ? ktr__frame_since(t->info, grid->from_ns).text : "",
		 ktr__label_count(t->n_events - t->n_derived).text, groups);
	ktr__frame_findings(frame, view);
	if (frame->title[0] == '\0')
		snprintf(frame->title, sizeof(frame->title), "What %s did during %s", frame->program, span.text);
	ktr__frame_lost(frame, t->info, &t->losses, t->n_seen);
	frame_timeline_notes(frame, view);
}

int ktr__frame_empty(const struct ktr__timeline *t, char *why, size_t size)
{
	const struct ktr__grid *grid = &t->rows.grid;
	char lost[48], group[64];

	if (grid->from_ns <= t->info->last_ns && (t->n_events > 0 || t->rows.n_rows > 0))
		return 0;
	lost[0] = '\0';
	if (t->losses.n_events > 0)
		snprintf(lost, sizeof(lost), "; %s were lost", ktr__label_count(t->losses.n_events).text);
	if (t->info->last_ns == 0) {
		snprintf(why, size, "nothing to draw: the trace holds no events%s", lost);
	} else if (t->n_seen == 0) {
		snprintf(why, size, "nothing to draw: no events between %s and %s of a trace of %s%s",
			 ktr__frame_since(t->info, grid->from_ns).text, ktr__frame_since(t->info, grid->to_ns).text,
			 ktr__frame_since(t->info, t->info->last_ns).text, lost);
	} else if (t->options.n_groups > 0) {
		ktr__label_clean(group, sizeof(group), t->options.group[0],
				 strlen(t->options.group[0]));
		snprintf(why, size, "nothing to draw: no group is called %s; there %s %s%s", group,
			 strchr(t->groups, ',') ? "are" : "is", t->groups[0] ? t->groups : "none",
			 lost);
	} else {
		snprintf(why, size, "nothing to draw%s", lost);
	}
	return 1;
}
