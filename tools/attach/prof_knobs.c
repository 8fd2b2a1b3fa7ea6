/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BSD's tables are opaque, of 16-bit counters and cells that are shared. Here a number is told of each: ticks,
 * places that call, arcs; to write 0 into any of them is what kgmon -r does with all three.
 */
#include "tools/attach/prof_knobs.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "analyze/session/session_arcs.h"
#include "analyze/stats/calls.h"
#include "analyze/stats/samples.h"
#include "conf/kit/hash.h"
#include "tools/attach/kgmon_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* BSD's states: GMON_PROF_ON, ... */
enum { PROF_ON, PROF_BUSY, PROF_ERROR, PROF_OFF, PROF_HIRES };

/* ---- what has been counted ---- */

struct prof_set {
	uint64_t *key; /* owned; 0: free */
	uint32_t n, room;
};

struct prof_counts {
	struct ktr_sink sink;
	struct ktr__calls *calls; /* owned */
	struct prof_set froms, tos;
	uint64_t n_ticks, last_ns;
};

/* 0 or -ENOMEM; a key is not 0. */
static int prof_set_add(struct prof_set *set, uint64_t key)
{
	uint32_t at;

	if (2 * set->n >= set->room) {
		struct prof_set grown = { calloc(set->room ? 2 * set->room : 256, sizeof(uint64_t)), 0,
					  set->room ? 2 * set->room : 256 };

		if (!grown.key)
			return -ENOMEM;
		for (uint32_t i = 0; i < set->room; i++)
			if (set->key[i])
				prof_set_add(&grown, set->key[i]);
		free(set->key);
		*set = grown;
	}
	at = (uint32_t)ktr__hash_word(0, key) & (set->room - 1);
	while (set->key[at] && set->key[at] != key)
		at = (at + 1) & (set->room - 1);
	set->n += set->key[at] == 0;
	set->key[at] = key;
	return 0;
}

static int prof_call(void *context, const struct ktr__call *call)
{
	struct prof_counts *counts = context;
	uint64_t from = call->outer_site ? call->outer_site->id : 0;

	/* One that is nobody's has no place that it is called from. */
	if (from && prof_set_add(&counts->froms, from))
		return -ENOMEM;
	return prof_set_add(&counts->tos, from << 32 | call->span->site->id);
}

static int prof_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct prof_counts *counts = (struct prof_counts *)sink;
	const struct ktr_reader_site *site = event->site;
	struct ktr__sample sample;

	counts->last_ns = event->time_ns;
	if (site->group && strcmp(site->class_name, "fbt") == 0 && strcmp(site->group, "scope") == 0)
		return ktr__calls_event(counts->calls, event);
	if (ktr__sample_of(event, &sample) && sample.how != KTR__SAMPLE_WAITING)
		counts->n_ticks += sample.n_ticks;
	return 0;
}

/* Of functions that count: places that call, and who is called from them. */
static int prof_arc(void *context, const struct ktr__called *arc)
{
	struct prof_counts *counts = context;
	uint64_t from = ktr__hash_word(arc->proc, arc->from) | 1;

	if (prof_set_add(&counts->froms, from))
		return -ENOMEM;
	return prof_set_add(&counts->tos, ktr__hash_word(ktr__hash_word(from, arc->module), arc->to) | 1);
}

static int prof_walk(struct kgmon_session *session, struct ktr_reader *reader, struct prof_counts *counts)
{
	static const struct ktr__calls_hooks hooks = { prof_call, NULL };
	struct ktr_sink *sink = &counts->sink;
	uint64_t n_uncounted;
	int rc;

	*counts = (struct prof_counts){ .sink = { prof_event, NULL, NULL } };
	rc = ktr__session_arcs(&session->map, prof_arc, counts, &n_uncounted);
	if (!rc)
		rc = ktr__calls_new(&counts->calls, &hooks, counts, ktr_reader_info(reader)->first_ns);
	if (!rc)
		rc = ktr_reader_walk(reader, &sink, 1);
	if (!rc)
		rc = ktr__calls_finish(counts->calls, counts->last_ns);
	ktr__calls_free(counts->calls);
	free(counts->froms.key);
	free(counts->tos.key);
	return rc;
}

/* ---- a session that is open for a moment ---- */

static int prof_session(const struct ktr_knob_at *at, struct kgmon_session *session, struct ktr_error *err)
{
	const struct prof_knobs *prof = at->table->context;
	int rc = kgmon_session_open(session, prof->path, err);

	if (rc || !session->has_none)
		return rc;
	kgmon_session_close(session);
	return ktr_error_set(err, EOPNOTSUPP, "no process of the session has the profiler; see ktr attach");
}

static int prof_state_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	static const int states[] = { [KGMON_OFF] = PROF_OFF, [KGMON_ON] = PROF_ON, [KGMON_HIRES] = PROF_HIRES };
	struct kgmon_session session;
	int rc = prof_session(at, &session, NULL);

	if (rc)
		return rc;
	value->number = (uint64_t)states[session.state];
	kgmon_session_close(&session);
	return 0;
}

static int prof_state_set(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)
{
	struct kgmon_session session;
	int rc;

	if (value->number != PROF_ON && value->number != PROF_OFF && value->number != PROF_HIRES)
		return ktr_error_set(err, EINVAL, "0 is on, 3 off, 4 on in high resolution");
	rc = prof_session(at, &session, err);
	if (rc)
		return rc;
	if (!session.alive)
		rc = ktr_error_set(err, EROFS, "nobody is in the session any more");
	else if (kgmon_session_switch(&session, value->number == PROF_OFF   ? KGMON_OFF
						: value->number == PROF_ON ? KGMON_ON
									   : KGMON_HIRES))
		rc = ktr_error_set(err, EAGAIN, "the process has not done so yet");
	kgmon_session_close(&session);
	return rc;
}

static int prof_counts_of(const struct ktr_knob_at *at, struct prof_counts *counts)
{
	struct kgmon_session session;
	struct ktr_reader *reader;
	int rc = prof_session(at, &session, NULL);

	if (rc)
		return rc;
	rc = kgmon_session_reader(&session, &reader, NULL);
	if (!rc) {
		rc = prof_walk(&session, reader, counts);
		ktr_reader_close(reader);
	}
	kgmon_session_close(&session);
	return rc;
}

static int prof_count_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct prof_counts counts = { 0 };
	int rc = prof_counts_of(at, &counts);

	value->number = counts.n_ticks;
	return rc;
}

static int prof_froms_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct prof_counts counts = { 0 };
	int rc = prof_counts_of(at, &counts);

	value->number = counts.froms.n;
	return rc;
}

static int prof_tos_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	struct prof_counts counts = { 0 };
	int rc = prof_counts_of(at, &counts);

	value->number = counts.tos.n;
	return rc;
}

static int prof_zero_set(const struct ktr_knob_at *at, const struct ktr_value *value, struct ktr_error *err)
{
	struct kgmon_session session;
	int rc;

	if (value->number)
		return ktr_error_set(err, EINVAL, "only 0 can be written: what has been gathered is forgotten");
	rc = prof_session(at, &session, err);
	if (rc)
		return rc;
	if (session.alive)
		kgmon_session_reset(&session);
	else
		rc = ktr_error_set(err, EROFS, "nobody is in the session any more");
	kgmon_session_close(&session);
	return rc;
}

/* The first object of all is the program; addresses are those of its file. */
static int prof_gmonparam_get(const struct ktr_knob_at *at, struct ktr_value *value)
{
	const struct ktr__tables *tables;
	struct kgmon_session session;
	struct ktr_reader *reader;
	uint64_t text = 0;
	int rc = prof_session(at, &session, NULL);

	if (rc)
		return rc;
	rc = kgmon_session_reader(&session, &reader, NULL);
	if (!rc) {
		tables = ktr__reader_tables(reader);
		for (uint32_t i = 0; i < tables->n_modules && !text; i++)
			text = tables->module[i] ? tables->module[i]->end - tables->module[i]->base : 0;
		snprintf(value->text, value->text_size,
			 "{ state = %d, lowpc = 0, highpc = %#" PRIx64 ", textsize = %" PRIu64
			 ", hashfraction = 1, profrate = %lu, histcounter_type = 16 }",
			 session.state == KGMON_OFF ? PROF_OFF : session.state == KGMON_HIRES ? PROF_HIRES
			      : PROF_ON, text,
			 text, session.rate_hz);
		ktr_reader_close(reader);
	}
	kgmon_session_close(&session);
	return rc;
}

/* ---- the table ---- */

#define PROF_NUMBER(knob_name, knob_unit, knob_help, knob_get)                                           \
	{                                                                                                \
		.name = "kern.prof." knob_name, .help = knob_help, .unit = knob_unit,                    \
		.type = KTR_KNOB_UINT,                                                                   \
		.access = KTR_KNOB_RD | KTR_KNOB_WR | KTR_KNOB_STATS | KTR_KNOB_SKIP, .get = knob_get,   \
		.set = prof_zero_set                                                                     \
	}

static const struct ktr_knob prof_rows[] = {
	{ .name = "kern.prof.state",
	  .help = "profiling: 0 on, 3 off, 4 on in high resolution",
	  .type = KTR_KNOB_UINT,
	  .access = KTR_KNOB_RD | KTR_KNOB_WR | KTR_KNOB_SKIP,
	  .get = prof_state_get,
	  .set = prof_state_set },
	PROF_NUMBER("count", "ticks", "samples' ticks since the last reset; 0 is one", prof_count_get),
	PROF_NUMBER("froms", "functions", "places that call, where calls are counted, or functions, where they are recorded", prof_froms_get),
	PROF_NUMBER("tos", "arcs", "who calls whom, where calls are counted or recorded", prof_tos_get),
	{ .name = "kern.prof.gmonparam",
	  .help = "what a histogram is of, as struct gmonparam has it",
	  .type = KTR_KNOB_STRING,
	  .max = KTR_KNOB_STRING_BYTES - 1,
	  .access = KTR_KNOB_RD | KTR_KNOB_STATS | KTR_KNOB_SKIP,
	  .get = prof_gmonparam_get },
};

int prof_knobs_open(struct prof_knobs *prof, const char *path, struct ktr_conf *conf, struct ktr_error *err)
{
	snprintf(prof->path, sizeof(prof->path), "%s", path);
	prof->table.rows = prof_rows;
	prof->table.n_rows = sizeof(prof_rows) / sizeof(prof_rows[0]);
	prof->table.context = prof;
	return ktr_conf_register(conf, &prof->table, err);
}

void prof_knobs_close(struct prof_knobs *prof, struct ktr_conf *conf)
{
	ktr_conf_unregister(conf, &prof->table);
}
