/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the losses of a trace that was made of others began and ended, out of ktr/losses.jsonl. In a trace that a
 * writer wrote, packets tell: events are missing between the last one of a packet and the first one of the next.
 * Where traces were merged, these may be of another program.
 */
#ifndef ANALYZE_TRACE_LOSSES_H
#define ANALYZE_TRACE_LOSSES_H

#include "analyze/read/lines.h"
#include "analyze/read/trace_cursor.h"

/* [lines] More are not kept: packets tell of the rest. 10 MiB. */
#define KTR__TRACE_LOSSES_MAX (1u << 18)

struct ktr__trace_loss {
	uint32_t number; /* of the stream */
	uint32_t kind;
	uint64_t seq; /* of the packet after it */
	uint64_t n_events;
	uint64_t from_ns;
	uint64_t to_ns;
};

struct ktr__trace_losses {
	struct ktr__trace_loss *loss; /* owned; by stream and packet, and then as they were written */
	uint32_t n, room;
};

/* Reads them; *out is owned, and NULL without a line. 0 or -errno with err filled. */
int ktr__trace_losses_read(struct ktr__trace_losses **out, struct ktr__lines *lines);
void ktr__trace_losses_free(struct ktr__trace_losses *losses);

/*
 * Reports what is lost before packet `seq` of the stream: as the lines tell it, if they tell of as many events, or
 * else as one loss from from_ns to to_ns.
 */
void ktr__trace_lost(struct ktr__trace_cursor *t, uint64_t seq, uint64_t n_events, uint64_t from_ns,
		     uint64_t to_ns);

#endif
