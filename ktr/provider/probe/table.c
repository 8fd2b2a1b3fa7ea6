/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table with chains, which is made twice as large when it is full; and two arrays. */
#include "ktr/provider/probe/table.h"

#include "ktr/provider/probe/fire.h"
#include "ktr/provider/probe/probe_site.h"
#include "ktr/provider/probe/shared.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct ktr_class ktr_class_probe __attribute__((visibility("default"))) = { 0, KTR__PROBE_CLASS,
									     KTR__PROBE_CLASS_HELP };

const uint32_t ktr__probe_zero;

static struct ktr_probe **table_bucket; /* by type and name; a power of two */
static uint32_t table_n_buckets;
static struct ktr_probe **table_index; /* by index, from 1 */
static uint32_t table_n;	       /* probes there ever were, and 1 */
static uint32_t table_room;
static struct ktr_probe **table_id; /* by id */
static uint32_t table_n_ids = 1, table_id_room;

static bool table_grow(struct ktr_probe ***array, uint32_t *room, uint32_t n)
{
	uint32_t more = *room ? 2 * *room : 256;
	struct ktr_probe **grown;

	if (n < *room)
		return true;
	grown = realloc(*array, more * sizeof(struct ktr_probe *));
	if (!grown)
		return false;
	memset(grown + *room, 0, (more - *room) * sizeof(struct ktr_probe *));
	*array = grown;
	*room = more;
	return true;
}

struct ktr_probe *ktr__probe_table_find(uint32_t type, const char *name)
{
	struct ktr_probe *probe = NULL;

	if (table_n_buckets)
		probe = table_bucket[ktr__probe_hash(type, name) & (table_n_buckets - 1)];
	while (probe && (probe->type != type || strcmp(probe->name, name) != 0))
		probe = probe->chain;
	return probe;
}

static void table_link(struct ktr_probe *probe)
{
	uint32_t hash = ktr__probe_hash(probe->type, probe->name);
	struct ktr_probe **at = &table_bucket[hash & (table_n_buckets - 1)];

	probe->chain = *at;
	*at = probe;
}

static bool table_rehash(void)
{
	uint32_t n = table_n_buckets ? 2 * table_n_buckets : 256;
	struct ktr_probe **bucket;

	if (table_n < table_n_buckets)
		return true;
	bucket = calloc(n, sizeof(struct ktr_probe *));
	if (!bucket)
		return table_n_buckets != 0; /* chains become longer */
	free(table_bucket);
	table_bucket = bucket;
	table_n_buckets = n;
	for (uint32_t i = 1; i < table_n; i++)
		table_link(table_index[i]);
	return true;
}

struct ktr_probe *ktr__probe_table_make(uint32_t type, const char *name, const char *function)
{
	struct ktr_probe *probe;

	if (!table_n)
		table_n = 1;
	if (!table_grow(&table_index, &table_room, table_n) || !table_rehash())
		return NULL;
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return NULL;
	probe->name = strdup(name);
	probe->function = strdup(function ? function : "");
	if (!probe->name || !probe->function) {
		free((char *)(uintptr_t)probe->name);
		free((char *)(uintptr_t)probe->function);
		free(probe);
		return NULL;
	}
	probe->type = type;
	probe->on = &ktr__probe_zero;
	probe->word = &probe->own_on;
	probe->site.format = "";
	/* All of the site but its number, which firing may find in the session. */
	probe->site.cls = &ktr_class_probe;
	probe->site.file = KTR__PROBE_SITE_FILE;
	probe->site.func = probe->name;
	probe->site.names = KTR__PROBE_SITE_NAMES;
	probe->site.line = type;
	probe->site.n_args = KTR_ARGS_MAX;
	memset(probe->site.type, KTR_ARG_U64, sizeof(probe->site.type));
	probe->index = table_n;
	table_index[table_n++] = probe;
	ktr__probe_place(probe);
	table_link(probe);
	return probe;
}

struct ktr_probe *ktr__probe_table_next(const struct ktr_probe *probe)
{
	uint32_t index = probe ? probe->index + 1 : 1;

	return index < table_n ? table_index[index] : NULL;
}

struct ktr_probe *ktr__probe_table_at(uint32_t index)
{
	return index && index < table_n ? table_index[index] : NULL;
}

bool ktr__probe_table_give_id(struct ktr_probe *probe)
{
	if (!table_grow(&table_id, &table_id_room, table_n_ids))
		return false;
	probe->id = table_n_ids;
	table_id[table_n_ids++] = probe;
	return true;
}

void ktr__probe_table_take_id(struct ktr_probe *probe)
{
	table_id[probe->id] = NULL;
	probe->id = 0;
}

struct ktr_probe *ktr__probe_table_of_id(uint32_t id)
{
	return id && id < table_n_ids ? table_id[id] : NULL;
}
