/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr run --heap` stands for. */
#ifndef TOOLS_RUN_HEAP_H
#define TOOLS_RUN_HEAP_H

#include <stdio.h>

/* Of an option, at: a const char *. 0, or the exit status after a complaint. */
int run_heap_take(void *at, const char *what, const char *text, char **argv);

/* Writes the probes that it stands for. */
void run_heap_probes(FILE *to, const char *what);

#endif
