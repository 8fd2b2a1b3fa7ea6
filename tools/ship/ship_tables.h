/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of what events refer to. */
#ifndef SHIP_TABLES_H
#define SHIP_TABLES_H

#include "tools/ship/ship.h"

/* Sends what events refer to, as far as it was not told before. 0 or -errno with err filled. */
int ship_tables(struct ship *ship, struct ktr_error *err);

#endif
