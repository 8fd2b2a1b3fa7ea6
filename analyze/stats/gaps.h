/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The longest times in which nothing was recorded: by anybody, and by each thread. A thread's time
 * before its first event and after its last one is no gap.
 */
#ifndef ANALYZE_GAPS_H
#define ANALYZE_GAPS_H

#include "analyze/spans/streams.h"

#include <ktr/reader.h>

/* [gaps] The most that may be asked for; 10,000 threads then take 50 MiB. */
#define KTR__GAPS_MAX 100

struct ktr__gap {
	uint64_t from_ns, to_ns;
	const struct ktr_reader_site *before, *after; /* sites of the events around it */
	const struct ktr_reader_thread *thread;       /* of the one after it */
	int unsure; /* events were lost in it, by rings of the thread's */
};

struct ktr__gaps_list {
	struct ktr__gap *gap; /* owned; the longest first, of those of one length the earliest */
	unsigned n;
	uint64_t last_ns; /* of the event before */
	const struct ktr_reader_site *last;
};

struct ktr__gaps {
	unsigned n_kept; /* of each list; 0: none is looked for */
	struct ktr__streams streams;
	struct ktr__gaps_list overall;
	struct ktr__gaps_list *thread; /* owned, by id */
	uint32_t n_threads;
};

/* 0 or -ENOMEM. n_threads: ids of threads are below it. */
int ktr__gaps_init(struct ktr__gaps *gaps, unsigned n_kept, uint32_t n_threads);
void ktr__gaps_free(struct ktr__gaps *gaps);

/* In time order. 0 or -ENOMEM. */
int ktr__gaps_event(struct ktr__gaps *gaps, const struct ktr_event *event);
void ktr__gaps_loss(struct ktr__gaps *gaps, const struct ktr_loss *loss);

#endif
