/* SPDX-License-Identifier: BSD-2-Clause */
/* Events and losses of a window, written as a trace. */
#ifndef FLEET_FETCH_EVENTS_H
#define FLEET_FETCH_EVENTS_H

#include "tools/fleet/fetch.h"

/* fetch->reader tells what they refer to. 0 or -errno with err filled; there is no trace then. */
int fetch_events(struct fetch *fetch, struct ktr_error *err);

#endif
