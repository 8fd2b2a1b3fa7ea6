/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_LOCKSTAT_TOLD_H
#define TOOLS_LOCKSTAT_TOLD_H

#include "tools/lockstat/lockstat_names.h"

/* Who still waits, and what there is to say of locks. */
void lockstat_tell(const struct lockstat_view *view, FILE *to);

#endif
