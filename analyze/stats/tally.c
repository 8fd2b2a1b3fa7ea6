/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts a walk.
 *
 * Sites, threads and CPUs are arrays by id. Rows are found by hash over (kind, process, group,
 * id, state); a row keeps copies of its bytes. When KTR__TALLY_ROWS_MAX rows are there, every
 * further id of a group shares the row marked other; there is one for each (kind, process,
 * group), as many as there may be, because groups are constants of the program.
 */
#include "analyze/stats/tally.h"

#include "analyze/read/ktrgraph.h"
#include "analyze/read/reader.h"
#include "analyze/read/tables.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TALLY_BUCKETS    (2 * KTR__TALLY_ROWS_MAX)
#define TALLY_OTHERS_MAX 1024 /* groups come from the input: even these are bounded */

/* What identifies a row. */
struct tally_key {
	enum ktr_event_kind kind;
	uint64_t process_key;
	const struct ktr_reader_thread *thread; /* tells what the process is called */
	const char *group;
	struct ktr_event_bytes ident;
	struct ktr_event_bytes state;
	int other;
	unsigned pair;
	uint64_t name_hash; /* of group and ident */
};

static uint64_t tally_hash(const struct tally_key *key)
{
	uint64_t hash = key->process_key ^ (uint64_t)key->kind << 32 ^
			(uint64_t)key->other << 40 ^ (uint64_t)key->pair << 41;

	hash = ktr__hash_word(hash, key->name_hash);
	return ktr__hash_bytes(hash, key->state.bytes, key->state.n_bytes);
}

static struct ktr__tally_row *tally_find(const struct ktr__tally *tally,
					 const struct tally_key *key, uint64_t hash)
{
	struct ktr__tally_row *row = tally->bucket[hash % TALLY_BUCKETS];

	for (; row; row = row->chain)
		if (row->hash == hash && row->kind == key->kind && row->process_key == key->process_key &&
		    row->other == key->other && row->pair == key->pair &&
		    ktr__same_group(row->group, key->group) && ktr__same_bytes(&row->ident, &key->ident) &&
		    ktr__same_bytes(&row->state, &key->state))
			return row;
	return NULL;
}

static struct ktr__tally_row *tally_add(struct ktr__tally *tally, const struct tally_key *key,
					uint64_t hash)
{
	size_t n_text = (size_t)key->ident.n_bytes + key->state.n_bytes;
	struct ktr__tally_row *row = calloc(1, sizeof(*row) + n_text);
	char *text = (char *)(row + 1);

	if (!row || ktr__array_grow(&tally->row, &tally->row_room, tally->n_rows, sizeof(row))) {
		free(row);
		return NULL;
	}
	memcpy(text, key->ident.bytes, key->ident.n_bytes);
	memcpy(text + key->ident.n_bytes, key->state.bytes, key->state.n_bytes);
	row->kind = key->kind;
	row->process_key = key->process_key;
	row->thread = key->thread;
	row->group = key->group;
	row->ident = (struct ktr_event_bytes){ text, key->ident.n_bytes, key->ident.cut, 0 };
	row->state = (struct ktr_event_bytes){ text + key->ident.n_bytes, key->state.n_bytes,
					       key->state.cut, 0 };
	row->other = key->other;
	row->pair = key->pair;
	row->hash = hash;
	row->chain = tally->bucket[hash % TALLY_BUCKETS];
	tally->bucket[hash % TALLY_BUCKETS] = row;
	tally->row[tally->n_rows++] = row;
	return row;
}

/* The row with this key, or the one that stands for it; NULL without memory. */
static struct ktr__tally_row *tally_row(struct ktr__tally *tally, struct tally_key *key)
{
	uint64_t hash = tally_hash(key);
	struct ktr__tally_row *row = tally_find(tally, key, hash);

	if (row)
		return row;
	if (tally->n_rows >= KTR__TALLY_ROWS_MAX) {
		key->other = 1;
		key->pair = 0;
		key->ident = key->state = (struct ktr_event_bytes){ "", 0, 0, 0 };
		if (tally->n_rows >= KTR__TALLY_ROWS_MAX + TALLY_OTHERS_MAX) {
			key->group = "";
			key->process_key = 0;
			key->thread = NULL;
		}
		key->name_hash = ktr__span_name_hash(key->group, &key->ident);
		hash = tally_hash(key);
		row = tally_find(tally, key, hash);
	}
	return row ? row : tally_add(tally, key, hash);
}

static int tally_span(void *context, const struct ktr__span *span)
{
	struct ktr__tally *tally = context;
	struct tally_key key = {
		.kind = span->kind,
		.process_key = span->process_key,
		.thread = span->thread,
		.group = span->group,
		.ident = span->ident,
		.state = span->state,
		.pair = span->pair,
		.name_hash = span->name_hash,
	};
	struct ktr__tally_row *row;

	if (span->pair) {
		key.ident = (struct ktr_event_bytes){ "", 0, 0, 0 };
		key.name_hash = 0; /* its number tells */
	}
	row = tally_row(tally, &key);
	if (!row)
		return -ENOMEM;
	if (!(span->flags & KTR__SPAN_NO_START))
		row->n_nested += span->depth > 0;
	if ((span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END)) == KTR__SPAN_NO_END)
		row->open_ns += span->to_ns - span->from_ns;
	row->n_no_start += (span->flags & KTR__SPAN_NO_START) != 0;
	row->n_no_end += (span->flags & KTR__SPAN_NO_END) != 0;
	if (span->flags & (KTR__SPAN_NO_START | KTR__SPAN_NO_END))
		return 0;
	row->n_unsure += (span->flags & KTR__SPAN_UNSURE) != 0;
	return ktr__histogram_add(&row->durations, span->to_ns - span->from_ns);
}

static int tally_counter(struct ktr__tally *tally, const struct ktr_event *event)
{
	const struct ktr_reader_site *site = event->site;
	struct tally_key key = { .kind = KTR_KIND_COUNTER,
				 .process_key = ktr__tables_process_key(event->thread),
				 .thread = event->thread,
				 .group = site->group,
				 .ident = event->str[0],
				 .state = { "", 0, 0, 0 } };
	double value = ktr__event_number(event, (unsigned)site->value_arg);
	struct ktr__tally_row *row;

	if (site->ident)
		key.ident = (struct ktr_event_bytes){ site->ident, (uint32_t)strlen(site->ident), 0,
						      0 };
	key.name_hash = ktr__span_name_hash(key.group, &key.ident);
	row = tally_row(tally, &key);
	if (!row)
		return -ENOMEM;
	if (!row->n || value < row->min)
		row->min = value;
	if (!row->n || value > row->max)
		row->max = value;
	row->n++;
	row->sum += value;
	row->last = value;
	return 0;
}

/* What only some reports ask for. */
static int tally_more(struct ktr__tally *tally, const struct ktr_event *event)
{
	int rc = tally->gaps.n_kept ? ktr__gaps_event(&tally->gaps, event) : 0;

	return rc || !tally->pairs ? rc : ktr__pairs_event(tally->pairs, event);
}

/* Those that were only counted are ahead of the others. */
static inline void tally_span_of(struct ktr__tally *tally, uint64_t first_ns, uint64_t last_ns)
{
	if (!tally->n_events || first_ns < tally->first_ns)
		tally->first_ns = first_ns;
	if (last_ns > tally->last_ns)
		tally->last_ns = last_ns;
}

static int tally_event(struct ktr_sink *sink, const struct ktr_event *event)
{
	struct ktr__tally *tally = (struct ktr__tally *)(void *)sink;
	int rc = 0;

	tally_span_of(tally, event->time_ns, event->time_ns);
	tally->n_events++;
	tally->site[event->site->id]++;
	tally->thread[event->thread->id]++;
	tally->cpu[event->cpu].n_events++;
	if (tally->gaps.n_kept || tally->pairs)
		rc = tally_more(tally, event);
	if (rc || event->site->kind == KTR_KIND_EVENT)
		return rc;
	if (event->site->kind == KTR_KIND_COUNTER)
		return tally_counter(tally, event);
	return ktr__spans_event(tally->spans, event);
}

static int tally_loss(struct ktr_sink *sink, const struct ktr_loss *loss)
{
	struct ktr__tally *tally = (struct ktr__tally *)(void *)sink;

	tally->n_lost += loss->n_events;
	tally->n_gaps++;
	if (loss->cpu < tally->n_cpus)
		tally->cpu[loss->cpu].n_lost += loss->n_events;
	ktr__spans_loss(tally->spans, loss);
	ktr__gaps_loss(&tally->gaps, loss);
	return 0;
}

static int tally_is_plain(const void *context, const struct ktr_reader_site *site)
{
	(void)context;
	return site->kind == KTR_KIND_EVENT;
}

static void tally_run(void *context, const struct ktr__reader_run *run)
{
	struct ktr__tally *tally = context;

	tally_span_of(tally, run->first_ns, run->last_ns);
	tally->n_events += run->n_events;
	tally->thread[run->thread->id] += run->n_events;
	tally->cpu[run->cpu].n_events += run->n_events;
}

void ktr__tally_count_only(struct ktr__tally *tally, struct ktr_reader *reader)
{
	if (!tally->gaps.n_kept && !tally->pairs)
		ktr__reader_count_only(reader, tally_is_plain, tally->site, tally_run, tally);
}

int ktr__tally_finish(struct ktr__tally *tally)
{
	return ktr__spans_finish(tally->spans, tally->last_ns);
}

uint64_t ktr__tally_class(const struct ktr__tally *tally, unsigned bit)
{
	uint64_t n = 0;

	for (unsigned id = 0; id < tally->n_sites; id++) {
		const struct ktr_reader_site *site = ktr_reader_site(tally->reader, id);

		if (site && (site->mask >> bit & 1))
			n += tally->site[id];
	}
	return n;
}

static int tally_options(struct ktr__tally *tally, const struct ktr__tally_options *options)
{
	int rc = ktr__gaps_init(&tally->gaps, options->n_gaps, tally->n_threads);

	if (!rc && options->n_pairs)
		rc = ktr__pairs_new(&tally->pairs, options->pair, options->n_pairs, tally->spans);
	return rc;
}

int ktr__tally_new(struct ktr__tally **out, const struct ktr_reader *reader,
		   const struct ktr__tally_options *options)
{
	const struct ktr_reader_info *info = ktr_reader_info(reader);
	struct ktr__tally *tally = calloc(1, sizeof(*tally));

	*out = NULL;
	if (!tally)
		return -ENOMEM;
	tally->sink.event = tally_event;
	tally->sink.loss = tally_loss;
	tally->reader = reader;
	tally->n_sites = ktr_reader_n_sites(reader);
	tally->n_threads = ktr_reader_n_threads(reader);
	tally->n_cpus = info->n_cpus;
	tally->site = calloc(tally->n_sites, sizeof(*tally->site));
	tally->thread = calloc(tally->n_threads, sizeof(*tally->thread));
	tally->cpu = calloc(tally->n_cpus ? tally->n_cpus : 1, sizeof(*tally->cpu));
	tally->bucket = calloc(TALLY_BUCKETS, sizeof(*tally->bucket));
	if (!tally->site || !tally->thread || !tally->cpu || !tally->bucket ||
	    ktr__spans_new(&tally->spans, info->first_ns, tally_span, tally) ||
	    (options && tally_options(tally, options))) {
		ktr__tally_free(tally);
		return -ENOMEM;
	}
	*out = tally;
	return 0;
}

void ktr__tally_free(struct ktr__tally *tally)
{
	if (!tally)
		return;
	for (unsigned i = 0; i < tally->n_rows; i++) {
		ktr__histogram_free(&tally->row[i]->durations);
		free(tally->row[i]);
	}
	ktr__pairs_free(tally->pairs);
	ktr__gaps_free(&tally->gaps);
	ktr__spans_free(tally->spans);
	free(tally->row);
	free(tally->bucket);
	free(tally->site);
	free(tally->thread);
	free(tally->cpu);
	free(tally);
}
