/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several threads print what one walks: the same bytes in the same order as without them.
 *
 *	rc = ktr__crew_open(&crew, &ktr__sink_text_trade, &text, 4);
 *	sink = ktr__crew_sink(crew);
 *	... a walk feeds it ...
 *	rc = ktr__crew_close(crew);
 *
 * No thread is started before there is more than one block of events. A crew belongs to the thread that opened it.
 */
#ifndef ANALYZE_CREW_H
#define ANALYZE_CREW_H

#include "analyze/print/out.h"

#include <ktr/reader.h>

#define KTR__CREW_MOST 64u /* threads */
#define KTR__CREW_USUAL 4u /* threads, where nobody says how many: one walks, and more have nothing to do */

struct ktr__crew;

/* What is printed. of: as of ktr__crew_open(). */
struct ktr__crew_trade {
	/* Another sink like `of`, which prints into out (borrowed) and into nothing else. NULL without memory. */
	struct ktr_sink *(*hire)(void *of, struct ktr__out *out);
	/* What comes next to the sink follows so many events, the last of which was at last_ns. NULL: no matter. */
	void (*begin)(struct ktr_sink *sink, uint64_t n_events, uint64_t last_ns);
	void (*leave)(struct ktr_sink *sink); /* frees it */
	/* Writes what was printed, in the order of the walk; of several threads, one at a time. 0 or -errno. */
	int (*write)(void *of, const char *bytes, size_t n);
	/*
	 * There is one sink, fed in the order of the walk by one thread, for what it tells of an event depends on
	 * those before. The caller's reads and writes.
	 */
	int in_order;
};

/* Owned crew; of is borrowed until it is closed. n_threads: with the caller's own, at least 1. 0 or -ENOMEM. */
int ktr__crew_open(struct ktr__crew **out, const struct ktr__crew_trade *trade, void *of, unsigned n_threads);

/* What to feed. It returns 0 or what printing or writing returned, maybe for an event some blocks ago. */
struct ktr_sink *ktr__crew_sink(struct ktr__crew *crew);

/* Prints and writes the rest, ends the threads, frees. 0, or what printing or writing returned. Accepts NULL. */
int ktr__crew_close(struct ktr__crew *crew);

/* How many threads there are to be of n asked for; 0: as many as this process may run at once, up to the usual. */
unsigned ktr__crew_threads(uint64_t n);

#endif
