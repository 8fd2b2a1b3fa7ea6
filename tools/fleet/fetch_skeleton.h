/* SPDX-License-Identifier: BSD-2-Clause */
/* What describes a trace, out of the table of its lines. */
#ifndef FLEET_FETCH_SKELETON_H
#define FLEET_FETCH_SKELETON_H

#include "tools/fleet/fetch.h"

/* Makes it in a folder of its own and opens it. 0 or -errno with err filled. */
int fetch_skeleton(struct fetch *fetch, struct ktr_error *err);

/* Closes it and removes the folder. */
void fetch_skeleton_remove(struct fetch *fetch);

#endif
