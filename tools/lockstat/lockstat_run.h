/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_LOCKSTAT_RUN_H
#define TOOLS_LOCKSTAT_RUN_H

/*
 * Runs "ktr run --agent --lock KINDS -- PROGRAM ..." and waits for its end: the trace is ./ktr.out then. 0, or the exit
 * status after a complaint where the program could not be started. What the terminal sends is for the program.
 */
int lockstat_run(const char *command, const char *kinds, char **program);

#endif
