/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that programs make as they run stay with the trace: the files that have them are of this machine.
 */
#ifndef TOOLS_RUN_CODE_H
#define TOOLS_RUN_CODE_H

/* After the last event. What there is not is no error. */
void run_code_keep(const char *command, const char *trace);

#endif
