/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a killed writer has left: read by foreign readers as it lies, by ours, and joined with its session. The
 * threads that wrote it number their events, and note in shared memory what has returned.
 */
#ifndef KILL_LEFT_H
#define KILL_LEFT_H

#include "tests/kill/stops.h"

#include <ktr/reader.h>

#include <stdint.h>
#include <sys/types.h>

#define LEFT_THREADS  2
#define LEFT_LITERAL  "as the site says"
#define LEFT_TEXT_MAX 200
#define LEFT_SHORT    25 /* what an event of two numbers has room for, and its NUL */

/* Shared by driver and victim. */
struct left_shared {
	struct stops stops;
	uint32_t go;
	uint32_t stop;
	uint64_t most; /* events of each thread; 0: until it is stopped */
	char session[256]; /* path */
	struct {
		uint64_t begun;
		uint64_t done;
		uint64_t pad[6];
	} thread[LEFT_THREADS];
};

struct left {
	struct left_shared *shared;
	const char *ktr; /* the command */
	const char *dir; /* of the trace, and of a file for what commands say */
	char trace[300]; /* the trace's path */
	int from_start; /* 1: it was begun with the session, so that it counts what was overwritten before it */
	/* Added up: */
	uint64_t events;
	uint64_t lost;
	uint64_t n_opened; /* directories that foreign readers have opened */
	uint64_t n_between; /* kills between the two steps of a rotation: no trace has the name */
};

/* "T N" of a thread's number, and after that as many dots as N says, below n bytes with its NUL. */
void left_text(char *text, unsigned thread, uint64_t number, size_t n);

/* Memory for the numbers found. 0 or -1. */
int left_prepare(void);

/* Events noted as recorded. */
uint64_t left_noted(const struct left *left);

/* Starts a command, or runs it: its output goes to a file, DIR/out. run: the status of wait(2). */
pid_t left_spawn(const struct left *left, const char *const *argv);
int left_run(const struct left *left, const char *const *argv);

/*
 * babeltrace2 and babeltrace open each directory there is, the trace and what rotation has moved away, and say
 * nothing but of discarded events. 0, or 1 with the fault said.
 */
int left_foreign(struct left *left);

/* Reads the trace, salvages it, reads it again and its session. 0, or 1 with the fault said. */
int left_check(struct left *left);

#endif
