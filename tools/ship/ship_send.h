/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches and blocks on their way. */
#ifndef SHIP_SEND_H
#define SHIP_SEND_H

#include "tools/ship/ship.h"

/* Sends the pending batch. resumed: it may be there, as a whole or in part. 0 or -errno with err filled. */
int ship_send(struct ship *ship, int resumed, struct ktr_error *err);

/* Sends a block of rows that replace themselves, and empties it. 0 or -errno with err filled. */
int ship_send_block(struct ship *ship, enum schema_table table, struct native_block *block, struct ktr_error *err);

/* Says on stderr how far the server's settings keep a block from being there twice. 0 or -errno with err filled. */
int ship_send_check(struct store *store, struct ktr_error *err);

#endif
