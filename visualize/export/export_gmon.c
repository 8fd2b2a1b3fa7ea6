/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gmon.out for gprof(1): which function called which how often, and where the time went. A file for the program,
 * and one beside it, FILE.NAME, for each other object that something is known of, since gprof reads one ELF file.
 *
 * Calls are those of functions that ktr run --fbt recorded, each counted, or that were counted where they were
 * made; in objects that have none, pairs of caller and callee in the stacks of samples, a sample each, which is
 * said. Time is that of samples, else that calls had for themselves. A call's caller is the innermost recorded
 * function around it, for an event does not have the place that it was called from; gprof leaves out calls from
 * elsewhere, so another object's, or nobody's, are of the function that the object begins with.
 *
 * Everything is counted in one table, by object and addresses, which is sorted in the end.
 */
#include "analyze/read/reader.h"
#include "analyze/stats/calls.h"
#include "analyze/stats/samples.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "visualize/export/exports.h"
#include "visualize/export/gmon_files.h"
#include "visualize/export/gmon_object.h"
#include "visualize/export/gmon_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GMON_CALLS_HZ	  10000u /* ticks that the time of calls is written in */
#define GMON_COUNTS_FIRST 1024u

enum gmon_what { GMON_NONE, GMON_SAMPLED, GMON_SAMPLED_ARC, GMON_OWN, GMON_ARC };

struct gmon_count {
	uint32_t what; /* enum gmon_what; GMON_NONE: free */
	uint32_t object;
	uint64_t from, to; /* addresses of the object */
	uint64_t n; /* ns, or how often */
	uint64_t last; /* sample that it was counted for: who calls itself counts once */
};

struct gmon_site {
	uint8_t known; /* 1: no function; 2: one whose address is not known; 3 */
	uint32_t object;
	uint64_t at;
};

struct gmon {
	struct ktr__gmon_objects objects;
	struct ktr__calls *calls; /* owned, as what follows */
	struct gmon_count *count;
	uint32_t n_counts, room; /* a power of two */
	struct gmon_site *site; /* by id */
	uint32_t n_sites;
	uint64_t last_ns, least_ns; /* least: the shortest tick of a sample */
	uint64_t n_calls, n_samples, n_lost;
	uint64_t n_counted, n_uncounted; /* calls, where they were made */
	uint64_t n_sampled_arcs; /* that are left in the end */
	uint64_t n_unknown; /* calls of functions whose address is not known */
	uint64_t nowhere_ns; /* samples that are in no object */
	struct ktr__gmon_files files; /* beside the one */
	uint32_t first; /* the object that this is of */
	int is_other; /* 1: not the only executable */
};

/* ---- counting ---- */

static uint64_t gmon_hash(const struct gmon_count *c)
{
	uint64_t hash = ktr__hash_word(0, (uint64_t)c->what << 32 | c->object);

	return ktr__hash_word(ktr__hash_word(hash, c->from), c->to);
}

static struct gmon_count *gmon_place(struct gmon_count *table, uint32_t room, const struct gmon_count *key)
{
	uint32_t at = (uint32_t)gmon_hash(key) & (room - 1);

	while (table[at].what != GMON_NONE &&
	       (table[at].what != key->what || table[at].object != key->object || table[at].from != key->from ||
		table[at].to != key->to))
		at = (at + 1) & (room - 1);
	return &table[at];
}

static int gmon_grow(struct gmon *g)
{
	uint32_t room = g->room ? 2 * g->room : GMON_COUNTS_FIRST;
	struct gmon_count *grown = room < g->room ? NULL : calloc(room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->room; i++)
		if (g->count[i].what != GMON_NONE)
			*gmon_place(grown, room, &g->count[i]) = g->count[i];
	free(g->count);
	g->count = grown;
	g->room = room;
	return 0;
}

static struct gmon_count *gmon_count(struct gmon *g, enum gmon_what what, uint32_t object, uint64_t from,
				     uint64_t to)
{
	const struct gmon_count key = { .what = what, .object = object, .from = from, .to = to };
	struct gmon_count *count;

	if (2 * g->n_counts >= g->room && gmon_grow(g))
		return NULL;
	count = gmon_place(g->count, g->room, &key);
	g->n_counts += count->what == GMON_NONE;
	if (count->what == GMON_NONE)
		*count = key;
	return count;
}

static int gmon_add(struct gmon *g, enum gmon_what what, uint32_t object, uint64_t from, uint64_t to, uint64_t n)
{
	struct gmon_count *count = gmon_count(g, what, object, from, to);

	if (!count)
		return -ENOMEM;
	count->n += n;
	return 0;
}

/* ---- calls ---- */

static int gmon_is_function(const struct ktr_reader_site *site)
{
	return site->group && site->ident && strcmp(site->class_name, "fbt") == 0 &&
	       strcmp(site->group, "scope") == 0;
}

/* NULL: there is no memory. */
static struct gmon_site *gmon_site(struct gmon *g, const struct ktr_reader_site *of)
{
	struct gmon_site *site;

	if (ktr__array_grow(&g->site, &g->n_sites, of->id, sizeof(*g->site)))
		return NULL;
	site = &g->site[of->id];
	if (!site->known)
		site->known = gmon_is_function(of) ? 2 : 1;
	return site;
}

/* Likewise; where the address has not been looked for yet, it is. */
static struct gmon_site *gmon_function(struct gmon *g, const struct ktr_reader_thread *thread,
				       const struct ktr_reader_site *of)
{
	struct gmon_site *site = gmon_site(g, of);

	if (!site || site->known != 2 || site->object == KTR__GMON_NO_OBJECT)
		return site;
	site->object = ktr__gmon_named(&g->objects, ktr__tables_proc(thread), of->file, of->ident, &site->at);
	if (site->object == KTR__GMON_NO_MEMORY)
		return NULL;
	if (site->object != KTR__GMON_NO_OBJECT)
		site->known = 3;
	return site;
}

static int gmon_call(void *context, const struct ktr__call *call)
{
	struct gmon *g = context;
	struct gmon_site *callee = gmon_function(g, call->span->thread, call->span->site);
	struct gmon_site to = callee ? *callee : (struct gmon_site){ 0 };
	const struct gmon_site *caller = NULL;
	uint64_t from;

	if (callee && call->outer_site)
		caller = gmon_function(g, call->span->thread, call->outer_site);
	if (!callee || (call->outer_site && !caller))
		return -ENOMEM;
	g->n_calls++;
	g->n_unknown += to.known != 3;
	if (to.known != 3)
		return 0;
	if (g->objects.object[to.object].is_counted)
		return 0;
	from = g->objects.object[to.object].outside;
	if (caller && caller->known == 3 && caller->object == to.object)
		from = caller->at;
	return gmon_add(g, GMON_ARC, to.object, from, to.at, 1);
}

static int gmon_returned(void *context, const struct ktr__call *call)
{
	struct gmon *g = context;
	const struct gmon_site *function = gmon_function(g, call->span->thread, call->span->site);

	if (!function)
		return -ENOMEM;
	if (function->known != 3 || call->span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END))
		return 0;
	return gmon_add(g, GMON_OWN, function->object, 0, function->at, ktr__call_self_ns(call));
}

/* The object of an address; of a callee that was unloaded, its own alone. */
static uint32_t gmon_place_of(struct gmon *g, const struct ktr__called *arc, uint64_t address, uint64_t *own)
{
	return arc->module ? ktr__gmon_in(&g->objects, arc->proc, arc->module, address, own) :
			     ktr__gmon_at(&g->objects, arc->proc, address, own);
}

/* From behind the call; the function's two bytes that are patched may come after endbr64. */
int ktr__gmon_counted(struct ktr__export *e, const struct ktr__called *arc)
{
	struct gmon *g = e->data;
	uint64_t at, outer_at;
	uint32_t object = gmon_place_of(g, arc, arc->to, &at), outer;

	outer = object == KTR__GMON_NO_MEMORY ? object : gmon_place_of(g, arc, arc->from - 1, &outer_at);
	if (outer == KTR__GMON_NO_MEMORY)
		return -ENOMEM;
	g->n_counted += arc->n;
	if (object == KTR__GMON_NO_OBJECT) {
		g->n_unknown += arc->n;
		return 0;
	}
	g->objects.object[object].is_counted = 1;
	return gmon_add(g, GMON_ARC, object, outer == object ? outer_at : g->objects.object[object].outside,
			ktr__gmon_begin(&g->objects.object[object], at), arc->n);
}

void ktr__gmon_uncounted(struct ktr__export *e, uint64_t n)
{
	((struct gmon *)e->data)->n_uncounted += n;
}

/* ---- samples ---- */

static uint64_t gmon_frame(const struct ktr__sample *sample, uint32_t i)
{
	uint64_t pc;

	memcpy(&pc, sample->stack->bytes + i * (size_t)8, sizeof(pc));
	return pc - 1; /* it is behind the call, and of the innermost one byte further */
}

/* Who called whom, of a stack's frames from the inside. */
static int gmon_stack(struct gmon *g, uint32_t proc, const struct ktr__sample *sample)
{
	uint32_t n_frames = sample->stack->n_bytes / 8, object, outer;
	uint64_t at, outer_at;

	object = ktr__gmon_at(&g->objects, proc, gmon_frame(sample, 0), &at);
	for (uint32_t i = 1; i < n_frames && object != KTR__GMON_NO_MEMORY; i++, object = outer, at = outer_at) {
		struct gmon_count *count;

		outer = ktr__gmon_at(&g->objects, proc, gmon_frame(sample, i), &outer_at);
		if (object == KTR__GMON_NO_OBJECT)
			continue;
		at = ktr__gmon_begin(&g->objects.object[object], at);
		count = gmon_count(g, GMON_SAMPLED_ARC, object,
				   outer == object ? outer_at : g->objects.object[object].outside, at);
		if (!count)
			return -ENOMEM;
		count->n += count->last != g->n_samples;
		count->last = g->n_samples;
	}
	return object == KTR__GMON_NO_MEMORY ? -ENOMEM : 0;
}

static int gmon_sample(struct gmon *g, const struct ktr_event *event, const struct ktr__sample *sample)
{
	uint32_t proc = ktr__tables_proc(event->thread), object = KTR__GMON_NO_OBJECT;
	int is_placed = sample->how == KTR__SAMPLE_USER || sample->how == KTR__SAMPLE_KERNEL;
	uint64_t tick_ns = sample->n_ticks ? sample->ns / sample->n_ticks : 0, at = 0;
	int rc = 0;

	if (sample->how == KTR__SAMPLE_WAITING)
		return 0;
	g->n_samples++;
	if (tick_ns && (!g->least_ns || tick_ns < g->least_ns))
		g->least_ns = tick_ns;
	if (is_placed && sample->stack->n_bytes >= 8)
		object = ktr__gmon_at(&g->objects, proc, gmon_frame(sample, 0), &at);
	if (object == KTR__GMON_NO_MEMORY)
		return -ENOMEM;
	if (object == KTR__GMON_NO_OBJECT)
		g->nowhere_ns += sample->ns;
	else
		rc = gmon_add(g, GMON_SAMPLED, object, 0, at, sample->ns);
	return rc || !is_placed || sample->stack->n_bytes < 8 ? rc : gmon_stack(g, proc, sample);
}

/* ---- the sink ---- */

static int gmon_event(struct ktr__export *e, const struct ktr_event *event)
{
	struct gmon *g = e->data;
	const struct gmon_site *site = gmon_site(g, event->site);
	struct ktr__sample sample;

	if (!site)
		return -ENOMEM;
	g->last_ns = event->time_ns;
	if (site->known > 1)
		return ktr__calls_event(g->calls, event);
	return ktr__sample_of(event, &sample) ? gmon_sample(g, event, &sample) : 0;
}

static int gmon_loss(struct ktr__export *e, const struct ktr_loss *loss)
{
	struct gmon *g = e->data;

	g->n_lost += loss->n_events;
	ktr__calls_loss(g->calls, loss);
	return 0;
}

static int gmon_begin(struct ktr__export *e)
{
	static const struct ktr__calls_hooks hooks = { gmon_call, gmon_returned };
	struct gmon *g = e->data;

	if (!e->symbols)
		return -ENOMEM;
	ktr__gmon_objects_init(&g->objects, ktr__reader_tables(e->reader), e->symbols);
	return ktr__calls_new(&g->calls, &hooks, g, e->info->first_ns);
}

static void gmon_free(struct ktr__export *e)
{
	struct gmon *g = e->data;

	ktr__gmon_objects_free(&g->objects);
	ktr__calls_free(g->calls);
	free(g->count);
	free(g->site);
}

/* ---- files ---- */

static int gmon_order(const void *a, const void *b)
{
	const struct gmon_count *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Are there calls of an object's that are more than samples? */
static int gmon_is_counted(const struct gmon *g, uint32_t object)
{
	return g->n_calls || g->objects.object[object].is_counted;
}

/* The table becomes a list, sorted, without what another kind tells better. */
static void gmon_sort(struct gmon *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->room; i++) {
		const struct gmon_count *at = &g->count[i];

		if (at->what != GMON_NONE && !(at->what == GMON_SAMPLED_ARC && gmon_is_counted(g, at->object)) &&
		    !(at->what == GMON_OWN && g->n_samples)) {
			g->n_sampled_arcs += at->what == GMON_SAMPLED_ARC;
			g->count[n++] = *at;
		}
	}
	g->n_counts = n;
	if (n)
		qsort(g->count, n, sizeof(*g->count), gmon_order);
}

/* What a list of counts, all of one object, comes to in a file. The rate that it has been written with, or 0. */
static uint32_t gmon_write(const struct gmon *g, const struct ktr__gmon_object *object,
			   const struct gmon_count *count, uint32_t n, enum ktr__gmon_form form, FILE *to)
{
	struct ktr__gmon gmon = { .rate_hz = GMON_CALLS_HZ };
	struct ktr__gmon_time *time = calloc(n + 1u, sizeof(*time));
	struct ktr__gmon_arc *arc = calloc(n + 1u, sizeof(*arc));
	uint32_t rate_hz = 0;

	if (g->least_ns)
		gmon.rate_hz = (uint32_t)((1000000000 + g->least_ns / 2) / g->least_ns);
	gmon.rate_hz += gmon.rate_hz == 0;
	if (object) {
		gmon.low = object->low;
		gmon.high = object->high;
	}
	for (uint32_t i = 0; time && arc && i < n; i++) {
		if (count[i].what == GMON_SAMPLED || count[i].what == GMON_OWN)
			time[gmon.n_times++] = (struct ktr__gmon_time){ count[i].to, count[i].n };
		else
			arc[gmon.n_arcs++] = (struct ktr__gmon_arc){ count[i].from, count[i].to, count[i].n };
	}
	gmon.time = time;
	gmon.arc = arc;
	if (time && arc)
		rate_hz = ktr__gmon_write(&gmon, form, to);
	free(time);
	free(arc);
	return rate_hz;
}

/* The file that is asked for: what a part of the list comes to. */
static int gmon_main(struct ktr__export *e, uint32_t from, uint32_t to, enum ktr__gmon_form form)
{
	const struct gmon *g = e->data;
	const struct ktr__gmon_object *object = from < to ? &g->objects.object[g->count[from].object] : NULL;

	return gmon_write(g, object, &g->count[from], to - from, form, e->to) ? 0 : -ENOMEM;
}

/* A file beside the program's. Of several objects of one name the later ones have a number. */
static int gmon_beside(struct ktr__export *e, uint32_t i, const struct gmon_count *count, uint32_t n,
		       enum ktr__gmon_form form)
{
	struct gmon *g = e->data;
	const struct ktr__gmon_object *object = &g->objects.object[i];
	const char *name = ktr__gmon_name(object);
	FILE *to;
	char path[4096 + 256], number[16] = "";
	unsigned same = 1;
	int rc;

	for (uint32_t k = 0; k < i; k++)
		same += strcmp(ktr__gmon_name(&g->objects.object[k]), name) == 0;
	if (same > 1)
		snprintf(number, sizeof(number), ".%u", same);
	if (snprintf(path, sizeof(path), "%s.%s%s", e->file.path, name, number) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	to = ktr__gmon_files_add(&g->files, path, &rc, &e->why);
	if (to && !gmon_write(g, object, count, n, form, to))
		rc = -ENOMEM;
	return rc;
}

static void gmon_note(struct ktr__export *e, unsigned n_left_out)
{
	const struct gmon *g = e->data;
	char is_of[80];
	size_t n = 0;
	const struct {
		int holds;
		const char *text;
		uint64_t number;
	} notes[] = {
		{ !g->n_calls && !g->n_counted && !g->n_samples,
		  "the trace has neither calls of functions (ktr run --fbt) nor samples (ktr profile): there is "
		  "nothing in the file",
		  0 },
		{ !g->n_calls && !g->n_counted && g->n_samples,
		  "calls are sampled, not counted: each number of calls is one of samples", 0 },
		{ g->n_counted && g->n_sampled_arcs,
		  "calls in objects that are not built to be probed are sampled, not counted", 0 },
		{ g->n_counted && !g->n_calls && !g->n_samples, "there are no times: there are no samples", 0 },
		{ g->n_uncounted > 0, "calls were not counted, for want of memory", g->n_uncounted },
		{ g->n_calls && !g->n_samples,
		  "times are those of the calls, waiting too: there are no samples", 0 },
		{ g->n_calls && g->n_lost, "calls are missing: events were lost", 0 },
		{ !g->n_calls && g->n_samples && g->n_lost, "events were lost: samples are missing", g->n_lost },
		{ g->is_other, is_of, 0 },
		{ g->objects.n_unread > 0, "objects are too large together to be read", g->objects.n_unread },
		{ g->n_unknown > 0, "calls are of functions that no file tells the address of", g->n_unknown },
		{ g->nowhere_ns > 0, "us are in no file, or not known where", g->nowhere_ns / 1000 },
		{ n_left_out > 0, "further objects have no file",
		  n_left_out },
	};

	if (g->is_other)
		snprintf(is_of, sizeof(is_of), "the file is of %.60s",
		      ktr__gmon_name(&g->objects.object[g->first]));
	for (unsigned i = 0; i < sizeof(notes) / sizeof(notes[0]) && n < sizeof(e->note); i++) {
		if (!notes[i].holds)
			continue;
		if (notes[i].number)
			n += (size_t)snprintf(e->note + n, sizeof(e->note) - n, "%s%" PRIu64 " %s", n ? "; " : "",
					      notes[i].number, notes[i].text);
		else
			n += (size_t)snprintf(e->note + n, sizeof(e->note) - n, "%s%s", n ? "; " : "",
					      notes[i].text);
	}
}

/* Which object the file is of, and whether that has to be said. */
static void gmon_choose(struct gmon *g)
{
	unsigned n_programs = 0, n = 0;

	g->first = KTR__GMON_NO_OBJECT;
	for (uint32_t from = 0, to; from < g->n_counts; from = to, n++) {
		uint32_t i = g->count[from].object;

		for (to = from; to < g->n_counts && g->count[to].object == i; to++)
			;
		g->first = ktr__gmon_rather(&g->objects, i, g->first);
		n_programs += g->objects.object[i].is_program != 0;
	}
	g->is_other = n && (n_programs > 1 || (n_programs == 0 && g->objects.object[g->first].symbols));
}

static int gmon_end_as(struct ktr__export *e, enum ktr__gmon_form form)
{
	struct gmon *g = e->data;
	int rc = ktr__calls_finish(g->calls, g->last_ns);
	uint32_t from, to;
	unsigned n_left_out = 0;

	gmon_sort(g);
	gmon_choose(g);
	for (from = 0; from < g->n_counts && !rc; from = to) {
		uint32_t i = g->count[from].object;

		for (to = from; to < g->n_counts && g->count[to].object == i; to++)
			;
		if (i == g->first)
			rc = gmon_main(e, from, to, form);
		else if (e->file.temporary[0] == '\0' || g->files.n == KTR__GMON_FILES_MAX)
			n_left_out++; /* standard output, a device */
		else
			rc = gmon_beside(e, i, &g->count[from], to - from, form);
	}
	if (!rc && !g->n_counts)
		rc = gmon_main(e, 0, 0, form);
	gmon_note(e, n_left_out);
	e->error = ktr__gmon_files_end(&g->files, &e->file, rc, &e->why);
	return e->error;
}

static int gmon_end(struct ktr__export *e)
{
	return gmon_end_as(e, KTR__GMON_GNU);
}

static int gmon_end_bsd(struct ktr__export *e)
{
	return gmon_end_as(e, KTR__GMON_BSD);
}

const struct ktr__export_format ktr__export_gmon = {
	.name = "gmon",
	.help = "gmon.out: calls counted, and time: gprof",
	.n_data = sizeof(struct gmon),
	.begin = gmon_begin,
	.event = gmon_event,
	.loss = gmon_loss,
	.end = gmon_end,
	.free = gmon_free,
	.file_name = "gmon.out",
};

const struct ktr__export_format ktr__export_gmon_bsd = {
	.name = "gmon-bsd",
	.help = "the same as BSD's kgmon writes it",
	.n_data = sizeof(struct gmon),
	.begin = gmon_begin,
	.event = gmon_event,
	.loss = gmon_loss,
	.end = gmon_end_bsd,
	.free = gmon_free,
	.file_name = "gmon.out",
};
