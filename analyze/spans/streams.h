/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose events may have been lost: what a ring lost concerns those whose events came from that ring, and nobody
 * else.
 *
 * A ring is known by 2 * CPU + keep. A walk tells of a loss where it begins: what began before the loss ended may
 * have lost its own end, even if it began after the beginning, on another ring.
 */
#ifndef ANALYZE_STREAMS_H
#define ANALYZE_STREAMS_H

#include <ktr/reader.h>

#define KTR__RINGS_CPUS 16384u /* whose rings are told apart */

/* Which rings somebody's events came from: a bit each. */
struct ktr__rings {
	uint64_t *word; /* owned */
	uint32_t n_words;
};

/* 0 or -ENOMEM. */
int ktr__rings_add(struct ktr__rings *rings, uint32_t cpu, int keep);
int ktr__rings_join(struct ktr__rings *rings, const struct ktr__rings *more);
int ktr__rings_have(const struct ktr__rings *rings, uint32_t cpu, int keep);

struct ktr__streams {
	uint64_t until_ns; /* when the last one of all losses so far ended */
	uint64_t *lost;    /* owned; by ring, when its last loss ended; UINT64_MAX: at no time */
	uint32_t n_lost;
	uint64_t lost_any; /* likewise, of losses that could not be kept by ring */
	struct ktr__rings *thread; /* owned; by id: the rings of its events so far */
	uint32_t n_threads;
};

void ktr__streams_free(struct ktr__streams *streams);

/* An event of a thread. 0 or -ENOMEM. */
int ktr__streams_see(struct ktr__streams *streams, uint32_t thread, uint32_t cpu, int keep);

void ktr__streams_loss(struct ktr__streams *streams, const struct ktr_loss *loss);

/* Has a ring of the thread's lost events since a moment? */
int ktr__streams_lost(const struct ktr__streams *streams, uint32_t thread, uint64_t since_ns);

#endif
