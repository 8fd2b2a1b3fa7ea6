/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds what a reader prints against what the oracle says.
 */
#ifndef STRANGERS_LOOK_H
#define STRANGERS_LOOK_H

#include "oracle.h"

#include <stdbool.h>

#define LOOK_SEEN 4096u /* events of a row, at most */

struct look {
	const struct oracle *oracle;
	const char *ktr;
	uint8_t *seen;	/* [ORACLE_ROWS][LOOK_SEEN] how often each event was read */
	uint32_t next[ORACLE_ROWS]; /* the number that the row's next event has at least */
	uint64_t lost;	/* [events] as all sources say */
	unsigned n_faults; /* told of so far */
};

/* Tells of a fault: in the cell's report, the first few of them. */
void look_fault(struct look *look, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Forgets what was read: the next source shall hold everything anew. */
void look_begin(struct look *look, const struct oracle *oracle, const char *ktr);
/* Reads a trace or a session as `ktr json` prints it. */
void look_read(struct look *look, const char *path);
/* Is everything there? what: a word for the source, which is a trace, or all sessions. */
void look_end(struct look *look, const char *what);

#endif
