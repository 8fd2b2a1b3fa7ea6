/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer that kills itself. Linked with -Wl,--wrap=ktr__sys the program's writer calls the system through a table
 * that counts its calls: behind the one asked for the process is killed, or within it, if that is a write, where
 * the kernel had reached the end of a page of the file.
 */
#ifndef KILL_STOPS_H
#define KILL_STOPS_H

#include <stdint.h>

#define STOPS_FD  9	/* the memory that driver and victim share begins with this */
#define STOPS_MAX 4096u /* calls */

struct stops {
	uint32_t at;   /* the last call, from 1 on; 0: none */
	uint32_t tear; /* 0: it is done whole; else so many pages of the file are reached, the last one in vain */
	uint32_t n;    /* calls so far */
	uint32_t full; /* calls that found the disk full */
	uint8_t n_pages[STOPS_MAX]; /* that a call, a write, goes to behind its first */
};

#endif
