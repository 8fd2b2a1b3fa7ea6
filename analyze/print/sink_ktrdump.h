/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as FreeBSD's ktrdump(8) prints them: its columns, in its order and widths.
 *
 *	index  cpu timestamp        file and line                            tid                trace
 *	------ --- ---------------- ---------------------------------------- ------------------ -----
 *	  1023   1   38123456789012 kern/sched_ule.c:2158                    100101             text
 */
#ifndef ANALYZE_SINK_KTRDUMP_H
#define ANALYZE_SINK_KTRDUMP_H

#include "analyze/print/out.h"

#include <ktr/reader.h>

/* Columns between index and text, in this order. */
#define KTR__KTRDUMP_CPU    1u
#define KTR__KTRDUMP_TIME   2u
#define KTR__KTRDUMP_WHERE  4u
#define KTR__KTRDUMP_THREAD 8u

struct ktr__sink_ktrdump {
	struct ktr_sink sink; /* hand this to the walk */
	/* Filled in by the user. */
	struct ktr__out *out; /* borrowed */
	unsigned columns;
	int relative;   /* the time between a line and the one above it */
	uint64_t index; /* of the next line, */
	int step;       /* and what is added to it: 1, or -1 for newest first */
	/* Its own. */
	uint64_t n_events;
	uint64_t n_lost;
	uint64_t last_ns;
};

/* Sets the callbacks. */
void ktr__sink_ktrdump_init(struct ktr__sink_ktrdump *dump);

/* Prints the two lines above the first. */
void ktr__ktrdump_header(struct ktr__out *out, unsigned columns);

/* One line, with a text that is not the event's own. 0 or -errno. */
int ktr__ktrdump_line(struct ktr__sink_ktrdump *dump, const struct ktr_event *event,
		      const char *text, size_t n);

#endif
