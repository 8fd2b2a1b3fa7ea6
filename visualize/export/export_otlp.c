/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans for who has a collector of OpenTelemetry: lines of JSON, each a TracesData of opentelemetry-proto's
 * trace.proto in its JSON encoding, of up to OTLP_LINE spans. The file receiver of a collector reads them, and each
 * line may be posted to /v1/traces.
 *
 * A scope's parent is the scope around it on its thread; what is in none begins a trace. Ids are made of the
 * trace's and of the order in which spans begin, so that exporting again makes the same.
 */
#include "visualize/export/exports.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OTLP_LINE 1000u /* spans: some 400 KB */

/* One that has begun. */
struct otlp_open {
	struct otlp_open *outer; /* on its track */
	uint64_t root, span, parent; /* halves of ids; parent 0: none */
	char name[KTR__LABEL_BYTES], ident[KTR__LABEL_BYTES], site[KTR__LABEL_BYTES];
	uint32_t pid, tid, cpu;
};

struct otlp {
	struct otlp_open **inner; /* owned; by track: its innermost open one, which the slices own */
	uint32_t n_tracks;
	uint64_t high, low; /* of the trace's uuid */
	uint64_t n_spans;
	unsigned n_line; /* spans of this line */
};

static int otlp_begin(struct ktr__export *e)
{
	struct otlp *o = e->data;

	memcpy(&o->high, e->info->uuid, 8);
	memcpy(&o->low, e->info->uuid + 8, 8);
	return 0;
}

static void otlp_text(struct ktr__export *e, const char *key, const char *text)
{
	fprintf(e->to, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
	ktr__export_json(e->to, text, strlen(text));
	fputs("}}", e->to);
}

static void otlp_number(struct ktr__export *e, const char *key, uint64_t number)
{
	fprintf(e->to, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRIu64 "\"}}", key, number);
}

/* The resource that a line's spans are of. */
static void otlp_line(struct ktr__export *e)
{
	char program[KTR__LABEL_BYTES];
	const char *slash;

	/* Its command's name, as collectors expect, whatever folder it lies in. */
	snprintf(program, sizeof(program), "%.*s", (int)strcspn(e->info->cmdline, " "), e->info->cmdline);
	slash = strrchr(program, '/');
	if (slash)
		memmove(program, slash + 1, strlen(slash));
	if (!*program)
		snprintf(program, sizeof(program), "%s", e->info->name);
	fputs("{\"resourceSpans\":[{\"resource\":{\"attributes\":[", e->to);
	otlp_text(e, "service.name", program);
	putc(',', e->to);
	otlp_text(e, "host.name", e->info->host);
	putc(',', e->to);
	otlp_text(e, "process.command_line", e->info->cmdline);
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"ktr\"},\"spans\":[", e->to);
}

static void otlp_line_end(struct ktr__export *e)
{
	struct otlp *o = e->data;

	if (o->n_line)
		fputs("]}]}]}\n", e->to);
	o->n_line = 0;
}

static void otlp_words(struct otlp_open *open, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	int is_scope = site->group && strcmp(site->group, "scope") == 0;
	const char *ident = site->ident ? site->ident : event->str[0].bytes;
	size_t n = site->ident ? strlen(site->ident) : event->str[0].n_bytes;

	ktr__label_clean(open->ident, sizeof(open->ident), ident ? ident : "", ident ? n : 0);
	if (is_scope)
		snprintf(open->name, sizeof(open->name), "%s", open->ident);
	else
		ktr__label_clean(open->name, sizeof(open->name), site->group, strlen(site->group));
	ktr__label_clean(open->site, sizeof(open->site), site->name, strlen(site->name));
}

static int otlp_slice(void *context, const struct ktr__slice_track *track, uint64_t ns,
		      const struct ktr_event *event, uint64_t flow, void **kept)
{
	struct ktr__export *e = context;
	struct otlp *o = e->data;
	struct otlp_open *open;

	(void)ns;
	(void)flow;
	*kept = NULL;
	if (event->site->kind == KTR_KIND_STATE || !event->site->group)
		return 0;
	open = malloc(sizeof(*open));
	if (!open || ktr__array_grow(&o->inner, &o->n_tracks, track->id, sizeof(struct otlp_open *))) {
		free(open);
		return -ENOMEM;
	}
	open->outer = o->inner[track->id];
	open->span = ktr__hash_word(o->low, ++o->n_spans) | 1;
	open->root = open->outer ? open->outer->root : open->span;
	open->parent = open->outer ? open->outer->span : 0;
	open->pid = event->thread->pid;
	open->tid = event->thread->tid;
	open->cpu = event->cpu;
	otlp_words(open, event);
	o->inner[track->id] = open;
	*kept = open;
	return 0;
}

static void otlp_span(struct ktr__export *e, const struct otlp_open *open, uint64_t from_ns, uint64_t ns,
		      enum ktr__slice_end how)
{
	static const char *const ends[] = { [KTR__SLICE_ENDED] = NULL, [KTR__SLICE_MISSING] = "missing",
					    [KTR__SLICE_OPEN] = "open", [KTR__SLICE_LEFT] = "left" };
	struct otlp *o = e->data;

	if (!o->n_line)
		otlp_line(e);
	fprintf(e->to, "%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\"",
		o->n_line ? "," : "", o->high, open->root, open->span);
	if (open->parent)
		fprintf(e->to, ",\"parentSpanId\":\"%016" PRIx64 "\"", open->parent);
	fputs(",\"name\":", e->to);
	ktr__export_json(e->to, open->name, strlen(open->name));
	fprintf(e->to, ",\"kind\":1,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64
		"\",\"attributes\":[", (int64_t)from_ns + e->info->utc_offset_ns, (int64_t)ns + e->info->utc_offset_ns);
	otlp_text(e, "ktr.id", open->ident);
	putc(',', e->to);
	otlp_text(e, "ktr.site", open->site);
	otlp_number(e, "process.pid", open->pid);
	otlp_number(e, "thread.id", open->tid);
	otlp_number(e, "ktr.cpu", open->cpu);
	if (ends[how]) {
		putc(',', e->to);
		otlp_text(e, "ktr.end", ends[how]);
	}
	fputs("]}", e->to);
	if (++o->n_line == OTLP_LINE)
		otlp_line_end(e);
}

static int otlp_slice_end(void *context, const struct ktr__slice_track *track, uint64_t from_ns, uint64_t ns,
			  enum ktr__slice_end how, void *kept)
{
	struct ktr__export *e = context;
	struct otlp *o = e->data;

	if (!kept)
		return 0;
	otlp_span(e, kept, from_ns, ns, how);
	if (o->inner[track->id] == kept)
		o->inner[track->id] = ((struct otlp_open *)kept)->outer;
	free(kept);
	return ferror(e->to) ? -EIO : 0;
}

static int otlp_end(struct ktr__export *e)
{
	otlp_line_end(e);
	return 0;
}

static void otlp_free(struct ktr__export *e)
{
	free(((struct otlp *)e->data)->inner);
}

/* Neither plain events nor states, counters or threads are spans. */
static int otlp_no_track(void *context, const struct ktr__slice_track *track)
{
	(void)context;
	(void)track;
	return 0;
}

static int otlp_no_mark(void *context, const struct ktr__slice_track *track, uint64_t ns,
			const struct ktr_event *event)
{
	(void)ns;
	(void)event;
	return otlp_no_track(context, track);
}

static int otlp_no_flow(void *context, uint64_t flow, const struct ktr__slice_track *from, uint64_t from_ns,
			const struct ktr__slice_track *to, uint64_t ns)
{
	(void)flow;
	(void)from_ns;
	(void)to;
	(void)ns;
	return otlp_no_track(context, from);
}

static const struct ktr__slices_to otlp_slices = {
	.track = otlp_no_track,
	.begin = otlp_slice,
	.end = otlp_slice_end,
	.mark = otlp_no_mark,
	.count = otlp_no_mark,
	.flow = otlp_no_flow,
};

const struct ktr__export_format ktr__export_otlp = {
	.name = "otlp",
	.help = "spans as lines of OTLP's JSON: a collector of OpenTelemetry",
	.n_data = sizeof(struct otlp),
	.begin = otlp_begin,
	.end = otlp_end,
	.free = otlp_free,
	.slices = &otlp_slices,
};
