/* SPDX-License-Identifier: BSD-2-Clause */
/* A process at its end has no session any more while it is still there: what fails then has that reason. */
#ifndef TOOLS_ATTACH_ENDED_H
#define TOOLS_ATTACH_ENDED_H

#include <sys/types.h>

/*
 * What was asked of a process has failed with rc, -errno. Has the process ended? Where its session or itself was
 * not found, it has a second for that.
 */
int attach_has_ended(pid_t pid, int rc);

#endif
