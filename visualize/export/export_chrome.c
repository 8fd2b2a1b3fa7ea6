/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chrome's trace event format, as what reads it today agrees on (Perfetto, speedscope, Firefox Profiler,
 * catapult): an array, so that a file that was cut still loads; times in microseconds since the trace
 * began, because larger ones lose their fraction; complete events ("X"), since readers pair "B" and "E"
 * in different ways; a name in every event; args.detail, which Firefox Profiler shows.
 *
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
#include "analyze/read/reader.h"
#include "visualize/export/export_args.h"
#include "visualize/export/exports.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHROME_ROWS   10000000u /* ids of "threads" that are rows: above every thread id of Linux */
#define CHROME_LOSSES 9000000u  /* likewise: a CPU's losses */

struct chrome {
	uint64_t n;
	struct ktr__symbols *symbols;
	uint8_t cpu_named[4096];
};

static int chrome_begin(struct ktr__export *e)
{
	struct chrome *c = e->data;

	c->symbols = ktr__reader_symbols(e->reader);
	fputs("[\n", e->to);
	return 0;
}

static void chrome_next(struct ktr__export *e)
{
	struct chrome *c = e->data;

	fputs(c->n++ ? ",\n{" : "{", e->to);
}

static uint32_t chrome_tid(const struct ktr__slice_track *track)
{
	return track->tid != 0 ? track->tid : CHROME_ROWS + track->id;
}

static void chrome_time(struct ktr__export *e, const char *name, uint64_t ns)
{
	fprintf(e->to, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

/*
 * How long from a moment to another. Readers add it to the beginning, in doubles: the sum is never later than
 * the double of the end, which is where the next slice may begin and would seem to lie in this one.
 */
static void chrome_lasts(struct ktr__export *e, uint64_t from, uint64_t to)
{
	double begin = (double)from / 1000, end = (double)to / 1000, lasts = (double)(to - from) / 1000;

	/* Numbers below 2^53 over 1000 are rounded once, as the text of three decimals is when it is read. */
	if (begin + lasts <= end) {
		chrome_time(e, "dur", to - from);
		return;
	}
	/*
	 * The difference is exact where the two are within a factor of two (Sterbenz), and off by little elsewhere;
	 * what is off is a step of the larger one, which would be millions of steps of the smaller.
	 */
	lasts = end - begin;
	while (lasts > 0 && begin + lasts > end)
		lasts = nextafter(lasts, 0);
	fprintf(e->to, ",\"dur\":%.17g", lasts);
}

static uint64_t chrome_since(const struct ktr__export *e, uint64_t ns)
{
	return ns > e->info->first_ns ? ns - e->info->first_ns : 0;
}

static void chrome_where(struct ktr__export *e, const char *phase,
			 const struct ktr__slice_track *track, uint64_t ns)
{
	fprintf(e->to, "\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, phase, track->pid,
		chrome_tid(track));
	chrome_time(e, "ts", chrome_since(e, ns));
}

static void chrome_metadata(struct ktr__export *e, const char *what, uint32_t pid, uint32_t tid,
			    const char *prefix, const char *name)
{
	char text[400];

	snprintf(text, sizeof(text), "%s%s%s", prefix, prefix[0] ? " " : "", name);
	chrome_next(e);
	fprintf(e->to,
		"\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		",\"ts\":0,\"args\":{\"name\":",
		what, pid, tid);
	ktr__export_json(e->to, text, strlen(text));
	fputs("}}", e->to);
}

static int chrome_track(void *context, const struct ktr__slice_track *track)
{
	struct ktr__export *e = context;

	if (track->is_counter)
		return 0;
	if (track->is_main && track->tid != 0)
		chrome_metadata(e, "process_name", track->pid, track->tid, "", track->process);
	chrome_metadata(e, "thread_name", track->pid, chrome_tid(track), track->group, track->name);
	chrome_next(e);
	fprintf(e->to,
		"\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		",\"ts\":0,\"args\":{\"sort_index\":%" PRIu32 "}}",
		track->pid, chrome_tid(track), track->id);
	return 0;
}

/* Name, class, and arguments with where in the source it was. */
static void chrome_what(struct ktr__export *e, FILE *to, const struct ktr_event *event,
			unsigned from)
{
	const struct chrome *c = e->data;
	const struct ktr_reader_site *site = event->site;
	char place[400];
	struct ktr_event_bytes name = ktr__export_name(event);
	int n = snprintf(place, sizeof(place), "%.300s:%" PRIu32, site->file, site->line);

	fputs("\"name\":", to);
	ktr__export_json(to, name.n_bytes ? name.bytes : "(none)", name.n_bytes ? name.n_bytes : 6);
	fputs(",\"cat\":", to);
	ktr__export_json(to, site->class_name, strlen(site->class_name));
	fputs(",\"args\":{", to);
	ktr__export_args(to, event, from, c->symbols);
	fputs(from < site->n_args ? ",\"where\":" : "\"where\":", to);
	ktr__export_json(to, place, (size_t)n);
}

/* The start's words are written when the slice ends. */
static int chrome_slice(void *context, const struct ktr__slice_track *track, uint64_t ns,
			const struct ktr_event *event, uint64_t flow, void **kept)
{
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	(void)track;
	(void)ns;
	(void)flow;
	if (to == NULL)
		return -ENOMEM;
	chrome_what(context, to, event, 0);
	if (fclose(to) != 0) {
		free(text);
		return -ENOMEM;
	}
	*kept = text;
	return 0;
}

static int chrome_end_slice(void *context, const struct ktr__slice_track *track, uint64_t from_ns,
			    uint64_t ns, enum ktr__slice_end how, void *kept)
{
	static const char *const ends[] = { "", ",\"end\":\"missing\"", ",\"end\":\"not reached\"",
					    ",\"end\":\"left\"" };
	struct ktr__export *e = context;

	chrome_next(e);
	chrome_where(e, "X", track, from_ns);
	chrome_lasts(e, chrome_since(e, from_ns), chrome_since(e, ns));
	fprintf(e->to, ",%s%s}}",
		kept ? (const char *)kept : "\"name\":\"?\",\"args\":{\"where\":\"?\"", ends[how]);
	free(kept);
	return 0;
}

static int chrome_mark(void *context, const struct ktr__slice_track *track, uint64_t ns,
		       const struct ktr_event *event)
{
	struct ktr__export *e = context;
	char text[2048];
	size_t n = ktr_event_text(event, text, sizeof(text));

	chrome_next(e);
	chrome_where(e, "i", track, ns);
	fputs(",\"s\":\"t\",", e->to);
	chrome_what(e, e->to, event, 0);
	fputs(",\"detail\":", e->to);
	ktr__export_json(e->to, text, n < sizeof(text) ? n : sizeof(text) - 1);
	fputs("}}", e->to);
	return 0;
}

static int chrome_count(void *context, const struct ktr__slice_track *track, uint64_t ns,
			const struct ktr_event *event)
{
	struct ktr__export *e = context;
	char name[400];

	snprintf(name, sizeof(name), "%s %s", track->group, track->name);
	chrome_next(e);
	fprintf(e->to, "\"ph\":\"C\",\"pid\":%" PRIu32, track->pid);
	chrome_time(e, "ts", chrome_since(e, ns));
	fputs(",\"name\":", e->to);
	ktr__export_json(e->to, name, strlen(name));
	fputs(",\"args\":{\"value\":", e->to);
	ktr__export_number(e->to, event, (unsigned)event->site->value_arg);
	fputs("}}", e->to);
	return 0;
}

static int chrome_flow(void *context, uint64_t flow, const struct ktr__slice_track *from,
		       uint64_t from_ns, const struct ktr__slice_track *to, uint64_t ns)
{
	struct ktr__export *e = context;

	chrome_next(e);
	chrome_where(e, "s", from, from_ns);
	fprintf(e->to, ",\"cat\":\"span\",\"name\":\"goes on\",\"id\":%" PRIu64 "}", flow);
	chrome_next(e);
	chrome_where(e, "f", to, ns);
	fprintf(e->to, ",\"bp\":\"e\",\"cat\":\"span\",\"name\":\"goes on\",\"id\":%" PRIu64 "}",
		flow);
	return 0;
}

static int chrome_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct chrome *c = e->data;
	uint64_t from = loss->from_ns ? loss->from_ns : e->info->first_ns;
	uint64_t to = loss->to_ns ? loss->to_ns : e->info->last_ns;
	uint32_t tid = CHROME_LOSSES + loss->cpu;
	char name[32];

	if (loss->cpu < sizeof(c->cpu_named) && !c->cpu_named[loss->cpu]) {
		c->cpu_named[loss->cpu] = 1;
		snprintf(name, sizeof(name), "CPU %" PRIu32, loss->cpu);
		chrome_metadata(e, "thread_name", 0, tid, "lost events,", name);
	}
	chrome_next(e);
	fprintf(e->to,
		"\"ph\":\"X\",\"pid\":0,\"tid\":%" PRIu32 ",\"name\":\"%" PRIu64
		" events lost\",\"cat\":\"lost\"",
		tid, loss->n_events);
	chrome_time(e, "ts", chrome_since(e, from));
	chrome_lasts(e, chrome_since(e, from), chrome_since(e, to > from ? to : from));
	fprintf(e->to, ",\"args\":{\"events\":%" PRIu64 ",\"cpu\":%" PRIu32 "}}", loss->n_events,
		loss->cpu);
	return 0;
}

static int chrome_end(struct ktr__export *e)
{
	fputs("\n]\n", e->to);
	return 0;
}

static const struct ktr__slices_to chrome_slices = {
	.track = chrome_track,
	.begin = chrome_slice,
	.end = chrome_end_slice,
	.mark = chrome_mark,
	.count = chrome_count,
	.flow = chrome_flow,
};

const struct ktr__export_format ktr__export_chrome = {
	.name = "chrome",
	.help = "trace event JSON: ui.perfetto.dev, speedscope, Firefox Profiler",
	.n_data = sizeof(struct chrome),
	.begin = chrome_begin,
	.loss = chrome_loss,
	.end = chrome_end,
	.slices = &chrome_slices,
};
