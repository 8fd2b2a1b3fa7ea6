/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a session's rings the way a drain does and checks what every drain may rely on: entries whole,
 * time never backwards in a ring, no contradiction of counters. For tests that look at a session from
 * outside while, or after, it is written.
 */
#ifndef TESTS_STRESS_LOOK_H
#define TESTS_STRESS_LOOK_H

#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

#include <stdbool.h>

struct look_ring {
	struct ktr__ring_cursor cursor;
	uint64_t events;     /* handed to the caller */
	uint64_t lost;	     /* counted as missing */
	uint64_t cleared;    /* taken away by debug.ktr.clear */
	uint64_t pending;    /* of both, not yet told to the caller */
	uint64_t first_time; /* [ticks] of the first event handed out; 0: none yet */
	uint64_t time;	     /* [ticks] of the last */
	uint64_t ordinal;    /* of the next continuation; 0: not known */
};

/* As below, but for every event, whoever made it. */
typedef bool look_all_fn(void *context, uint32_t ring, const struct ktr_entry *entry, uint32_t n_conts);

struct look {
	struct ktr__session_map map;
	struct ktr__ring_source source;
	struct look_ring *ring;
	uint32_t n_rings; /* rows: main rings, then keep rings */
	int16_t *kinds;	  /* by site: enum event_kind, -1 not ours, -2 not asked yet */
	uint32_t n_sites;
	void *base;	  /* mapping, or NULL */
	look_all_fn *all; /* the caller may set it */
	bool foreign;	  /* the caller may set it: no event is of event.c's */
};

/* One event of event.c's: `lost` events of its ring are missing just before it. False stops the reading. */
typedef bool look_fn(void *context, uint32_t ring, const struct ktr_entry *entry, uint64_t id,
		     uint64_t seq, uint64_t lost);

/* Opens a session. mapped: reads rings through a mapping instead of pread(2). Prints why it cannot. */
bool look_open(struct look *look, const char *path, bool mapped);
void look_close(struct look *look);

/* Starts over: from the beginning of recording, or from the oldest entries there are now. */
void look_rewind(struct look *look, bool from_oldest);

/*
 * Reads every ring up to its present head. Returns the number of events, or -1 with the fault printed.
 * Events of other sites than event.c's are checked for time only.
 */
int64_t look_pass(struct look *look, look_fn *fn, void *context);

/* Events that the session counted as not recorded, all reasons together. */
uint64_t look_dropped(const struct look *look);

#endif
