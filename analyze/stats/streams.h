/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose events may have been lost: what a ring lost concerns those whose events came from that ring, and nobody
 * else.
 *
 * A ring is known by 2 * CPU + keep. Losses are numbered from 1, so that "since" is a number.
 */
#ifndef ANALYZE_STREAMS_H
#define ANALYZE_STREAMS_H

#include <ktr/reader.h>

struct ktr__stream_set {
	uint64_t *word; /* owned; a bit for each ring */
	uint32_t n_words;
};

struct ktr__streams {
	uint64_t n_losses;
	uint64_t *lost; /* owned; by ring, the number of its last loss */
	uint32_t n_lost;
	uint64_t lost_any; /* the last loss that could not be kept by ring */
	struct ktr__stream_set *thread; /* owned; by id: the rings of its events so far */
	uint32_t n_threads;
};

void ktr__streams_free(struct ktr__streams *streams);

/* An event of a thread. 0 or -ENOMEM. */
int ktr__streams_see(struct ktr__streams *streams, uint32_t thread, uint32_t cpu, int keep);

void ktr__streams_loss(struct ktr__streams *streams, const struct ktr_loss *loss);

/* Has a ring of the thread's lost events since so many losses? */
int ktr__streams_lost(const struct ktr__streams *streams, uint32_t thread, uint64_t since);

#endif
