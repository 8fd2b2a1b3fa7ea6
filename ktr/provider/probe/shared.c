/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session's table of probes: what `ktr probe` lists, and the words that it stores to and points test.
 *
 * The table is mapped a second time, apart from libktr's mapping of the session, and stays mapped for good: a point
 * may be between loading the address of its word and loading the word while a fork takes the child to another
 * session. Memory is made present before it is used, so that a full file system is a "no" here and never a SIGBUS
 * at a point. What others write there is believed as far as bounds go: a word is 0 or not, a row's number lies in
 * the table, and a chain ends after as many rows as there are.
 */
#include "ktr/provider/probe/shared.h"

#include "ktr/record/own.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_CHUNK 16384u /* [bytes] made present at a time */
#define SHARED_TRIES 1000 /* others link rows into the bucket that ours is for; each looks through a chain */

static struct shared {
	struct ktr_header header;
	dev_t dev;
	ino_t ino;
	bool open;
	char *map;	      /* stays what it was where there is no table any more */
	uint64_t begin; /* [bytes] where in the file the mapping begins */
	uint64_t present[(64u << 20) / SHARED_CHUNK / 64]; /* chunks; what is after them is not used */
} shared;

#define shared_at(id, type) \
	((type *)(void *)(shared.map + (shared.header.region[KTR_REGION_##id].offset - shared.begin)))

static bool shared_present(const void *from, size_t n_bytes)
{
	uint64_t first = (uint64_t)((const char *)from - shared.map) / SHARED_CHUNK;
	uint64_t last = (uint64_t)((const char *)from - shared.map + n_bytes - 1) / SHARED_CHUNK;

	for (uint64_t i = first; i <= last; i++) {
		int code, saved = errno;

		if (i / 64 >= sizeof(shared.present) / sizeof(shared.present[0]))
			return false;
		if (__atomic_load_n(&shared.present[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1)
			continue;
		code = ktr__populate(shared.map + i * SHARED_CHUNK, SHARED_CHUNK);
		errno = saved;
		if (code && code != -ENOSYS)
			return false;
		__atomic_fetch_or(&shared.present[i / 64], 1ull << i % 64, __ATOMIC_RELEASE);
	}
	return true;
}

/* Of the host's own making may be the number of a descriptor that it has closed. */
static void *shared_map(const struct ktr__session_rw *own, uint64_t begin, uint64_t end)
{
	void *at = MAP_FAILED;
	struct stat st;
	int fd = own->fd;

	for (int i = 0; i < 2 && at == MAP_FAILED; i++) {
		if (i)
			fd = open(own->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == own->ino && st.st_dev == own->dev)
			at = mmap(NULL, end - begin, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)begin);
	}
	if (fd >= 0 && fd != own->fd)
		close(fd);
	if (at == MAP_FAILED)
		return NULL;
	madvise(at, end - begin, MADV_DONTDUMP);
	return at;
}

/* Are all three regions there, each as we know it? A session of an older version has none of them. */
static bool shared_span(const struct ktr_header *header, uint64_t *begin, uint64_t *end)
{
	static const uint32_t row_bytes[] = { sizeof(uint32_t), sizeof(struct ktr_probe_row),
					      sizeof(struct ktr_probe_counts) };

	*begin = UINT64_MAX;
	*end = 0;
	for (unsigned i = 0; i < 3; i++) {
		const struct ktr_region *region = &header->region[KTR_REGION_probe_hash + i];

		if (!region->n_rows || region->row_bytes != row_bytes[i])
			return false;
		if (region->offset < *begin)
			*begin = region->offset;
		if (region->offset + region->bytes > *end)
			*end = region->offset + region->bytes;
	}
	return true;
}

bool ktr__probe_share(bool *changed)
{
	const struct ktr__session_rw *own = ktr__own_session();
	uint64_t begin, end;
	char *map;

	*changed = false;
	if (own->map && shared.ino == own->ino && shared.dev == own->dev)
		return shared.open;
	*changed = shared.open;
	shared.open = false;
	shared.ino = 0;
	if (!own->map)
		return false;
	shared.dev = own->dev;
	shared.ino = own->ino;
	if (!shared_span(&own->header, &begin, &end) || !(map = shared_map(own, begin, end)))
		return false;
	shared.header = own->header;
	shared.begin = begin;
	shared.map = map;
	memset(shared.present, 0, sizeof(shared.present));
	shared.open = *changed = true;
	return true;
}

static uint32_t shared_n_rows(void)
{
	return shared.header.region[KTR_REGION_probe].n_rows;
}

struct ktr_probe_row *ktr__probe_row_at(uint32_t row)
{
	return shared_at(probe, struct ktr_probe_row) + row;
}

/* Takes a number from one of the cursors; 0: there is none left. */
static uint32_t shared_next(uint32_t *cursor, enum ktr_region_id id)
{
	uint32_t none = 0, row;

	/* A new table is of zeroes, and index 0 is never handed out. */
	__atomic_compare_exchange_n(cursor, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	row = __atomic_fetch_add(cursor, 1, __ATOMIC_RELAXED);
	if (row && row < shared.header.region[id].n_rows)
		return row;
	if (row > UINT32_MAX / 2)
		__atomic_store_n(cursor, UINT32_MAX / 2, __ATOMIC_RELAXED);
	return 0;
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

		if (!shared_present(row, sizeof(*row)))
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
	uint32_t made = shared_present(head, sizeof(*head)) ? shared_next(&head->n_probes, KTR_REGION_probe) : 0;
	struct ktr_probe_row *row = ktr__probe_row_at(made);

	if (!made || !shared_present(row, sizeof(*row)))
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
	uint32_t *bucket = shared_at(probe_hash, uint32_t) + hash % n_buckets;

	if (!shared_present(bucket, sizeof(*bucket)))
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
	if (!shared_present(head, sizeof(*head)) || !(row = shared_next(&head->n_counts, KTR_REGION_probe_count)))
		return NULL;
	counts = shared_at(probe_count, struct ktr_probe_counts) + row;
	if (!shared_present(counts, sizeof(*counts)))
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
