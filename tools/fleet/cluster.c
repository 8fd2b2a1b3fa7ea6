/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/cluster.h"

#include "tools/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CLUSTER_NO_SHARD 279 /* what the server says: ALL_CONNECTION_TRIES_FAILED */

int cluster_is_name(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	return name[0] && !name[strspn(name, good)];
}

/* A number. 0 or -errno with err filled. */
static int cluster_number(struct store *store, const char *query, uint64_t *number, struct ktr_error *err)
{
	struct store_answer answer;
	int rc = 0;

	if (store_ask_patiently(store, query, &answer) != STORE_DONE)
		rc = store_explain(store, &answer, err);
	else if (store_number(&answer, number))
		rc = ktr_error_set(err, EPROTO, "%s does not answer with a number", store->shown);
	store_answer_free(&answer);
	return rc;
}

int cluster_look(struct store *store, struct ktr_error *err)
{
	const char *database = store->options.database;
	uint64_t is_spread = 0;
	char query[300];
	int rc;

	snprintf(query, sizeof(query),
		 "SELECT count() FROM system.tables WHERE database = '%s' AND name = 'cluster' FORMAT TabSeparated",
		 database);
	rc = cluster_number(store, query, &is_spread, err);
	if (rc || !is_spread)
		return rc;
	store->is_spread = 1;
	snprintf(query, sizeof(query), "SELECT max(shards) FROM %s.cluster FORMAT TabSeparated", database);
	return cluster_number(store, query, &store->n_shards, err);
}

/* From here on answers are of the shards that are there. */
static void cluster_skip(struct store *store)
{
	struct ktr_error err = KTR_ERROR_NONE;
	uint64_t n = 0;
	char query[200];

	store->skips_shards = 1;
	snprintf(query, sizeof(query), "SELECT count() FROM %s.shards FORMAT TabSeparated", store->options.database);
	cluster_number(store, query, &n, &err);
	/* One has not answered, whatever it does now. */
	store->n_away = n < store->n_shards ? store->n_shards - n : 1;
}

enum store_outcome cluster_ask(struct store *store, const char *query, struct store_answer *answer)
{
	if (!store->is_spread || store->skips_shards)
		return store_ask_patiently(store, query, answer);
	if (store_ask(store, query, NULL, NULL, answer) == STORE_DONE)
		return STORE_DONE;
	if (answer->code == CLUSTER_NO_SHARD)
		cluster_skip(store);
	store_answer_free(answer);
	return store_ask_patiently(store, query, answer);
}

int cluster_status(const struct store *store)
{
	if (!store->n_away)
		return 0;
	return fail(store->command, "%" PRIu64 " of the %" PRIu64 " shards of %s did not answer: this is of the rest",
		    store->n_away, store->n_shards, store->options.database);
}
