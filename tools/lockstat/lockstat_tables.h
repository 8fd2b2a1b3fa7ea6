/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_LOCKSTAT_TABLES_H
#define TOOLS_LOCKSTAT_TABLES_H

#include "tools/lockstat/lockstat_names.h"

/* 0 or -ENOMEM. */
int lockstat_tables(const struct lockstat_view *view, FILE *to);

/* The title of a table of places, and which of LOCKSTAT_* it belongs to. */
const char *lockstat_title_of(unsigned kind, unsigned *shown);

#endif
