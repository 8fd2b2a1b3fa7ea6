/* SPDX-License-Identifier: BSD-2-Clause */
/* Scopes and probed functions as the calls that they are, nested, as `uftrace replay` prints them. */
#ifndef TOOLS_DUMP_CALLS_H
#define TOOLS_DUMP_CALLS_H

#include "analyze/print/out.h"
#include "tools/walk.h"

/* Prints what the walk comes by. 0, or 1 after a complaint. header: a line with the columns' names. */
int dump_calls(struct walk *walk, struct ktr__out *out, int header);

#endif
