/* SPDX-License-Identifier: BSD-2-Clause */
/* Switching run-time probes by their rows of a session, whoever has it mapped to write. */
#ifndef KTR_PROBE_ROWS_H
#define KTR_PROBE_ROWS_H

#include "ktr/session/session_rw.h"

#include <ktr/error.h>

/* "custom"; "none", "unknown" for what is no type. */
const char *ktr__probe_type_text(uint32_t type);

/*
 * Switches the probe of a row: a store into its word, which the points of all its processes test. Before one is
 * switched on, what recording it needs is made: the class in the mask, rings, and for fires by handle a call site.
 * 0 or -errno, err filled.
 */
int ktr__probe_row_switch(struct ktr__session_rw *session, uint32_t row, int on, struct ktr_error *err);

#endif
