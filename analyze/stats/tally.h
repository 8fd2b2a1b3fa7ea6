/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, in numbers: a sink that counts events by call site, thread and CPU, and collects
 * the durations of spans and states and the values of counters by row.
 *
 *	ktr__tally_new(&tally, reader, NULL);
 *	sinks[0] = ktr__tally_sink(tally);
 *	ktr_reader_walk(reader, sinks, 1);
 *	ktr__tally_finish(tally);
 */
#ifndef ANALYZE_TALLY_H
#define ANALYZE_TALLY_H

#include "analyze/stats/gaps.h"
#include "analyze/stats/histogram.h"
#include "analyze/stats/pairs.h"

#include <ktr/reader.h>

/*
 * [rows] Rows that are told apart; those that come later are counted together, one row per group,
 * with other set. With their histograms, some 10 KiB each, they stay below 32 MiB.
 */
#define KTR__TALLY_ROWS_MAX 2048

/* A row of spans, states or counters. */
struct ktr__tally_row {
	struct ktr__tally_row *chain;
	uint64_t hash;
	enum ktr_event_kind kind; /* START for spans, STATE, COUNTER */
	uint64_t process_key; /* ktr__tables_process_key(); 0: of several */
	const struct ktr_reader_thread *thread; /* one of the process; NULL: of several */
	const char *group;
	struct ktr_event_bytes ident;
	struct ktr_event_bytes state; /* STATE */
	unsigned pair; /* of a pair by hand: its number, from 1, and group is its name; no ident */
	int other; /* stands for all rows of the group that found no room; no ident */
	/*
	 * START and STATE: durations of spans with both ends, also of those that are not sure. [ns]
	 */
	struct ktr__histogram durations;
	uint64_t n_unsure;
	uint64_t n_nested; /* within another one of the same row and key */
	uint64_t n_no_start;
	uint64_t n_no_end;
	uint64_t open_ns; /* how long those without an end have lasted, together */
	/* COUNTER */
	uint64_t n;
	double min, max, sum, last;
};

struct ktr__tally_cpu {
	uint64_t n_events;
	uint64_t n_lost;
};

struct ktr__tally {
	struct ktr_sink sink;
	const struct ktr_reader *reader; /* borrowed */
	uint64_t n_events;
	uint64_t first_ns; /* of the events counted */
	uint64_t last_ns;
	uint64_t n_lost;
	uint64_t n_gaps;
	uint64_t *site;   /* [events] by site id */
	uint64_t *thread; /* [events] by thread id */
	struct ktr__tally_cpu *cpu;
	unsigned n_sites, n_threads, n_cpus;
	struct ktr__spans *spans;
	struct ktr__pairs *pairs; /* NULL: none was asked for */
	struct ktr__gaps gaps;
	struct ktr__tally_row **row; /* in the order in which they appeared */
	unsigned n_rows, row_room;
	struct ktr__tally_row **bucket;
};

struct ktr__tally_options {
	const struct ktr__pair *pair; /* copied */
	unsigned n_pairs;
	unsigned n_gaps; /* how many of the longest to keep, of each thread and overall */
};

/* options: NULL for none. 0 with an owned object in *out, or -ENOMEM. The reader must outlive it. */
int ktr__tally_new(struct ktr__tally **out, const struct ktr_reader *reader,
		   const struct ktr__tally_options *options);
void ktr__tally_free(struct ktr__tally *tally);

static inline struct ktr_sink *ktr__tally_sink(struct ktr__tally *tally)
{
	return &tally->sink;
}

/*
 * To be called before the walk, where no other sink looks at each event: the reader, which is the tally's, counts
 * plain events where they lie (analyze/read/reader.h), and the tally has them without seeing them. Where there is
 * no memory for that, it sees them all.
 */
void ktr__tally_count_only(struct ktr__tally *tally, struct ktr_reader *reader);

/* After the last event: closes what is open. 0 or -ENOMEM. */
int ktr__tally_finish(struct ktr__tally *tally);

/* Events of a class: of all sites that have its bit. */
uint64_t ktr__tally_class(const struct ktr__tally *tally, unsigned bit);

#endif
