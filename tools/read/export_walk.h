/* SPDX-License-Identifier: BSD-2-Clause */
/* A walk written in another format. */
#ifndef TOOLS_EXPORT_WALK_H
#define TOOLS_EXPORT_WALK_H

#include "tools/walk.h"
#include "visualize/export/export.h"

/*
 * Writes what the open walk has to a file, "-" for standard output, and closes the walk. The exit status; what
 * failed has been said.
 */
int export_walk(struct walk *walk, const struct ktr__export_format *format, const char *output);

#endif
