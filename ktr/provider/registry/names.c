/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table with chains, which is made twice as large when it is full. Without memory chains become longer. */
#include "ktr/provider/registry/names.h"

#include <stdlib.h>
#include <string.h>

static struct ktr__offered *names_one; /* the table of one bucket that it begins as */
static struct ktr__offered **names_bucket = &names_one;
static uint32_t names_n_buckets = 1, names_n;

/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t names_hash(const struct ktr_provider *provider, const char *module, const char *function,
			   const char *name)
{
	const char *const part[] = { provider->name, module, function, name };
	uint32_t hash = 0x811c9dc5u;

	for (int i = 0; i < 4; i++) {
		for (const char *at = part[i]; *at; at++)
			hash = (hash ^ (uint8_t)*at) * 0x01000193u;
		hash *= 0x01000193u;
	}
	return hash ^ hash >> 15;
}

static struct ktr__offered **names_at(const struct ktr_provider_probe *probe)
{
	return &names_bucket[names_hash(probe->provider, probe->module, probe->function, probe->name) &
			     (names_n_buckets - 1)];
}

static void names_link(struct ktr__offered *offered)
{
	struct ktr__offered **at = names_at(&offered->probe);

	offered->chain = *at;
	*at = offered;
}

static void names_grow(void)
{
	uint32_t n = names_n_buckets;
	struct ktr__offered **old = names_bucket, **grown = calloc(2 * (size_t)n, sizeof(struct ktr__offered *));

	if (!grown)
		return;
	names_bucket = grown;
	names_n_buckets = 2 * n;
	for (uint32_t i = 0; i < n; i++)
		for (struct ktr__offered *at = old[i], *next; at; at = next) {
			next = at->chain;
			names_link(at);
		}
	if (old != &names_one)
		free(old);
}

struct ktr__offered *ktr__names_find(const struct ktr_provider *provider, const char *module, const char *function,
				     const char *name)
{
	uint32_t hash = names_hash(provider, module, function, name);
	struct ktr__offered *at = names_bucket[hash & (names_n_buckets - 1)];

	while (at && (at->probe.provider != provider || strcmp(at->probe.function, function) != 0 ||
		      strcmp(at->probe.name, name) != 0 || strcmp(at->probe.module, module) != 0))
		at = at->chain;
	return at;
}

void ktr__names_add(struct ktr__offered *offered)
{
	if (++names_n > names_n_buckets)
		names_grow();
	names_link(offered);
}

void ktr__names_remove(struct ktr__offered *offered)
{
	struct ktr__offered **at = names_at(&offered->probe);

	while (*at != offered)
		at = &(*at)->chain;
	*at = offered->chain;
	names_n--;
}
