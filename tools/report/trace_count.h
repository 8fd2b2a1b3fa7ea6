/* SPDX-License-Identifier: BSD-2-Clause */
/* How many events a trace holds and how many it says are missing, from its packet headers and what describes it. */
#ifndef TOOLS_TRACE_COUNT_H
#define TOOLS_TRACE_COUNT_H

#include <ktr/session.h>

#include <stdint.h>

struct trace_count {
	uint64_t events;
	uint64_t lost; /* of rings, and those dropped */
	uint64_t dropped[KTR_DROPS]; /* that went into no ring, by reason: ktr/session/drop.h */
};

/* Returns 0, or -errno when the directory cannot be read. */
int trace_count(const char *path, struct trace_count *count);

#endif
