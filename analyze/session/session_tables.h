/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a session that is read from. */
#ifndef ANALYZE_SESSION_TABLES_H
#define ANALYZE_SESSION_TABLES_H

#include "analyze/session/session_feed.h"

#include <stdint.h>

/* Reads the rows that have come since the last time. Returns 0 or -errno. */
int ktr__session_tables(struct ktr__session_feed *feed);

/*
 * Tells threads and processes whose end is not exact of their latest event, whatever the walk's filter lets
 * pass.
 */
void ktr__session_ends(const struct ktr__session_feed *feed);

#endif
