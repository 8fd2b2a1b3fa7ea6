/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.ktr.verbose: events as lines of text, printed by the writer thread while the program runs.
 *
 *	cpu1 got 12 bytes from left			1, as FreeBSD prints it
 *	cpu1 net.c.88	got 12 bytes from left		2
 *
 * The rings are only read, with cursors of its own; what was overwritten before it was printed is a line
 * too. One thread uses one echo.
 */
#ifndef WRITER_ECHO_H
#define WRITER_ECHO_H

#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

struct ktr__echo;

/* Begins at the present heads. source: base or fd; only for this call. NULL: no memory. */
struct ktr__echo *ktr__echo_open(const struct ktr__ring_source *source);
void ktr__echo_close(struct ktr__echo *echo);

/*
 * Prints what has been recorded since the last round, in time order over all rings, a line at a time with
 * its newline, at most a few thousand lines. 1: there is more.
 */
int ktr__echo_round(struct ktr__echo *echo, const struct ktr__session_map *map, const void *base,
		    unsigned level, void (*print)(void *context, const char *line, size_t n_bytes),
		    void *context);

#endif
