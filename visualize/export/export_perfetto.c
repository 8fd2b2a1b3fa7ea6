/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perfetto's own format: packets of protocol buffers, each with one track event or track descriptor. Only
 * three wire types are needed: varints, 64-bit words, and bytes with their length.
 *
 * Names, classes, places and the names of arguments are interned once per call site, under the site's
 * number; names of states, which are the program's data, stand in their events.
 *
 * https://perfetto.dev/docs/reference/trace-packet-proto has the fields.
 */
#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "conf/kit/array.h"
#include "visualize/export/export_args.h"
#include "visualize/export/exports.h"
#include "visualize/export/stack_text.h"
#include "visualize/model/column.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { /* TracePacket */
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	PACKET_FIRST = 87
};
enum { /* TrackEvent */
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_DOUBLE = 44,
	EVENT_LOCATION = 34,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48
};
enum {
	TYPE_BEGIN = 1,
	TYPE_END,
	TYPE_INSTANT,
	TYPE_COUNTER
};
enum {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT,
	ANNOTATION_DOUBLE,
	ANNOTATION_STRING,
	ANNOTATION_POINTER,
	ANNOTATION_NAME = 10
};

#define PERFETTO_PROCESS                                                                           \
	(1ull << 40) /* ids of tracks: those of processes are their pids above this */
#define PERFETTO_LOSSES (2ull << 40) /* likewise: CPUs */

struct perfetto {
	struct ktr__column packet, inner, part; /* one in the other */
	uint64_t n_packets;
	struct ktr__symbols *symbols;
	uint8_t *site_known;
	uint32_t n_sites;
	uint8_t *cpu_known;
	uint32_t n_cpus;
	uint32_t *pid; /* that have a track */
	uint32_t n_pids, pid_room;
};

/* ---- fields ---- */

static void perfetto_number(struct ktr__column *to, unsigned field, uint64_t number)
{
	ktr__column_number(to, field << 3);
	ktr__column_number(to, number);
}

static void perfetto_word(struct ktr__column *to, unsigned field, uint64_t word)
{
	ktr__column_number(to, field << 3 | 1);
	ktr__column_bytes(to, &word, sizeof(word));
}

static void perfetto_bytes(struct ktr__column *to, unsigned field, const void *bytes, size_t n)
{
	ktr__column_number(to, field << 3 | 2);
	ktr__column_number(to, n);
	ktr__column_bytes(to, bytes, n);
}

/* Bytes that a program chose: clean, and not longer than anybody reads. */
static void perfetto_clean(struct ktr__column *to, unsigned field, const char *bytes, size_t n)
{
	char text[4 * 1024 + 4];

	perfetto_bytes(to, field, text,
		       ktr__label_clean(text, sizeof(text), bytes, n < 1024 ? n : 1024));
}

static void perfetto_text(struct ktr__column *to, unsigned field, const char *text)
{
	perfetto_clean(to, field, text ? text : "", text ? strlen(text) : 0);
}

/* Puts what is in `part` into `to` as a message. */
static void perfetto_message(struct ktr__column *to, unsigned field, struct ktr__column *part)
{
	perfetto_bytes(to, field, part->bytes, part->n);
	ktr__column_clear(part);
}

/* ---- packets ---- */

static void perfetto_open(struct perfetto *p, uint64_t ns)
{
	ktr__column_clear(&p->packet);
	ktr__column_clear(&p->inner);
	if (ns != 0)
		perfetto_number(&p->packet, PACKET_TIMESTAMP, ns);
	perfetto_number(&p->packet, PACKET_SEQUENCE, 1);
	/* The first packet begins the interned names, all others need them. */
	perfetto_number(&p->packet, PACKET_FLAGS, p->n_packets == 0 ? 1 : 2);
	if (p->n_packets++ == 0)
		perfetto_number(&p->packet, PACKET_FIRST, 1);
}

static int perfetto_close(struct ktr__export *e, struct perfetto *p, unsigned field)
{
	struct ktr__column *head = &p->part;

	perfetto_message(&p->packet, field, &p->inner);
	ktr__column_clear(head);
	ktr__column_number(head, 1 << 3 | 2); /* Trace.packet */
	ktr__column_number(head, p->packet.n);
	if (p->packet.error || p->inner.error || head->error)
		return -ENOMEM;
	fwrite(head->bytes, 1, head->n, e->to);
	fwrite(p->packet.bytes, 1, p->packet.n, e->to);
	ktr__column_clear(head);
	return 0;
}

static int perfetto_begin(struct ktr__export *e)
{
	struct perfetto *p = e->data;

	p->symbols = ktr__reader_symbols(e->reader);
	return 0;
}

static void perfetto_free(struct ktr__export *e)
{
	struct perfetto *p = e->data;

	free(p->packet.bytes);
	free(p->inner.bytes);
	free(p->part.bytes);
	free(p->site_known);
	free(p->cpu_known);
	free(p->pid);
}

/* ---- tracks ---- */

static int perfetto_process(struct ktr__export *e, struct perfetto *p,
			    const struct ktr__slice_track *track)
{
	for (uint32_t i = 0; i < p->n_pids; i++)
		if (p->pid[i] == track->pid)
			return 0;
	if (ktr__array_grow(&p->pid, &p->pid_room, p->n_pids, sizeof(*p->pid)) != 0)
		return -ENOMEM;
	p->pid[p->n_pids++] = track->pid;
	perfetto_open(p, 0);
	perfetto_number(&p->inner, 1, PERFETTO_PROCESS + track->pid);
	perfetto_number(&p->part, 1, track->pid);
	perfetto_text(&p->part, 6, track->process);
	perfetto_message(&p->inner, 3, &p->part);
	return perfetto_close(e, p, PACKET_TRACK);
}

static int perfetto_track(void *context, const struct ktr__slice_track *track)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_process(e, p, track);
	char name[400];

	if (rc != 0)
		return rc;
	snprintf(name, sizeof(name), "%s%s%s", track->group, track->group[0] ? " " : "",
		 track->name);
	perfetto_open(p, 0);
	perfetto_number(&p->inner, 1, track->id);
	perfetto_text(&p->inner, 2, name);
	if (track->tid != 0) {
		perfetto_number(&p->part, 1, track->pid);
		perfetto_number(&p->part, 2, track->tid);
		perfetto_text(&p->part, 5, track->name);
		perfetto_message(&p->inner, 4, &p->part);
	} else {
		perfetto_number(&p->inner, 5, PERFETTO_PROCESS + track->pid);
	}
	if (track->is_counter)
		perfetto_bytes(&p->inner, 8, "", 0);
	return perfetto_close(e, p, PACKET_TRACK);
}

/* ---- call sites ---- */

/* Interns what belongs to a site: its class, format and place, the names of its arguments. */
static int perfetto_site(struct ktr__export *e, struct perfetto *p,
			 const struct ktr_reader_site *site)
{
	if (ktr__array_grow(&p->site_known, &p->n_sites, site->id, 1) != 0)
		return -ENOMEM;
	if (p->site_known[site->id])
		return 0;
	p->site_known[site->id] = 1;
	perfetto_open(p, 0);
	perfetto_number(&p->part, 1, site->id + 1);
	perfetto_text(&p->part, 2, site->class_name);
	perfetto_message(&p->inner, 1, &p->part);
	perfetto_number(&p->part, 1, site->id + 1);
	perfetto_text(&p->part, 2,
		      site->ident   ? site->ident
		      : site->group ? site->group
				    : site->format);
	perfetto_message(&p->inner, 2, &p->part);
	for (unsigned i = 0; i < site->n_args; i++) {
		perfetto_number(&p->part, 1, (uint64_t)site->id * KTR_ARGS_MAX + i + 1);
		perfetto_text(&p->part, 2, site->arg[i].name);
		perfetto_message(&p->inner, 3, &p->part);
	}
	perfetto_number(&p->part, 1, site->id + 1);
	perfetto_text(&p->part, 2, site->file);
	perfetto_text(&p->part, 3, site->func);
	perfetto_number(&p->part, 4, site->line);
	perfetto_message(&p->inner, 4, &p->part);
	return perfetto_close(e, p, PACKET_INTERNED);
}

static void perfetto_arg(struct perfetto *p, const struct ktr_event *event, unsigned i)
{
	char stack[KTR__STACK_TEXT];
	struct ktr__column *to = &p->part;
	uint64_t word = event->arg[i];

	perfetto_number(to, ANNOTATION_NAME_IID, (uint64_t)event->site->id * KTR_ARGS_MAX + i + 1);
	switch (event->site->arg[i].type) {
	case KTR_ARG_STR:
		if (event->str[i].is_null)
			perfetto_text(to, ANNOTATION_STRING, "(null)");
		else
			perfetto_clean(to, ANNOTATION_STRING, event->str[i].bytes,
				       event->str[i].n_bytes);
		break;
	case KTR_ARG_STACK:
		perfetto_clean(to, ANNOTATION_STRING, stack,
			       ktr__stack_text(event, i, p->symbols, " < ", stack));
		break;
	case KTR_ARG_F64:
		perfetto_word(to, ANNOTATION_DOUBLE, word);
		break;
	case KTR_ARG_PTR:
		perfetto_number(to, ANNOTATION_POINTER, word);
		break;
	case KTR_ARG_U8:
	case KTR_ARG_U16:
	case KTR_ARG_U32:
	case KTR_ARG_U64:
		perfetto_number(to, ANNOTATION_UINT, word);
		break;
	default:
		perfetto_number(to, ANNOTATION_INT, word);
	}
	perfetto_message(&p->inner, EVENT_ANNOTATION, to);
}

/* ---- events ---- */

static void perfetto_event(struct perfetto *p, uint64_t ns, unsigned type, uint64_t track)
{
	perfetto_open(p, ns);
	perfetto_number(&p->inner, EVENT_TYPE, type);
	perfetto_number(&p->inner, EVENT_TRACK, track);
}

/* Name, class, place and arguments. */
static void perfetto_what(struct perfetto *p, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct ktr_event_bytes name;

	perfetto_number(&p->inner, EVENT_CATEGORY, site->id + 1);
	perfetto_number(&p->inner, EVENT_LOCATION, site->id + 1);
	if (site->kind == KTR_KIND_STATE || site->kind == KTR_KIND_POINT) {
		name = ktr__export_name(event);
		perfetto_clean(&p->inner, EVENT_NAME, name.n_bytes ? name.bytes : "(none)",
			       name.n_bytes ? name.n_bytes : 6);
	} else {
		perfetto_number(&p->inner, EVENT_NAME_IID, site->id + 1);
	}
	for (unsigned i = 0; i < site->n_args; i++)
		perfetto_arg(p, event, i);
}

static int perfetto_slice(void *context, const struct ktr__slice_track *track, uint64_t ns,
			  const struct ktr_event *event, uint64_t flow, void **kept)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_site(e, p, event->site);

	*kept = NULL;
	if (rc != 0)
		return rc;
	perfetto_event(p, ns, TYPE_BEGIN, track->id);
	perfetto_what(p, event);
	if (flow != 0)
		perfetto_word(&p->inner, EVENT_FLOW, flow);
	return perfetto_close(e, p, PACKET_TRACK_EVENT);
}

static int perfetto_end_slice(void *context, const struct ktr__slice_track *track, uint64_t from_ns,
			      uint64_t ns, enum ktr__slice_end how, void *kept)
{
	static const char *const ends[] = { "", "missing", "not reached", "left" };
	struct ktr__export *e = context;
	struct perfetto *p = e->data;

	(void)from_ns;
	(void)kept;
	perfetto_event(p, ns, TYPE_END, track->id);
	if (how != KTR__SLICE_ENDED) {
		perfetto_text(&p->part, ANNOTATION_NAME, "end");
		perfetto_text(&p->part, ANNOTATION_STRING, ends[how]);
		perfetto_message(&p->inner, EVENT_ANNOTATION, &p->part);
	}
	return perfetto_close(e, p, PACKET_TRACK_EVENT);
}

static int perfetto_mark(void *context, const struct ktr__slice_track *track, uint64_t ns,
			 const struct ktr_event *event)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_site(e, p, event->site);

	if (rc != 0)
		return rc;
	perfetto_event(p, ns, TYPE_INSTANT, track->id);
	perfetto_what(p, event);
	return perfetto_close(e, p, PACKET_TRACK_EVENT);
}

static int perfetto_count(void *context, const struct ktr__slice_track *track, uint64_t ns,
			  const struct ktr_event *event)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;

	unsigned arg = (unsigned)event->site->value_arg;
	enum ktr_arg_type type = event->site->arg[arg].type;
	double real = ktr__event_number(event, arg);
	uint64_t word;

	perfetto_event(p, ns, TYPE_COUNTER, track->id);
	memcpy(&word, &real, sizeof(word));
	/* The integer is signed. */
	if (type == KTR_ARG_F64 || (type == KTR_ARG_U64 && event->arg[arg] > INT64_MAX))
		perfetto_word(&p->inner, EVENT_COUNTER_DOUBLE, word);
	else
		perfetto_number(&p->inner, EVENT_COUNTER, event->arg[arg]);
	return perfetto_close(e, p, PACKET_TRACK_EVENT);
}

/* The arrow ends at a mark on the thread where the span did. */
static int perfetto_flow(void *context, uint64_t flow, const struct ktr__slice_track *from,
			 uint64_t from_ns, const struct ktr__slice_track *to, uint64_t ns)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;

	(void)from;
	(void)from_ns;
	perfetto_event(p, ns, TYPE_INSTANT, to->id);
	perfetto_text(&p->inner, EVENT_NAME, "span ends");
	perfetto_word(&p->inner, EVENT_FLOW_END, flow);
	return perfetto_close(e, p, PACKET_TRACK_EVENT);
}

static int perfetto_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct perfetto *p = e->data;
	/* CPUs beyond what any machine has come from damage, and share one track. */
	uint32_t cpu = loss->cpu < KTR__LOSSES_CPUS ? loss->cpu : KTR__LOSSES_CPUS;
	uint32_t number = 2 * cpu + (loss->keep != 0);
	uint64_t track = PERFETTO_LOSSES + number;
	uint64_t from = loss->from_ns ? loss->from_ns : e->info->first_ns;
	uint64_t to = loss->to_ns ? loss->to_ns : e->info->last_ns;
	char name[64];

	if (ktr__array_grow(&p->cpu_known, &p->n_cpus, number, 1) != 0)
		return -ENOMEM;
	if (!p->cpu_known[number]) {
		p->cpu_known[number] = 1;
		snprintf(name, sizeof(name), "lost events, CPU %" PRIu32 "%s", cpu,
			 loss->keep ? ", keep ring" : "");
		perfetto_open(p, 0);
		perfetto_number(&p->inner, 1, track);
		perfetto_text(&p->inner, 2, name);
		if (perfetto_close(e, p, PACKET_TRACK) != 0)
			return -ENOMEM;
	}
	snprintf(name, sizeof(name), "%" PRIu64 " events lost", loss->n_events);
	perfetto_event(p, from, TYPE_BEGIN, track);
	perfetto_text(&p->inner, EVENT_NAME, name);
	if (perfetto_close(e, p, PACKET_TRACK_EVENT) != 0)
		return -ENOMEM;
	perfetto_event(p, to > from ? to : from, TYPE_END, track);
	return perfetto_close(e, p, PACKET_TRACK_EVENT);
}

static const struct ktr__slices_to perfetto_slices = {
	.track = perfetto_track,
	.begin = perfetto_slice,
	.end = perfetto_end_slice,
	.mark = perfetto_mark,
	.count = perfetto_count,
	.flow = perfetto_flow,
};

const struct ktr__export_format ktr__export_perfetto = {
	.name = "perfetto",
	.help = "protocol buffers: ui.perfetto.dev, trace_processor (SQL)",
	.n_data = sizeof(struct perfetto),
	.begin = perfetto_begin,
	.loss = perfetto_loss,
	.free = perfetto_free,
	.slices = &perfetto_slices,
};
