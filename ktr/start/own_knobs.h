/* SPDX-License-Identifier: BSD-2-Clause */
/* Knobs that programs have in their sessions, as whoever attaches to one sees them. */
#ifndef KTR_OWN_KNOBS_H
#define KTR_OWN_KNOBS_H

#include <ktr/conf.h>

#include "ktr/session/session_rw.h"

struct ktr__shared_knob {
	struct ktr_knob row;
	struct ktr_knobs table;
	char text[3][KTR_KNOB_NAME_BYTES]; /* name, help, unit */
};

/* Fills *knob, whose number is the session's, from a row. False: there is none, or it makes no sense. */
bool ktr__shared_knob(const struct ktr__session_rw *session, uint32_t index, struct ktr__shared_knob *knob);

#endif
