/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the store as a trace again: fetch_skeleton.c makes what describes it, fetch_events.c writes events and
 * losses.
 */
#ifndef FLEET_FETCH_H
#define FLEET_FETCH_H

#include "tools/fleet/store.h"

#include <ktr/reader.h>

struct fetch {
	struct store *store;
	const char *command;
	const char *output;
	/* Which trace, and what of it: [from, to) in nanoseconds of UTC. */
	char host[256];
	char trace[37];
	int64_t from_ts, to_ts;
	int64_t utc_offset_ns;
	uint32_t n_cpus;
	/* Its description, opened as a trace without events. */
	char *skeleton; /* owned: a folder that is removed in the end */
	struct ktr_reader *reader;
	uint64_t n_events, n_lost;
};

/* The longest texts that are taken. [bytes] */
#define FETCH_LINE_MAX	  ((size_t)1 << 18)
#define FETCH_SIDECAR_MAX ((size_t)1 << 30) /* of all lines */

#endif
