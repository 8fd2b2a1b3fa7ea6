/* SPDX-License-Identifier: BSD-2-Clause */
/* What a drain looks at now and then. */
#ifndef WRITER_UPKEEP_H
#define WRITER_UPKEEP_H

#include "writer/drain.h"

/*
 * Looks at everything if a second has passed. Sets drain->full; clears drain->begun if the trace is
 * gone.
 */
void ktr__upkeep(struct ktr__drain *drain, uint64_t now);

/* Takes over what the rings say was dropped, and tells where the clocks are. */
void ktr__upkeep_dropped(struct ktr__drain *drain);
void ktr__upkeep_anchor(struct ktr__drain *drain);

#endif
