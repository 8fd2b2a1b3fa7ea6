/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions and traces made by hand, for tests of those who read them: events are put into the
 * rings of an image as the recorder would, and traces are drained from it by the writer.
 *
 *	made_open(&made);
 *	site = made_site(&made, KTR_NET, "net.c", 42, "got %d of %s", "n,name", 2, KTR_ARG_I32,
 *			 KTR_ARG_STR);
 *	made_event(&made, 0, 1000, site, 1, -3, "abc");
 *	made_trace(&made);
 *	...	made.session, made.trace are paths
 *	made_close(&made);
 *
 * The clock is CLOCK_MONOTONIC, so that ticks are nanoseconds. Rings 0 and 1 are the main rings
 * of CPU 0 and 1, 2 and 3 their keep rings.
 */
#ifndef TESTS_MADE_H
#define TESTS_MADE_H

#include "test_image.h"

#include <ktr/reader.h>

#define MADE_LOG2 9 /* [log2 entries] of each ring */

struct made {
	struct image image;
	uint64_t slots[2 * IMAGE_RINGS];
	uint64_t conts[2 * IMAGE_RINGS];
	uint8_t type[IMAGE_ROWS][KTR_ARGS_MAX];
	uint8_t how[IMAGE_ROWS][KTR_ARGS_MAX];
	char dir[64]; /* holds both */
	char session[96];
	char trace[96];
	struct ktr__session_map *map;
	struct ktr__drain *drain;
};

void made_open(struct made *made);
void made_close(struct made *made); /* removes the files */

/* Arguments: int types, one per argument. Returns the site's id. */
uint32_t made_site(struct made *made, uint64_t mask, const char *file, uint32_t line,
		   const char *format, const char *names, unsigned n_args, ...);
uint32_t made_thread(struct made *made, uint32_t tid, uint32_t pid, const char *name);

/* Arguments by the site's types: const char * (may be NULL) for copied strings, else uint64_t. */
void made_event(struct made *made, unsigned ring, uint64_t ticks, uint32_t site, uint32_t thread,
		...);

/* Writes the session file as it is now. */
void made_session(struct made *made);

/*
 * Takes what is new into the trace, which it begins the first time: one packet for each ring that
 * has something. Call it again after more events. made_trace() does it, and ends the trace.
 */
void made_drain(struct made *made);
void made_trace(struct made *made);

/*
 * Does ktr_reader_count() say as much as the walk whose lines are given? As many events, and each loss and
 * note once.
 */
int made_counts(const char *path, const struct ktr_reader_options *options, const char *lines);

/* Everything a walk says, a line each; the caller frees it. NULL when the source does not open. */
char *made_walk(const char *path, const struct ktr_reader_options *options);

#endif
