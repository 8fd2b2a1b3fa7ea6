/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Going on with a trace whose writer has died, from where each stream ends: without duplicates, and
 * with every missing event counted. What is torn is cut off.
 */
#ifndef WRITER_RESUME_H
#define WRITER_RESUME_H

#include "writer/drain.h"

/*
 * Opens the drain's trace and sets its rings, clock and descriptions to where the trace ends. 0 or
 * -errno with err filled: -EBUSY (it is being written), -ESTALE (a trace of another session),
 * -EPROTO (its info is damaged).
 */
int ktr__resume(struct ktr__drain *drain, struct ktr_error *err);

#endif
