/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose events may have been lost: what a ring lost concerns those whose events came from that ring, and nobody
 * else.
 *
 * A ring is known by 2 * CPU + keep. A walk tells of a loss where it begins: what began before the loss ended may
 * have lost its own end, even if it began behind the beginning, on another ring.
 */
#ifndef ANALYZE_STREAMS_H
#define ANALYZE_STREAMS_H

#include <ktr/reader.h>

struct ktr__stream_set {
	uint64_t *word; /* owned; a bit for each ring */
	uint32_t n_words;
};

struct ktr__streams {
	uint64_t until_ns; /* when the last one of all losses so far ended */
	uint64_t *lost;    /* owned; by ring, when its last loss ended; UINT64_MAX: at no time */
	uint32_t n_lost;
	uint64_t lost_any; /* likewise, of losses that could not be kept by ring */
	struct ktr__stream_set *thread; /* owned; by id: the rings of its events so far */
	uint32_t n_threads;
};

void ktr__streams_free(struct ktr__streams *streams);

/* An event of a thread. 0 or -ENOMEM. */
int ktr__streams_see(struct ktr__streams *streams, uint32_t thread, uint32_t cpu, int keep);

void ktr__streams_loss(struct ktr__streams *streams, const struct ktr_loss *loss);

/* Has a ring of the thread's lost events since a moment? */
int ktr__streams_lost(const struct ktr__streams *streams, uint32_t thread, uint64_t since_ns);

#endif
