/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_AGENT_RUN_H
#define TOOLS_AGENT_RUN_H

/*
 * Runs "ktr run --agent OPTION VALUE -- PROGRAM ..." and waits for its end: the trace is ./ktr.out then. 0, or the
 * exit status after a complaint where the program could not be started. What the terminal sends is for the program.
 */
int agent_run(const char *command, const char *option, const char *value, char **program);

#endif
