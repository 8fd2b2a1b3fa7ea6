/* SPDX-License-Identifier: BSD-2-Clause */
/* What `ktr profile` says at the end, beside what `ktr run` does. */
#ifndef TOOLS_RUN_PROFILE_H
#define TOOLS_RUN_PROFILE_H

#include "tools/record/run_environment.h"

#include <stdint.h>

/*
 * The program has ended, and its trace has so many events. Says where its CPU time was where that cannot have been
 * it: in programs that it started, or became.
 */
void run_profile_say(const struct run *run, uint64_t n_events);

#endif
