/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of a folder, followed side by side. */
#ifndef SHIP_FOLLOW_H
#define SHIP_FOLLOW_H

#include "tools/ship/ship.h"

/* One trace: prints what has gone. */
void ship_tell(const struct ship *ship);

/*
 * Ships what traces there are in a folder and what comes, in traces that come, too, until ^C or SIGTERM. like: how;
 * copied for each. The exit status.
 */
int ship_follow(const struct ship *like, const char *folder);

#endif
