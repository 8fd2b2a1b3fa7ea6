/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_LOCKSTAT_JSON_H
#define TOOLS_LOCKSTAT_JSON_H

#include "tools/lockstat/lockstat_names.h"

/*
 * All that the tables have, and what is said in words, as one object. 0, -ENOMEM, or -EIO: it cannot be written
 * there.
 */
int lockstat_json(const struct lockstat_view *view, FILE *to);

#endif
