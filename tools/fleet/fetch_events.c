/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events come in the order of time, those of one moment by CPU and stream; losses are read before and put in
 * where the last event before them was, as a reader tells them. How many events there are is asked for first: an
 * answer that ends early is not taken for all.
 */
#include "tools/fleet/fetch_events.h"

#include "tools/fleet/cluster.h"

#include "analyze/print/unfinished.h"
#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "analyze/rewrite/trace_writer.h"
#include "conf/kit/array.h"
#include "tools/fleet/rows.h"
#include "tools/fleet/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FETCH_LOSSES_MAX (1u << 20)

struct fetch_events {
	struct fetch *fetch;
	const struct ktr__tables *tables;
	struct ktr__trace_writer *writer;
	struct ktr_loss *loss; /* owned; in the order of from_ns */
	uint32_t n_losses, loss_room, at_loss;
	uint64_t last_ns;
	int write_rc;
};

static uint64_t fetch_events_ns(const struct fetch *fetch, int64_t ts)
{
	return ts ? (uint64_t)(ts - fetch->utc_offset_ns) : 0;
}

/* " FROM ktr.events WHERE ..." */
static void fetch_events_from(const struct fetch *fetch, struct native_buffer *query)
{
	char text[256];

	native_buffer_text(query, " FROM ");
	native_buffer_text(query, fetch->store->options.database);
	native_buffer_text(query, ".events WHERE host = ");
	store_quote(query, fetch->host, strlen(fetch->host));
	snprintf(text, sizeof(text),
		 " AND trace = toUUID('%s') AND ts >= %" PRId64 " AND ts < %" PRId64
		 " AND intDiv(ts, 1000000000) >= %" PRId64 " AND intDiv(ts, 1000000000) <= %" PRId64,
		 fetch->trace, fetch->from_ts, fetch->to_ts, fetch->from_ts / 1000000000,
			fetch->to_ts / 1000000000);
	native_buffer_text(query, text);
}

static int fetch_events_count(struct fetch *fetch, uint64_t *n, struct ktr_error *err)
{
	struct native_buffer query = { 0 };
	struct store_answer answer = { .outcome = STORE_DONE };
	int rc = 0;

	native_buffer_text(&query, "SELECT count()");
	fetch_events_from(fetch, &query);
	native_buffer_text(&query, " FORMAT TabSeparated");
	native_buffer_add(&query, "", 1);
	if (query.failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	else if (cluster_ask(fetch->store, (char *)query.at, &answer) != STORE_DONE)
		rc = store_explain(fetch->store, &answer, err);
	else if (store_number(&answer, n))
		rc = ktr_error_set(err, EPROTO, "%s does not answer with a number", fetch->store->shown);
	native_buffer_free(&query);
	store_answer_free(&answer);
	return rc;
}

/* ---- losses ---- */

static int fetch_events_loss(void *context, struct rows_at *row)
{
	struct fetch_events *e = context;
	uint32_t cpu = (uint32_t)rows_number(row, 2), keep = (uint32_t)rows_number(row, 1);
	int64_t from = (int64_t)rows_number(row, 8), to = (int64_t)rows_number(row, 8);
	uint64_t n = rows_number(row, 8);

	if (row->bad)
		return 0;
	if (e->n_losses == FETCH_LOSSES_MAX ||
	    ktr__array_grow(&e->loss, &e->loss_room, e->n_losses, sizeof(*e->loss)))
		return -ENOMEM;
	e->loss[e->n_losses++] = (struct ktr_loss){ .cpu = cpu,
						    .keep = keep != 0,
						    .n_events = n,
						    .from_ns = fetch_events_ns(e->fetch, from),
						    .to_ns = fetch_events_ns(e->fetch, to) };
	return 0;
}

static int fetch_events_losses(struct fetch_events *e, struct ktr_error *err)
{
	struct rows rows = { .take = fetch_events_loss, .context = e };
	struct fetch *fetch = e->fetch;
	struct native_buffer query = { 0 };
	struct store_answer answer = { .outcome = STORE_DONE };
	char text[400];
	int rc = 0, bad;

	native_buffer_text(&query, "SELECT cpu, keep, from_ts, to_ts, events FROM ");
	native_buffer_text(&query, fetch->store->options.database);
	native_buffer_text(&query, ".losses FINAL WHERE host = ");
	store_quote(&query, fetch->host, strlen(fetch->host));
	snprintf(text, sizeof(text),
		 " AND trace = toUUID('%s') AND why = 'overwritten' AND from_ts < %"
			PRId64 " AND (to_ts = 0 OR to_ts >= %" PRId64
		 ") ORDER BY from_ts, cpu, keep, to_ts FORMAT RowBinary", fetch->trace, fetch->to_ts,
			fetch->from_ts);
	native_buffer_text(&query, text);
	native_buffer_add(&query, "", 1);
	if (query.failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	else if (store_ask(fetch->store, (char *)query.at, rows_sink, &rows, &answer) != STORE_DONE)
		rc = store_explain(fetch->store, &answer, err);
	bad = rows_end(&rows);
	if (!rc && bad)
		rc = ktr_error_set(err, -bad, "%s: its losses make no sense", fetch->store->shown);
	native_buffer_free(&query);
	store_answer_free(&answer);
	return rc;
}

/* Those that begin before the time. */
static int fetch_events_lost_until(struct fetch_events *e, uint64_t time_ns)
{
	for (; e->at_loss < e->n_losses && e->loss[e->at_loss].from_ns < time_ns; e->at_loss++) {
		int rc = ktr__trace_writer_loss(e->writer, 0, &e->loss[e->at_loss]);

		if (rc)
			return rc;
	}
	return 0;
}

/* ---- events ---- */

/* The row's arguments as the site has them; 0, or -EPROTO. */
static int fetch_events_args(struct ktr_event *event, struct rows_at *row, unsigned cut, unsigned nulls)
{
	const struct ktr_reader_site *site = event->site;
	uint64_t number[2 * KTR_ARGS_MAX];

	for (unsigned i = 0; i < 2 * KTR_ARGS_MAX; i++)
		number[i] = rows_number(row, 8);
	for (unsigned i = 0; i < KTR_ARGS_MAX; i++) {
		size_t n;
		const char *text = rows_text(row, (size_t)KTR_STACK_MAX * 8, &n);
		unsigned type = i < site->n_args ? site->arg[i].type : KTR_ARG_NONE;

		event->arg[i] = number[type == KTR_ARG_F64 ? KTR_ARGS_MAX + i : i];
		event->str[i] = (struct ktr_event_bytes){ text, (uint32_t)n, cut >> i & 1, nulls >> i & 1 };
		if ((type == KTR_ARG_STR && (n > KTR_STRING_MAX || memchr(text, 0, n))) || (type ==
			KTR_ARG_STACK && n % 8))
			row->wrong = 1;
	}
	return row->wrong ? -EPROTO : 0;
}

static int fetch_events_event(void *context, struct rows_at *row)
{
	struct fetch_events *e = context;
	struct ktr_event event = { .index = 0 };
	int64_t ts = (int64_t)rows_number(row, 8);
	uint32_t site = (uint32_t)rows_number(row, 4), word = (uint32_t)rows_number(row, 4);
	unsigned flags, cut, nulls;

	event.cpu = (uint32_t)rows_number(row, 2);
	flags = (unsigned)rows_number(row, 1);
	cut = (unsigned)rows_number(row, 1);
	nulls = (unsigned)rows_number(row, 1);
	event.time_ns = fetch_events_ns(e->fetch, ts);
	event.approx = (flags & SCHEMA_FLAG_APPROX) != 0;
	event.keep = (flags & SCHEMA_FLAG_KEEP) != 0;
	event.site = ktr__tables_by_id(e->tables, site);
	event.thread = ktr__tables_by_word(e->tables, word, event.time_ns);
	if (fetch_events_args(&event, row, cut, nulls) || row->bad)
		return 0;
	if (ts < e->fetch->from_ts || ts >= e->fetch->to_ts || event.time_ns < e->last_ns || event.cpu >=
		e->fetch->n_cpus)
		return -EPROTO;
	e->last_ns = event.time_ns;
	e->write_rc = fetch_events_lost_until(e, event.time_ns);
	if (!e->write_rc)
		e->write_rc = ktr__trace_writer_event(e->writer, 0, &event);
	return e->write_rc;
}

static int fetch_events_rows(struct fetch_events *e, struct ktr_error *err)
{
	struct rows rows = { .take = fetch_events_event, .context = e };
	struct fetch *fetch = e->fetch;
	struct native_buffer query = { 0 };
	struct store_answer answer = { .outcome = STORE_DONE };
	uint64_t n = 0;
	int rc = fetch_events_count(fetch, &n, err), bad;

	native_buffer_text(&query, "SELECT ts, site_id, word, cpu, flags, cut, nulls");
	for (unsigned i = 0; i < 3 * KTR_ARGS_MAX; i++) {
		char name[8];

		snprintf(name, sizeof(name), ", %c%u", "ifs"[i / KTR_ARGS_MAX], i % KTR_ARGS_MAX);
		native_buffer_text(&query, name);
	}
	fetch_events_from(fetch, &query);
	native_buffer_text(&query, " ORDER BY ts, cpu, stream, idx FORMAT RowBinary");
	native_buffer_add(&query, "", 1);
	if (!rc && query.failed)
		rc = ktr_error_set(err, ENOMEM, "no memory");
	if (!rc && store_ask(fetch->store, (char *)query.at, rows_sink, &rows, &answer) != STORE_DONE &&
		!e->write_rc)
		rc = store_explain(fetch->store, &answer, err);
	bad = rows_end(&rows);
	if (e->write_rc)
		rc = ktr_error_set(err, -e->write_rc, "%s: cannot write: %m", fetch->output);
	else if (!rc && bad)
		rc = ktr_error_set(err, -bad, "%s: its events make no sense", fetch->store->shown);
	else if (!rc && rows.n_rows != n)
		rc = ktr_error_set(err, EPROTO, "%s: of %" PRIu64 " events it sent %" PRIu64, fetch->store->shown,
				   n, rows.n_rows);
	native_buffer_free(&query);
	store_answer_free(&answer);
	return rc;
}

int fetch_events(struct fetch *fetch, struct ktr_error *err)
{
	struct fetch_events e = { .fetch = fetch, .tables = ktr__reader_tables(fetch->reader) };
	struct ktr__trace_head head = *ktr__reader_head(fetch->reader);
	struct ktr__trace_writer_stats stats = { 0, 0 };
	struct ktr_error second = KTR_ERROR_NONE;
	int unfinished = ktr__unfinished_trace(fetch->output);
	int rc = fetch_events_losses(&e, err);

	head.has_ended = 0;
	if (!rc)
		rc = ktr__trace_writer_open(&e.writer, fetch->output, &head, fetch->n_cpus, err);
	if (!rc) {
		rc = ktr__trace_writer_source(e.writer, fetch->reader, (struct ktr__trace_writer_place){ 0, 0, 0 },
					      err);
		rc = rc < 0 ? rc : ktr__trace_writer_begin(e.writer, err);
		if (!rc)
			rc = fetch_events_rows(&e, err);
		if (!rc)
			rc = fetch_events_lost_until(&e, UINT64_MAX);
		if (ktr__trace_writer_close(e.writer, rc != 0, &stats, &second) && !rc) {
			rc = -EIO;
			*err = second;
		}
	}
	ktr__unfinished_done(unfinished);
	fetch->n_events = stats.n_events;
	fetch->n_lost = stats.n_lost;
	free(e.loss);
	return rc;
}
