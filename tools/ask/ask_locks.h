/* SPDX-License-Identifier: BSD-2-Clause */
/* What --lock of `ktr run` and `ktr attach` may ask for. */
#ifndef TOOLS_ASK_LOCKS_H
#define TOOLS_ASK_LOCKS_H

#include <stdio.h>

/* Of an option, to: a const char *. 0, or the exit status after a complaint: some are no kinds. */
int ask_locks_take(void *to, const char *what, const char *kinds, char **argv);

/* Writes the probes that they stand for, separated by commas. All of them are kinds. */
void ask_locks_probes(FILE *to, const char *kinds);

#endif
