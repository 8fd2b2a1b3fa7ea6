/* SPDX-License-Identifier: BSD-2-Clause */
/* Who goes on in a session when the program that `ktr run` started has ended: daemons, and other programs. */
#ifndef TOOLS_RUN_LIVE_H
#define TOOLS_RUN_LIVE_H

#include <limits.h>
#include <stdint.h>

struct run_live {
	uint32_t pid; /* of one that goes on, the one that writes the trace if it can be told; 0: not known */
	char name[16];
	char session[NAME_MAX + 1]; /* its name */
};

/* Is anybody left in the session at path? 1 with *live filled, or 0. */
int run_live(const char *path, struct run_live *live);

/* Who goes on, and what to type to see it: "; process 4711 (indexer) goes on: ktr tail -s indexer.4710". */
void run_live_text(const struct run_live *live, char *text, int size);

#endif
