/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a host says of its events, outside of ktr: a file that all its processes map, with a row for each
 * thread of each process that records. A row belongs to whoever's atomic add returned its number; it is written by
 * its thread alone, and read when everybody has ended. No handler has to run for what stands there to be true, so
 * it holds for processes that end in any way.
 */
#ifndef STRANGERS_ORACLE_H
#define STRANGERS_ORACLE_H

#include <stdint.h>

#define ORACLE_ROWS 1000u

/* What is to become of the events of a row. */
enum oracle_fate {
	ORACLE_KEPT,	/* each is recorded */
	ORACLE_DROPPED, /* none is recorded, all are counted: a child of vfork(2) */
	ORACLE_EITHER,	/* recorded, or dropped and counted: where ktr cannot ask the kernel for what it lacks */
};

struct oracle_row {
	uint32_t pid; /* as the kernel says them to the thread itself */
	uint32_t tid;
	uint32_t begun; /* [events] set before the event */
	uint32_t done;	/* [events] set behind it */
	uint32_t fate;	/* enum oracle_fate */
	uint32_t number;
};

struct oracle {
	uint32_t n_rows; /* +1 by whoever takes a row */
	uint32_t met;	 /* calls of meet() */
	uint32_t failed; /* the line of a host where something else than ktr went wrong; 0: none */
	uint32_t clean;	 /* the last process ends by exit(3), and may remove what ktr made */
	struct oracle_row row[ORACLE_ROWS];
};

#endif
