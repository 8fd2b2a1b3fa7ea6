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
#include "conf/kit/utf8.h"
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

#define PERFETTO_OUT ((size_t)64 << 10) /* [bytes] so many are written at once */

struct perfetto {
	struct ktr__column inner, part; /* the message of a packet, and one in it */
	struct ktr__column out;		/* packets */
	uint64_t ns; /* of the packet; 0: it has none */
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

static inline uint8_t *perfetto_put(uint8_t *to, uint64_t number)
{
	for (; number > 127; number >>= 7)
		*to++ = (uint8_t)(number | 128);
	*to++ = (uint8_t)number;
	return to;
}

/* [bytes] that perfetto_put() takes. */
static inline size_t perfetto_length(uint64_t number)
{
	size_t n = 1;

	for (; number > 127; number >>= 7)
		n++;
	return n;
}

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
	p->ns = ns;
	ktr__column_clear(&p->inner);
}

/* Hands over what has been written. 0 or -errno. */
static int perfetto_flush(struct ktr__export *e)
{
	struct perfetto *p = e->data;
	size_t n = p->out.n;

	p->out.n = 0;
	errno = 0;
	if (fwrite(p->out.bytes, 1, n, e->to) != n)
		e->error = errno != 0 ? -errno : -EIO;
	return e->error;
}

/* Writes the packet: its head, and what is in `inner` as a message. 0 or -errno. */
static int perfetto_close(struct ktr__export *e, struct perfetto *p, unsigned field)
{
	uint8_t head[48], *to = head;
	size_t n;

	if (p->ns != 0) {
		*to++ = PACKET_TIMESTAMP << 3;
		to = perfetto_put(to, p->ns);
	}
	*to++ = PACKET_SEQUENCE << 3;
	*to++ = 1;
	/* The first packet begins the interned names, all others need them. */
	*to++ = PACKET_FLAGS << 3;
	*to++ = p->n_packets == 0 ? 1 : 2;
	if (p->n_packets++ == 0) {
		to = perfetto_put(to, PACKET_FIRST << 3);
		*to++ = 1;
	}
	to = perfetto_put(to, field << 3 | 2);
	to = perfetto_put(to, p->inner.n);
	n = (size_t)(to - head);
	if (p->out.n >= PERFETTO_OUT && perfetto_flush(e) != 0)
		return e->error;
	if (p->inner.error || ktr__column_room(&p->out, 11 + n + p->inner.n) != 0)
		return -ENOMEM;
	to = p->out.bytes + p->out.n;
	*to++ = 1 << 3 | 2; /* Trace.packet */
	to = perfetto_put(to, n + p->inner.n);
	memcpy(to, head, n);
	if (p->inner.n)
		memcpy(to + n, p->inner.bytes, p->inner.n);
	p->out.n = (size_t)(to + n + p->inner.n - p->out.bytes);
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

	free(p->out.bytes);
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

/*
 * An argument, written where it will lie: its length is known before. The room is for the two lengths, and what is
 * not the value.
 */
static void perfetto_annotation(struct perfetto *p, const struct ktr_event *event, unsigned i, const uint8_t *value,
				size_t n_value, const char *bytes, size_t n_bytes)
{
	uint64_t name = (uint64_t)event->site->id * KTR_ARGS_MAX + i + 1;
	size_t n = 1 + perfetto_length(name) + n_value + n_bytes;
	uint8_t *to;

	if (ktr__column_room(&p->inner, n + 12) != 0)
		return;
	to = p->inner.bytes + p->inner.n;
	*to++ = EVENT_ANNOTATION << 3 | 2;
	to = perfetto_put(to, n);
	*to++ = ANNOTATION_NAME_IID << 3;
	to = perfetto_put(to, name);
	for (size_t k = 0; k < n_value; k++)
		*to++ = value[k];
	if (n_bytes)
		memcpy(to, bytes, n_bytes);
	p->inner.n = (size_t)(to + n_bytes - p->inner.bytes);
}

static void perfetto_string(struct perfetto *p, const struct ktr_event *event, unsigned i, const char *bytes,
			    size_t n)
{
	char text[4 * 1024 + 4];
	uint8_t head[16], *to = head;

	n = n < 1024 ? n : 1024;
	if (ktr__utf8_plain(bytes, n) != n) {
		n = ktr__label_clean(text, sizeof(text), bytes, n);
		bytes = text;
	}
	*to++ = ANNOTATION_STRING << 3 | 2;
	to = perfetto_put(to, n);
	perfetto_annotation(p, event, i, head, (size_t)(to - head), bytes, n);
}

static void perfetto_arg(struct perfetto *p, const struct ktr_event *event, unsigned i)
{
	const struct ktr_event_bytes *str = &event->str[i];
	char stack[KTR__STACK_TEXT];
	uint8_t value[16], *to = value;
	uint64_t word = event->arg[i];
	size_t n;

	switch (event->site->arg[i].type) {
	case KTR_ARG_STR:
		perfetto_string(p, event, i, str->is_null ? "(null)" : str->bytes, str->is_null ? 6 : str->n_bytes);
		return;
	case KTR_ARG_STACK:
		n = ktr__stack_text(event, i, p->symbols, " < ", stack);
		perfetto_string(p, event, i, stack, n);
		return;
	case KTR_ARG_F64:
		*to++ = ANNOTATION_DOUBLE << 3 | 1;
		memcpy(to, &word, sizeof(word));
		to += sizeof(word);
		break;
	case KTR_ARG_PTR:
		*to++ = ANNOTATION_POINTER << 3;
		to = perfetto_put(to, word);
		break;
	case KTR_ARG_U8:
	case KTR_ARG_U16:
	case KTR_ARG_U32:
	case KTR_ARG_U64:
		*to++ = ANNOTATION_UINT << 3;
		to = perfetto_put(to, word);
		break;
	default:
		*to++ = ANNOTATION_INT << 3;
		to = perfetto_put(to, word);
	}
	perfetto_annotation(p, event, i, value, (size_t)(to - value), NULL, 0);
}

/* ---- events ---- */

static void perfetto_event(struct perfetto *p, uint64_t ns, unsigned type, uint64_t track)
{
	uint8_t *to;

	perfetto_open(p, ns);
	if (ktr__column_room(&p->inner, 24) != 0)
		return;
	to = p->inner.bytes;
	*to++ = EVENT_TYPE << 3;
	*to++ = (uint8_t)type;
	*to++ = EVENT_TRACK << 3;
	p->inner.n = (size_t)(perfetto_put(to, track) - p->inner.bytes);
}

/* Name, class, place and arguments. */
static void perfetto_what(struct perfetto *p, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct ktr_event_bytes name;
	uint8_t *to;

	if (ktr__column_room(&p->inner, 40) != 0)
		return;
	to = p->inner.bytes + p->inner.n;
	*to++ = EVENT_CATEGORY << 3;
	to = perfetto_put(to, site->id + 1);
	to = perfetto_put(to, EVENT_LOCATION << 3);
	to = perfetto_put(to, site->id + 1);
	if (site->kind != KTR_KIND_STATE && site->kind != KTR_KIND_POINT) {
		*to++ = EVENT_NAME_IID << 3;
		to = perfetto_put(to, site->id + 1);
	}
	p->inner.n = (size_t)(to - p->inner.bytes);
	if (site->kind == KTR_KIND_STATE || site->kind == KTR_KIND_POINT) {
		name = ktr__export_name(event);
		perfetto_clean(&p->inner, EVENT_NAME, name.n_bytes ? name.bytes : "(none)",
			       name.n_bytes ? name.n_bytes : 6);
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
	.end = perfetto_flush,
	.free = perfetto_free,
	.slices = &perfetto_slices,
};
