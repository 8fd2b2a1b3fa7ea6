/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that are spread over a cluster's shards: a database of Distributed tables, which ktr ship --create makes
 * with --cluster beside those that each shard has. In it are also `shards`, of one row for each shard that answers,
 * and `cluster`, which tells how many there are.
 */
#ifndef FLEET_CLUSTER_H
#define FLEET_CLUSTER_H

#include "tools/fleet/store.h"

#define CLUSTER_SUFFIX "_all" /* the database of "ktr" is "ktr_all" */

/* Looks whether the store's database is one, and of how many shards. 0 or -errno with err filled. */
int cluster_look(struct store *store, struct ktr_error *err);

/*
 * store_ask_patiently(), of all shards; where one does not answer, of the rest from then on, and store->n_away is
 * how many did not. The server itself says so, because asking for who is there tells of that moment alone.
 */
enum store_outcome cluster_ask(struct store *store, const char *query, struct store_answer *answer);

/* Can a cluster, or a database, be called so? Letters, digits and _. */
int cluster_is_name(const char *name);

/* Says that shards did not answer, if it is so: the exit status. */
int cluster_status(const struct store *store);

#endif
