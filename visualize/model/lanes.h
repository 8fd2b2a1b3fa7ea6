/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of one row that are open at the same time, each in a lane of its own: the first that is free.
 */
#ifndef VISUALIZE_LANES_H
#define VISUALIZE_LANES_H

#include <stdint.h>

#define KTR__LANES_MAX 256u /* spans of one row that can be open at once */

struct ktr__lane_span {
	uint64_t key;
	uint64_t event; /* the caller's: which event began it */
	uint64_t from_ns;
	uint64_t n_losses; /* gaps in the trace before it began */
	void *kept;        /* the caller's */
	uint32_t sequence; /* the later of two spans has the greater one */
	int open;
};

struct ktr__lanes {
	struct ktr__lane_span *span; /* owned; by lane */
	uint32_t room;
	uint32_t n;    /* lanes that were ever in use */
	uint32_t last; /* sequence */
};

/*
 * Begins a span, given with key, event, from_ns and n_losses. A span that is open with its key is
 * taken for one whose STOP is missing if only one can have such a key (unique), or if events were lost
 * since: the new one takes its lane, and *replaced_ns is when that began, else 0. The span, or NULL: no lane is
 * free, or with *error -ENOMEM.
 */
struct ktr__lane_span *ktr__lanes_start(struct ktr__lanes *lanes, const struct ktr__lane_span *span,
					int unique, uint64_t *replaced_ns, int *error);

/* The latest open span with the key, which ends here, or NULL. Its members stay until the next start. */
struct ktr__lane_span *ktr__lanes_stop(struct ktr__lanes *lanes, uint64_t key);

#endif
