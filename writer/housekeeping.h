/* SPDX-License-Identifier: BSD-2-Clause */
/* What a drain looks at now and then. */
#ifndef WRITER_HOUSEKEEPING_H
#define WRITER_HOUSEKEEPING_H

#include "writer/drain.h"

/* Events that are missing before the next packet of a stream. */
struct ktr__stream_loss {
	const char *why;
	uint64_t events;
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Writes a line about them. */
void ktr__housekeeping_tell(struct ktr__drain *drain, struct ktr__emit *emit, uint32_t row,
		      const struct ktr__stream_loss *loss);

/*
 * Lines about where in its ring each stream of a trace begins that does not begin with the session, and about what
 * is none of its business of events that went into no ring.
 */
void ktr__housekeeping_from(const struct ktr__drain *drain, struct ktr__emit *emit);

/* Looks at everything else if a second has passed. Sets drain->full. */
void ktr__housekeeping(struct ktr__drain *drain, uint64_t now);

/*
 * Is the trace still there, and under its name? Looks if a second has passed, or all is to be written. Clears
 * drain->begun if it has gone: then another is to be begun.
 */
void ktr__housekeeping_place(struct ktr__drain *drain, uint64_t now);

/* Takes over what the rings and the session say was dropped, and tells where the clocks are. */
void ktr__housekeeping_dropped(struct ktr__drain *drain);
void ktr__housekeeping_anchor(struct ktr__drain *drain);

#endif
