/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checking drain: one cursor per ring, batches of a few hundred slots, each event recomputed from
 * its own words (event.c). A fault is printed with ring, slot and the raw entry.
 */
#include "tests/stress/look.h"

#include "tests/stress/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LOOK_BATCH 512 /* slots */
#define LOOK_TURNS 64  /* batches of one ring before the next one gets its turn */

bool look_open(struct look *look, const char *path, bool mapped)
{
	struct ktr_error err = KTR_ERROR_NONE;

	memset(look, 0, sizeof(*look));
	if (ktr__map_open(path, 0, &look->map, &err)) {
		fprintf(stderr, "look: %s: %s\n", path, err.text);
		return false;
	}
	look->source.header = &look->map.header;
	look->source.fd = look->map.fd;
	if (mapped) {
		look->base = mmap(NULL, look->map.header.file_bytes, PROT_READ,
				  MAP_SHARED | MAP_NORESERVE, look->map.fd, 0);
		if (look->base == MAP_FAILED) {
			perror("look: mmap");
			return false;
		}
		look->source.base = look->base;
	}
	look->n_rings = ktr__header_n_ring_rows(&look->map.header);
	look->ring = calloc(look->n_rings, sizeof(*look->ring));
	look->n_sites = look->map.header.region[KTR_REGION_site].n_rows;
	look->kinds = malloc(look->n_sites * sizeof(*look->kinds));
	if (!look->ring || !look->kinds)
		return false;
	for (uint32_t i = 0; i < look->n_sites; i++)
		look->kinds[i] = -2;
	look_rewind(look, false);
	return true;
}

void look_close(struct look *look)
{
	if (look->base)
		munmap(look->base, look->map.header.file_bytes);
	free(look->ring);
	free(look->kinds);
	ktr__map_close(&look->map);
}

void look_rewind(struct look *look, bool from_oldest)
{
	const struct ktr__ring_cursor start = KTR__RING_FROM_START(0), oldest = KTR__RING_FROM_OLDEST(0);

	for (uint32_t i = 0; i < look->n_rings; i++) {
		memset(&look->ring[i], 0, sizeof(look->ring[i]));
		look->ring[i].cursor = from_oldest ? oldest : start;
		look->ring[i].cursor.ring = i;
	}
}

static int look_kind(struct look *look, uint32_t site)
{
	struct ktr_site_row row;
	char format[128];

	if (look->foreign || site >= look->n_sites)
		return -1;
	if (look->kinds[site] != -2)
		return look->kinds[site];
	look->kinds[site] = -1;
	if (ktr__map_site(&look->map, site, &row) == 0 &&
	    ktr__map_string(&look->map, row.format, format, sizeof(format)) >= 0)
		look->kinds[site] = (int16_t)event_kind_of(format);
	return look->kinds[site];
}

static void look_print(uint32_t ring, uint64_t slot, const struct ktr_entry *entry, const char *wrong)
{
	fprintf(stderr, "look: ring %u slot %" PRIu64 ": %s\n", ring, slot, wrong);
	for (int i = -1; i < 2; i++)
		fprintf(stderr, "      [%2d] time %016" PRIx64 " site %u thread %u args %" PRIx64 " %" PRIx64
				" %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", i,
			entry[i].timestamp, entry[i].site, entry[i].thread, entry[i].arg[0],
			entry[i].arg[1], entry[i].arg[2], entry[i].arg[3], entry[i].arg[4],
			entry[i].arg[5]);
}

/* What holds for every event, whoever made it; NULL or what is wrong. */
static const char *look_check(struct look_ring *ring, const struct ktr_entry *entry, uint32_t n_conts)
{
	uint64_t time = entry->timestamp & KTR_TIME_TICKS;

	if (time < ring->time)
		return "time runs backwards";
	ring->time = time;
	if (!ring->first_time)
		ring->first_time = time;
	if (ring->pending)
		ring->ordinal = 0;
	if (n_conts) {
		uint64_t ordinal = entry[1].timestamp & KTR_CONT_NUMBER;

		if (ring->ordinal && ordinal + 1 != ring->ordinal)
			return "a continuation's ordinal does not follow the one before";
		ring->ordinal = ordinal + n_conts + 1;
	}
	return NULL;
}

/* One batch's events; the number of them, or -1. buffer has a slot in front of and behind the batch. */
static int64_t look_batch(struct look *look, uint32_t row, const struct ktr__ring_batch *batch,
			  look_fn *fn, void *context)
{
	struct look_ring *ring = &look->ring[row];
	int64_t events = 0;

	ring->lost += batch->lost;
	ring->cleared += batch->cleared;
	ring->pending += batch->lost + batch->cleared;

	for (uint32_t i = 0; i < batch->n; events++) {
		const struct ktr_entry *entry = &batch->entry[i];
		uint32_t n = ktr__slot_n_conts(entry, batch->n - i - 1);
		int kind = look_kind(look, entry->site);
		uint64_t id, seq;
		const char *wrong = NULL;

		if (ktr__slot_is_cont(entry))
			wrong = "a continuation where an event should begin";
		if (!wrong)
			wrong = look_check(ring, entry, n);
		if (!wrong && !entry->site)
			wrong = "an event of no site";
		if (!wrong && kind >= 0)
			wrong = event_check(entry, n, kind, &id, &seq);
		if (wrong) {
			look_print(row, batch->first + i, entry, wrong);
			return -1;
		}
		if (look->all && !look->all(context, row, entry, n))
			return -1;
		if (kind >= 0 && fn && !fn(context, row, entry, id, seq, ring->pending))
			return -1;
		ring->pending = 0;
		i += 1 + n;
	}
	ring->events += (uint64_t)events;
	return events;
}

static int64_t look_ring_pass(struct look *look, uint32_t row, look_fn *fn, void *context)
{
	static struct ktr_entry buffer[LOOK_BATCH + 2];
	struct look_ring *ring = &look->ring[row];
	struct ktr__ring_batch batch;
	int64_t events = 0, n;
	unsigned turn = 0;

	do {
		int rc = ktr__ring_read(&look->source, &ring->cursor, UINT64_MAX, buffer + 1, LOOK_BATCH,
					&batch);

		if (rc == -EAGAIN)
			return events; /* the writers were faster each time; the next pass sees it */
		if (rc < 0) {
			fprintf(stderr, "look: ring %u: %s\n", row, strerror(-rc));
			return -1;
		}
		if (batch.damaged) {
			fprintf(stderr, "look: ring %u slot %" PRIu64 ": counters contradict each other\n",
				row, batch.first);
			return -1;
		}
		n = look_batch(look, row, &batch, fn, context);
		if (n < 0)
			return n;
		events += n;
	} while (batch.more && ++turn < LOOK_TURNS);
	return events;
}

int64_t look_pass(struct look *look, look_fn *fn, void *context)
{
	int64_t events = 0, n;

	for (uint32_t row = 0; row < look->n_rings; row++) {
		n = look_ring_pass(look, row, fn, context);
		if (n < 0)
			return n;
		events += n;
	}
	return events;
}

uint64_t look_dropped(const struct look *look)
{
	struct ktr_control control;
	struct ktr_ring ring;
	uint64_t n;

	if (ktr__map_control(&look->map, &control))
		return 0;
	n = control.drop_vfork + control.drop_no_ring + control.drop_nested + control.drop_no_site +
	    control.drop_closed;
	for (uint32_t i = 0; i < look->n_rings; i++)
		if (ktr__map_ring(&look->map, i, &ring) == 0)
			n += ring.dropped;
	return n;
}
