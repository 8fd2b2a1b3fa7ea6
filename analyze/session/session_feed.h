/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session that is being read from: kept open as long as its reader. It stands alone, or is what a
 * trace goes on with (join.h).
 */
#ifndef ANALYZE_SESSION_FEED_H
#define ANALYZE_SESSION_FEED_H

#include "analyze/session/session_cursor.h"
#include "ktr/session/session_map.h"

/* Where a ring is to be read from: after what a trace has of it. */
struct ktr__session_start {
	struct ktr__ring_cursor cursor;
	uint64_t index;   /* [events] running number of the next event */
	uint64_t time_ns; /* of the last event before */
	uint64_t dropped; /* [events] that have been told */
};

/* What the entries of a site leave to its row. A trace that the session goes on with has no need of it. */
struct ktr__session_site {
	const char *literals; /* ktr__literal(); in the tables' arena */
	uint8_t in_literals;  /* bit i: argument i is one of them */
	uint8_t is_read;
};

struct ktr__session_feed {
	struct ktr__event_source *source;
	struct ktr__session_map map;
	struct ktr_control control;
	struct ktr_trace_clock clock;
	char *path; /* owned */
	const struct ktr__session_start
		*start; /* by ring while it is opened; NULL: from the start of recording */
	struct ktr__session_cursor **cursor; /* owned; by ring, NULL where there is none yet */
	uint64_t *head;                      /* owned; by ring, when last looked at */
	uint32_t n_rings;
	uint32_t n_seen[KTR_REGIONS]; /* rows of the tables that have been read */
	struct ktr__session_site *site; /* owned; by id */
	uint32_t n_sites;
	uint64_t asked_ns;            /* follow: when it was last asked whether it lives */
	int alive;
	int joins; /* it goes on with a trace */
	struct ktr_error *err;
};

#endif
