/* SPDX-License-Identifier: BSD-2-Clause */
/* What --heap of `ktr run` and `ktr attach` stands for. */
#ifndef TOOLS_ASK_HEAP_H
#define TOOLS_ASK_HEAP_H

#include <stdio.h>

/* Of an option, at: a const char *. 0, or the exit status after a complaint. */
int ask_heap_take(void *at, const char *what, const char *text, char **argv);

/* Writes the probes that it stands for. */
void ask_heap_probes(FILE *to, const char *what);

#endif
