/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.ktr.verbose: events as lines of text, printed by the writer thread while the program runs.
 *
 *	cpu1 got 12 bytes from left			1, as FreeBSD prints it
 *	cpu1 net.c.88	got 12 bytes from left		2
 *
 * The rings are only read, with cursors of its own; what was overwritten before it was printed is a line
 * too. One thread uses one verbose.
 */
#ifndef WRITER_VERBOSE_H
#define WRITER_VERBOSE_H

#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

struct ktr__verbose;

/* Begins at the present heads. source: base or fd; only for this call. NULL: no memory. */
struct ktr__verbose *ktr__verbose_open(const struct ktr__ring_source *source);
void ktr__verbose_close(struct ktr__verbose *verbose);

/*
 * Prints what has been recorded since the last round, in time order over all rings, a line at a time with
 * its newline, at most a few thousand lines. 1: there is more.
 */
int ktr__verbose_round(struct ktr__verbose *verbose, const struct ktr__session_map *map, const void *base,
		    unsigned level, void (*print)(void *context, const char *line, size_t n_bytes),
		    void *context);

#endif
