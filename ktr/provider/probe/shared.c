/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's table of probes: what `ktr probe` lists, and the words that it stores to and points test.
 *
 * What others write there is believed as far as bounds go: a word is 0 or not, a row's number lies in the table,
 * and a chain ends after as many rows as there are.
 */
#include "ktr/provider/probe/shared.h"

#include "ktr/provider/view/view.h"

#include <string.h>
#include <unistd.h>

#define SHARED_TRIES 1000 /* others link rows into the bucket that ours is for; each looks through a chain */

static const uint32_t shared_row_bytes[] = { sizeof(uint32_t), sizeof(struct ktr_probe_row),
					      sizeof(struct ktr_probe_counts) };
static struct ktr__view shared = { .first = KTR_REGION_probe_hash, .n = 3, .row_bytes = shared_row_bytes };

bool ktr__probe_share(bool *changed)
{
	return ktr__view_follow(&shared, changed);
}

static uint32_t shared_n_rows(void)
{
	return shared.header.region[KTR_REGION_probe].n_rows;
}

struct ktr_probe_row *ktr__probe_row_at(uint32_t row)
{
	return ktr__view_at(&shared, probe, struct ktr_probe_row) + row;
}

/* FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint32_t ktr__probe_hash(uint32_t type, const char *name)
{
	uint32_t hash = 0x811c9dc5u ^ type;

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 0x01000193u;
	return hash ^ hash >> 15;
}

static uint32_t shared_find(uint32_t at, uint32_t hash, uint32_t type, const char *name)
{
	uint32_t n_rows = shared_n_rows();

	/* A chain that somebody has made a circle of ends here too. */
	for (uint32_t n = 0; at && at < n_rows && n < n_rows; n++) {
		const struct ktr_probe_row *row = ktr__probe_row_at(at);

		if (!ktr__view_present(&shared, row, sizeof(*row)))
			return 0;
		if (row->hash == hash && row->type == type && strncmp(row->name, name, sizeof(row->name)) == 0)
			return at;
		at = __atomic_load_n(&row->next, __ATOMIC_RELAXED);
	}
	return 0;
}

static uint32_t shared_make(uint32_t hash, uint32_t type, const char *name, const char *function)
{
	struct ktr_probe_head *head = (struct ktr_probe_head *)(void *)ktr__probe_row_at(0);
	uint32_t made = ktr__view_present(&shared, head, sizeof(*head)) ?
				ktr__view_next(&shared, &head->n_probes, KTR_REGION_probe, 1) : 0;
	struct ktr_probe_row *row = ktr__probe_row_at(made);

	if (!made || !ktr__view_present(&shared, row, sizeof(*row)))
		return 0;
	row->type = type;
	row->hash = hash;
	strncpy(row->name, name, sizeof(row->name) - 1);
	strncpy(row->function, function, sizeof(row->function) - 1);
	return made;
}

/*
 * Rows are linked in front by one compare-and-swap; who loses looks again, so a type and name has one row. It is
 * ready when it is linked, and whoever finds it says so: a process killed in between leaves nothing to wait for.
 */
uint32_t ktr__probe_row_of(uint32_t type, const char *name, const char *function)
{
	uint32_t hash = ktr__probe_hash(type, name), made = 0, found, first;
	uint32_t n_buckets = shared.header.region[KTR_REGION_probe_hash].n_rows;
	uint32_t *bucket = ktr__view_at(&shared, probe_hash, uint32_t) + hash % n_buckets;

	if (!ktr__view_present(&shared, bucket, sizeof(*bucket)))
		return 0;
	first = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
	for (int i = 0; !(found = shared_find(first, hash, type, name)); i++) {
		if (i == SHARED_TRIES)
			return 0;
		if (!made && !(made = shared_make(hash, type, name, function)))
			return 0;
		__atomic_store_n(&ktr__probe_row_at(made)->next, first, __ATOMIC_RELAXED);
		if (__atomic_compare_exchange_n(bucket, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			found = made;
			break;
		}
	}
	__atomic_store_n(&ktr__probe_row_at(found)->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	return found;
}

uint64_t *ktr__probe_counters(uint32_t first)
{
	struct ktr_probe_head *head;
	struct ktr_probe_counts *counts;
	uint32_t row;

	if (!shared.open)
		return NULL;
	head = (struct ktr_probe_head *)(void *)ktr__probe_row_at(0);
	if (!ktr__view_present(&shared, head, sizeof(*head)) ||
	    !(row = ktr__view_next(&shared, &head->n_counts, KTR_REGION_probe_count, 1)))
		return NULL;
	counts = ktr__view_at(&shared, probe_count, struct ktr_probe_counts) + row;
	if (!ktr__view_present(&shared, counts, sizeof(*counts)))
		return NULL;
	counts->first = first;
	counts->pid = (uint32_t)getpid();
	__atomic_store_n(&counts->state, KTR_ROW_READY, __ATOMIC_RELEASE);
	return counts->count;
}

uint32_t ktr__probe_row_site(uint32_t row)
{
	uint32_t site = row && shared.open ? __atomic_load_n(&ktr__probe_row_at(row)->site, __ATOMIC_ACQUIRE) : 0;

	return site < shared.header.region[KTR_REGION_site].n_rows ? site : 0;
}
