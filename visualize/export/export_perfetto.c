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
#include "conf/kit/copy.h"
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

#define PERFETTO_NUMBER 10u /* [bytes] the longest */
#define PERFETTO_NAME	24u /* [bytes] room for what is before a value, with what is copied besides */

/* What all marks and slices of a site have in common, and what is before the value of each argument. */
struct perfetto_site {
	uint8_t is_known;
	uint8_t n_what, n_name[KTR_ARGS_MAX]; /* [bytes] */
	uint8_t what[16];
	uint8_t name[KTR_ARGS_MAX][PERFETTO_NAME];
};

struct perfetto {
	struct ktr__column inner, part; /* the message of a packet, where it is to be written, and one in it */
	uint8_t *head;	   /* of the packet that is open, after what is to be its length */
	unsigned n_head;   /* without the message's length */
	uint64_t high_ns;  /* what is above the lowest 28 bits of a time, as in `after` */
	uint8_t after[16]; /* all of an event's head that is after those bits */
	unsigned n_after;  /* 0: none yet */
	uint64_t n_packets;
	struct ktr__symbols *symbols;
	struct perfetto_site *site;
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

/* Bytes that a program chose: clean, and not longer than anybody reads. */
static void perfetto_clean(struct ktr__column *to, unsigned field, const char *bytes, size_t n)
{
	char text[4 * 1024 + 4];

	ktr__column_field_bytes(to, field, text,
				ktr__label_clean(text, sizeof(text), bytes, n < 1024 ? n : 1024));
}

static void perfetto_text(struct ktr__column *to, unsigned field, const char *text)
{
	perfetto_clean(to, field, text ? text : "", text ? strlen(text) : 0);
}

/* ---- packets ---- */

#define PERFETTO_HEAD 64u /* [bytes] room for a head: what is before the message in a packet */

/* Writes a head, without the length of the message that ends it. ns: 0, if it has no time. Its end. */
static uint8_t *perfetto_head(const struct perfetto *p, unsigned field, uint64_t ns, uint8_t *to)
{
	if (ns != 0) {
		*to++ = PACKET_TIMESTAMP << 3;
		to = perfetto_put(to, ns);
	}
	*to++ = PACKET_SEQUENCE << 3;
	*to++ = 1;
	/* The first packet begins the interned names, all others need them. */
	*to++ = PACKET_FLAGS << 3;
	*to++ = p->n_packets == 0 ? 1 : 2;
	if (p->n_packets == 0) {
		to = perfetto_put(to, PACKET_FIRST << 3);
		*to++ = 1;
	}
	return perfetto_put(to, field << 3 | 2);
}

/* The same of an event that is not the first packet: but for the lowest 28 bits of its time it hardly changes. */
static inline uint8_t *perfetto_event_head(struct perfetto *p, uint64_t ns, uint8_t *to)
{
	uint64_t low = ns & 0xfffffff;
	uint32_t spread;
	uint8_t head[PERFETTO_HEAD];

	if (!p->n_after || ns >> 28 != p->high_ns) {
		p->high_ns = ns >> 28;
		p->n_after = (unsigned)(perfetto_head(p, PACKET_TRACK_EVENT, ns, head) - head) - 5;
		memcpy(p->after, head + 5, sizeof(p->after));
	}
	spread = (uint32_t)((low & 0x7f) | (low << 1 & 0x7f00) | (low << 2 & 0x7f0000) | (low << 3 & 0x7f000000));
	spread |= 0x80808080;
	*to = PACKET_TIMESTAMP << 3;
	memcpy(to + 1, &spread, sizeof(spread));
	memcpy(to + 5, p->after, sizeof(p->after));
	return to + 5 + p->n_after;
}

/* Begins a packet at the end of `out`, where all of it has room: lengths of a byte each, the head, the message. */
static inline int perfetto_open(struct ktr__export *e, struct perfetto *p, unsigned field, uint64_t ns)
{
	uint8_t *end;
	int rc = ktr__export_line(e);

	if (rc != 0)
		return rc;
	p->head = (uint8_t *)e->out->buffer + e->out->n + 2;
	if (field == PACKET_TRACK_EVENT && p->n_packets != 0 && ns >> 28 != 0)
		end = perfetto_event_head(p, ns, p->head);
	else
		end = perfetto_head(p, field, ns, p->head);
	p->n_head = (unsigned)(end - p->head);
	p->inner = (struct ktr__column){ .bytes = end + 1,
					 .room = KTR__OUT_LINE - PERFETTO_HEAD - 2 * PERFETTO_NUMBER,
					 .is_fixed = 1 };
	return 0;
}

/* The lengths take more than a byte each: makes room for them. The end of the packet. */
static uint8_t *perfetto_long(struct perfetto *p)
{
	uint8_t lengths[2][PERFETTO_NUMBER], *message;
	size_t n_length, n_packet;

	n_length = (size_t)(perfetto_put(lengths[1], p->inner.n) - lengths[1]);
	n_packet = (size_t)(perfetto_put(lengths[0], p->n_head + n_length + p->inner.n) - lengths[0]);
	message = p->head - 1 + n_packet + p->n_head + n_length;
	memmove(message, p->inner.bytes, p->inner.n);
	memmove(p->head - 1 + n_packet, p->head, p->n_head);
	memcpy(p->head - 1, lengths[0], n_packet);
	memcpy(message - n_length, lengths[1], n_length);
	return message + p->inner.n;
}

/* Ends the packet. 0 or -errno, and there is none. */
static inline int perfetto_close(struct ktr__export *e, struct perfetto *p)
{
	size_t n = p->n_head + 1 + p->inner.n;
	uint8_t *end;

	if (p->inner.error || p->part.error)
		return -ENOMEM;
	p->n_packets++;
	p->head[-2] = 1 << 3 | 2; /* Trace.packet */
	if (n < 128) {
		p->head[-1] = (uint8_t)n;
		p->inner.bytes[-1] = (uint8_t)p->inner.n;
		end = p->head + n;
	} else {
		end = perfetto_long(p);
	}
	e->out->n = (size_t)(end - (uint8_t *)e->out->buffer);
	return 0;
}

static int perfetto_begin(struct ktr__export *e)
{
	struct perfetto *p = e->data;

	p->symbols = e->symbols;
	return 0;
}

static void perfetto_free(struct ktr__export *e)
{
	struct perfetto *p = e->data;

	free(p->part.bytes);
	free(p->site);
	free(p->cpu_known);
	free(p->pid);
}

/* ---- tracks ---- */

static int perfetto_process(struct ktr__export *e, struct perfetto *p,
			    const struct ktr__slice_track *track)
{
	int rc;

	for (uint32_t i = 0; i < p->n_pids; i++)
		if (p->pid[i] == track->pid)
			return 0;
	if (ktr__array_grow(&p->pid, &p->pid_room, p->n_pids, sizeof(*p->pid)) != 0)
		return -ENOMEM;
	p->pid[p->n_pids++] = track->pid;
	rc = perfetto_open(e, p, PACKET_TRACK, 0);
	if (rc != 0)
		return rc;
	ktr__column_field(&p->inner, 1, PERFETTO_PROCESS + track->pid);
	ktr__column_field(&p->part, 1, track->pid);
	perfetto_text(&p->part, 6, track->process);
	ktr__column_message(&p->inner, 3, &p->part);
	return perfetto_close(e, p);
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
	rc = perfetto_open(e, p, PACKET_TRACK, 0);
	if (rc != 0)
		return rc;
	ktr__column_field(&p->inner, 1, track->id);
	perfetto_text(&p->inner, 2, name);
	if (track->tid != 0) {
		ktr__column_field(&p->part, 1, track->pid);
		ktr__column_field(&p->part, 2, track->tid);
		perfetto_text(&p->part, 5, track->name);
		ktr__column_message(&p->inner, 4, &p->part);
	} else {
		ktr__column_field(&p->inner, 5, PERFETTO_PROCESS + track->pid);
	}
	if (track->is_counter)
		ktr__column_field_bytes(&p->inner, 8, "", 0);
	return perfetto_close(e, p);
}

/* ---- call sites ---- */

static int perfetto_has_own_name(const struct ktr_reader_site *site)
{
	return site->kind == KTR_KIND_STATE || site->kind == KTR_KIND_POINT;
}

/* What stands before a value of the type. */
static uint8_t perfetto_value(enum ktr_arg_type type)
{
	switch (type) {
	case KTR_ARG_STR:
	case KTR_ARG_STACK:
		return ANNOTATION_STRING << 3 | 2;
	case KTR_ARG_F64:
		return ANNOTATION_DOUBLE << 3 | 1;
	case KTR_ARG_PTR:
		return ANNOTATION_POINTER << 3;
	case KTR_ARG_U8:
	case KTR_ARG_U16:
	case KTR_ARG_U32:
	case KTR_ARG_U64:
		return ANNOTATION_UINT << 3;
	default:
		return ANNOTATION_INT << 3;
	}
}

/* Writes what its events have in common. */
static void perfetto_prepare(struct perfetto_site *s, const struct ktr_reader_site *site)
{
	uint8_t *to = s->what;

	*to++ = EVENT_CATEGORY << 3;
	to = perfetto_put(to, site->id + 1);
	to = perfetto_put(to, EVENT_LOCATION << 3);
	to = perfetto_put(to, site->id + 1);
	if (!perfetto_has_own_name(site)) {
		*to++ = EVENT_NAME_IID << 3;
		to = perfetto_put(to, site->id + 1);
	}
	s->n_what = (uint8_t)(to - s->what);
	for (unsigned i = 0; i < site->n_args; i++) {
		to = s->name[i];
		*to++ = EVENT_ANNOTATION << 3 | 2;
		*to++ = 0; /* its length */
		*to++ = ANNOTATION_NAME_IID << 3;
		to = perfetto_put(to, (uint64_t)site->id * KTR_ARGS_MAX + i + 1);
		*to++ = perfetto_value(site->arg[i].type);
		s->n_name[i] = (uint8_t)(to - s->name[i]);
	}
	s->is_known = 1;
}

/* Interns what belongs to a site: its class, format and place, the names of its arguments. */
static int perfetto_new_site(struct ktr__export *e, struct perfetto *p, const struct ktr_reader_site *site)
{
	int rc;

	if (ktr__array_grow(&p->site, &p->n_sites, site->id, sizeof(*p->site)) != 0)
		return -ENOMEM;
	rc = perfetto_open(e, p, PACKET_INTERNED, 0);
	if (rc != 0)
		return rc;
	perfetto_prepare(&p->site[site->id], site);
	ktr__column_field(&p->part, 1, site->id + 1);
	perfetto_text(&p->part, 2, site->class_name);
	ktr__column_message(&p->inner, 1, &p->part);
	ktr__column_field(&p->part, 1, site->id + 1);
	perfetto_text(&p->part, 2,
		      site->ident   ? site->ident
		      : site->group ? site->group
				    : site->format);
	ktr__column_message(&p->inner, 2, &p->part);
	for (unsigned i = 0; i < site->n_args; i++) {
		ktr__column_field(&p->part, 1, (uint64_t)site->id * KTR_ARGS_MAX + i + 1);
		perfetto_text(&p->part, 2, site->arg[i].name);
		ktr__column_message(&p->inner, 3, &p->part);
	}
	ktr__column_field(&p->part, 1, site->id + 1);
	perfetto_text(&p->part, 2, site->file);
	perfetto_text(&p->part, 3, site->func);
	ktr__column_field(&p->part, 4, site->line);
	ktr__column_message(&p->inner, 4, &p->part);
	return perfetto_close(e, p);
}

/* 0 or -errno. */
static inline int perfetto_site(struct ktr__export *e, struct perfetto *p, const struct ktr_reader_site *site)
{
	return site->id < p->n_sites && p->site[site->id].is_known ? 0 : perfetto_new_site(e, p, site);
}

static void perfetto_string(struct perfetto *p, const struct perfetto_site *s, unsigned i, const char *bytes,
			    size_t n)
{
	unsigned n_name = s->n_name[i] - 2u; /* without the annotation's own head */
	char text[4 * 1024 + 4];
	uint8_t *to;

	n = n < 1024 ? n : 1024;
	if (!ktr__utf8_is_plain(bytes, n)) {
		n = ktr__label_clean(text, sizeof(text), bytes, n);
		bytes = text;
	}
	if (ktr__column_room(&p->inner, 2 * PERFETTO_NUMBER + PERFETTO_NAME + n) != 0)
		return;
	to = p->inner.bytes + p->inner.n;
	*to++ = EVENT_ANNOTATION << 3 | 2;
	to = perfetto_put(to, n_name + (n < 128 ? 1 : 2) + n);
	memcpy(to, s->name[i] + 2, PERFETTO_NAME - 8);
	to = perfetto_put(to + n_name, n);
	ktr__copy((char *)to, bytes, n);
	p->inner.n = (size_t)(to + n - p->inner.bytes);
}

/* A number: all of it takes less than 128 bytes. */
static inline void perfetto_word_arg(struct perfetto *p, const struct perfetto_site *s,
				     const struct ktr_event *event, unsigned i, int is_double)
{
	uint64_t word = event->arg[i];
	uint8_t *from, *to;

	if (ktr__column_room(&p->inner, PERFETTO_NUMBER + PERFETTO_NAME) != 0)
		return;
	from = p->inner.bytes + p->inner.n;
	memcpy(from, s->name[i], PERFETTO_NAME - 8);
	to = from + s->n_name[i];
	if (is_double) {
		memcpy(to, &word, sizeof(word));
		to += sizeof(word);
	} else {
		to = perfetto_put(to, word);
	}
	from[1] = (uint8_t)(to - from - 2);
	p->inner.n = (size_t)(to - p->inner.bytes);
}

static void perfetto_stack(struct perfetto *p, const struct perfetto_site *s, const struct ktr_event *event,
			   unsigned i)
{
	char stack[KTR__STACK_TEXT];

	perfetto_string(p, s, i, stack, ktr__stack_text(event, i, p->symbols, " < ", stack));
}

static inline void perfetto_arg(struct perfetto *p, const struct perfetto_site *s, const struct ktr_event *event,
				unsigned i)
{
	const struct ktr_event_bytes *str = &event->str[i];
	enum ktr_arg_type type = event->site->arg[i].type;

	if (type == KTR_ARG_STR)
		perfetto_string(p, s, i, str->is_null ? "(null)" : str->bytes, str->is_null ? 6 : str->n_bytes);
	else if (type == KTR_ARG_STACK)
		perfetto_stack(p, s, event, i);
	else
		perfetto_word_arg(p, s, event, i, type == KTR_ARG_F64);
}

/* ---- events ---- */

/* Begins an event of a track. 0 or -errno. */
static inline int perfetto_event(struct ktr__export *e, struct perfetto *p, uint64_t ns, unsigned type,
				 uint64_t track)
{
	int rc = perfetto_open(e, p, PACKET_TRACK_EVENT, ns);
	uint8_t *to = p->inner.bytes;

	if (rc != 0)
		return rc;
	*to++ = EVENT_TYPE << 3;
	*to++ = (uint8_t)type;
	*to++ = EVENT_TRACK << 3;
	p->inner.n = (size_t)(perfetto_put(to, track) - p->inner.bytes);
	return 0;
}

/* Name, class, place and arguments. The site is known. */
static void perfetto_what(struct perfetto *p, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	const struct perfetto_site *s = &p->site[site->id];
	struct ktr_event_bytes name;

	if (ktr__column_room(&p->inner, sizeof(s->what)) != 0)
		return;
	memcpy(p->inner.bytes + p->inner.n, s->what, sizeof(s->what));
	p->inner.n += s->n_what;
	if (perfetto_has_own_name(site)) {
		name = ktr__export_name(event);
		perfetto_clean(&p->inner, EVENT_NAME, name.n_bytes ? name.bytes : "(none)",
			       name.n_bytes ? name.n_bytes : 6);
	}
	for (unsigned i = 0; i < site->n_args; i++)
		perfetto_arg(p, s, event, i);
}

static int perfetto_slice(void *context, const struct ktr__slice_track *track, uint64_t ns,
			  const struct ktr_event *event, uint64_t flow, void **kept)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_site(e, p, event->site);

	*kept = NULL;
	if (rc == 0)
		rc = perfetto_event(e, p, ns, TYPE_BEGIN, track->id);
	if (rc != 0)
		return rc;
	perfetto_what(p, event);
	if (flow != 0)
		ktr__column_field_word(&p->inner, EVENT_FLOW, flow);
	return perfetto_close(e, p);
}

static int perfetto_end_slice(void *context, const struct ktr__slice_track *track, uint64_t from_ns,
			      uint64_t ns, enum ktr__slice_end how, void *kept)
{
	static const char *const ends[] = { "", "missing", "not reached", "left" };
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_event(e, p, ns, TYPE_END, track->id);

	(void)from_ns;
	(void)kept;
	if (rc != 0)
		return rc;
	if (how != KTR__SLICE_ENDED) {
		perfetto_text(&p->part, ANNOTATION_NAME, "end");
		perfetto_text(&p->part, ANNOTATION_STRING, ends[how]);
		ktr__column_message(&p->inner, EVENT_ANNOTATION, &p->part);
	}
	return perfetto_close(e, p);
}

static int perfetto_mark(void *context, const struct ktr__slice_track *track, uint64_t ns,
			 const struct ktr_event *event)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_site(e, p, event->site);

	if (rc == 0)
		rc = perfetto_event(e, p, ns, TYPE_INSTANT, track->id);
	if (rc != 0)
		return rc;
	perfetto_what(p, event);
	return perfetto_close(e, p);
}

static int perfetto_count(void *context, const struct ktr__slice_track *track, uint64_t ns,
			  const struct ktr_event *event)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;

	unsigned arg = (unsigned)event->site->value_arg;
	enum ktr_arg_type type = event->site->arg[arg].type;
	double real = ktr__event_number(event, arg);
	int rc = perfetto_event(e, p, ns, TYPE_COUNTER, track->id);
	uint64_t word;

	if (rc != 0)
		return rc;
	memcpy(&word, &real, sizeof(word));
	/* The integer is signed. */
	if (type == KTR_ARG_F64 || (type == KTR_ARG_U64 && event->arg[arg] > INT64_MAX))
		ktr__column_field_word(&p->inner, EVENT_COUNTER_DOUBLE, word);
	else
		ktr__column_field(&p->inner, EVENT_COUNTER, event->arg[arg]);
	return perfetto_close(e, p);
}

/* The arrow ends at a mark on the thread where the span did. */
static int perfetto_flow(void *context, uint64_t flow, const struct ktr__slice_track *from,
			 uint64_t from_ns, const struct ktr__slice_track *to, uint64_t ns)
{
	struct ktr__export *e = context;
	struct perfetto *p = e->data;
	int rc = perfetto_event(e, p, ns, TYPE_INSTANT, to->id);

	(void)from;
	(void)from_ns;
	if (rc != 0)
		return rc;
	perfetto_text(&p->inner, EVENT_NAME, "span ends");
	ktr__column_field_word(&p->inner, EVENT_FLOW_END, flow);
	return perfetto_close(e, p);
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
	int rc = 0;

	if (ktr__array_grow(&p->cpu_known, &p->n_cpus, number, 1) != 0)
		return -ENOMEM;
	if (!p->cpu_known[number]) {
		p->cpu_known[number] = 1;
		snprintf(name, sizeof(name), "lost events, CPU %" PRIu32 "%s", cpu,
			 loss->keep ? ", keep ring" : "");
		rc = perfetto_open(e, p, PACKET_TRACK, 0);
		if (rc != 0)
			return rc;
		ktr__column_field(&p->inner, 1, track);
		perfetto_text(&p->inner, 2, name);
		rc = perfetto_close(e, p);
	}
	if (rc == 0)
		rc = perfetto_event(e, p, from, TYPE_BEGIN, track);
	if (rc != 0)
		return rc;
	snprintf(name, sizeof(name), "%" PRIu64 " events lost", loss->n_events);
	perfetto_text(&p->inner, EVENT_NAME, name);
	rc = perfetto_close(e, p);
	if (rc == 0)
		rc = perfetto_event(e, p, to > from ? to : from, TYPE_END, track);
	return rc != 0 ? rc : perfetto_close(e, p);
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
	.sharing = KTR__EXPORT_IN_ORDER,
};
