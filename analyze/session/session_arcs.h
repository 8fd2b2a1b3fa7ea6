/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that a session's processes have counted, ktr/provider/arcs/: who called whom how often. */
#ifndef ANALYZE_SESSION_ARCS_H
#define ANALYZE_SESSION_ARCS_H

#include "ktr/session/session_map.h"

#include <stdint.h>

/*
 * Who called whom. from: the return address. Addresses are the process's as it is, but that where `module` is not 0
 * the callee was of an object of that row, which has been unloaded.
 */
struct ktr__called {
	uint32_t proc; /* row of the process */
	uint32_t module;
	uint64_t from, to;
	uint64_t n;
};

/* Not 0: it ends, and is returned. */
typedef int ktr__arc_found(void *context, const struct ktr__called *arc);

/*
 * Calls back for each place of each table that has calls since the last reset; one pair of addresses may come
 * several times. In *n_uncounted calls that found no place. 0, or what ended it, or -errno of reading.
 */
int ktr__session_arcs(const struct ktr__session_map *map, ktr__arc_found *found, void *context,
		      uint64_t *n_uncounted);

#endif
