/* SPDX-License-Identifier: BSD-2-Clause */
/* What views by the minute may have missed of a block. */
#ifndef SHIP_MEND_H
#define SHIP_MEND_H

#include "tools/ship/ship.h"

/*
 * The part is there, and nobody heard the server say so: if its rows are in the table and not in the view that
 * counts them, the view gets them. 0 or -errno with err filled.
 */
int ship_mend(struct ship *ship, const struct ship_part *part, uint64_t until, struct ktr_error *err);

#endif
