/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr profile` says at the end, beside what `ktr run` does. */
#ifndef TOOLS_RUN_PROFILE_H
#define TOOLS_RUN_PROFILE_H

#include "tools/record/run_environment.h"

/*
 * The program has ended. Says where its CPU time was where most of it is not in the trace: in programs that it
 * started, or became.
 */
void run_profile_say(const struct run *run);

#endif
