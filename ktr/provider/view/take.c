/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of probes, taken out of the program's own rings.
 *
 * Each ring has a cursor, and a batch read ahead; the oldest event of all batches comes next. What was
 * overwritten before a cursor came to it is counted, whatever events it was: rings are shared with CTR points.
 */
#include "ktr/provider/view/take.h"

#include "ktr/record/own.h"
#include "ktr/session/clock.h"
#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAKE_BATCH   256u  /* [slots] */
#define TAKE_BATCHES 65536 /* without one event of a probe: a head may run on for ever */

struct ktr__take_ring {
	struct ktr__ring_cursor cursor;
	uint32_t at, n; /* in entry[] */
	struct ktr_entry entry[TAKE_BATCH];
};

/* The probe of a call site, asked for once. */
static uint32_t take_probe(struct ktr__taker *taker, uint32_t site)
{
	if (site >= taker->n_sites)
		return 0;
	if (!taker->probe[site])
		taker->probe[site] = taker->of_site(site) + 1;
	return taker->probe[site] - 1;
}

/*
 * Rings are read through the file: of other CPUs' this process may have nothing mapped, and where a ring lies
 * is what the session says. A host that closes all descriptors closes ours, and has others of the same number.
 */
static bool take_open(struct ktr__taker *taker, const struct ktr__session_rw *own)
{
	struct stat st;

	for (int i = 0; i < 2; i++) {
		if (i)
			taker->fd = open(own->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (taker->fd >= 0 && fstat(taker->fd, &st) == 0 && st.st_ino == own->ino && st.st_dev == own->dev)
			return true;
	}
	/* Its name has gone. */
	taker->fd = own->fd;
	return taker->fd >= 0 && fstat(taker->fd, &st) == 0 && st.st_ino == own->ino && st.st_dev == own->dev;
}

static void take_end(struct ktr__taker *taker)
{
	for (uint32_t i = 0; taker->ring && i < taker->n_rings; i++)
		free(taker->ring[i]);
	free(taker->ring);
	free(taker->probe);
	taker->ring = NULL;
	taker->probe = NULL;
	taker->now.ticks = 0;
	taker->first.state = 0;
}

static bool take_start(struct ktr__taker *taker, const struct ktr__session_rw *own)
{
	if (!own->map || !take_open(taker, own))
		return false;
	/* A child may have a session of its own. */
	if (taker->ino != own->ino || taker->dev != own->dev)
		take_end(taker);
	taker->ino = own->ino;
	taker->dev = own->dev;
	if (taker->ring)
		return true;
	taker->n_rings = taker->n_kinds * own->header.n_rings;
	taker->n_sites = own->header.region[KTR_REGION_site].n_rows;
	taker->ring = calloc(taker->n_rings, sizeof(struct ktr__take_ring *));
	taker->probe = calloc(taker->n_sites, sizeof(*taker->probe));
	return taker->ring && taker->probe;
}

/* The next event of a probe in the ring; NULL when there is none now. */
static const struct ktr_entry *take_next(struct ktr__taker *taker, const struct ktr__session_rw *own, uint32_t row)
{
	const struct ktr__ring_source source = { .header = &own->header, .fd = taker->fd };
	struct ktr__take_ring *ring = taker->ring[row];
	uint64_t geom;

	if (!ring) {
		if (!ktr__ring_head(&source, row, &geom) || !(ring = calloc(1, sizeof(*ring))))
			return NULL;
		ring->cursor = (struct ktr__ring_cursor)KTR__RING_FROM_START(row);
		taker->ring[row] = ring;
	}
	for (int i = 0; i < TAKE_BATCHES; i++) {
		struct ktr__ring_batch batch;

		for (; ring->at < ring->n; ring->at++) {
			const struct ktr_entry *entry = &ring->entry[ring->at];

			if (!ktr__slot_is_cont(entry) && take_probe(taker, entry->site))
				return entry;
		}
		ring->at = ring->n = 0;
		if (ktr__ring_read(&source, &ring->cursor, UINT64_MAX, ring->entry, TAKE_BATCH, &batch) <= 0)
			return NULL;
		ring->n = batch.n;
		taker->n_overruns += batch.lost;
	}
	return NULL;
}

/* Ticks of the session's clock as nanoseconds of CLOCK_MONOTONIC, by its first moment and now. */
static uint64_t take_ns(struct ktr__taker *taker, const struct ktr__session_rw *own, uint64_t ticks)
{
	const struct ktr_anchor *first = &taker->first, *now = &taker->now;
	__extension__ __int128 ns;

	if (own->header.clock == KTR_CLOCK_MONOTONIC)
		return ticks;
	if (!now->ticks || ticks > now->ticks)
		ktr__clock_anchor(own->header.clock, &taker->now);
	if (!first->state)
		memcpy(&taker->first, ktr__region_rows(own, anchor, struct ktr_anchor), sizeof(*first));
	if (now->ticks <= first->ticks)
		return first->mono_ns;
	ns = (__int128)(int64_t)(ticks - first->ticks) * (int64_t)(now->mono_ns - first->mono_ns);
	return first->mono_ns + (uint64_t)(ns / (__int128)(now->ticks - first->ticks));
}

static void take_event(struct ktr__taker *taker, const struct ktr__session_rw *own, uint32_t row,
		       const struct ktr_entry *entry, struct ktr__taken *taken)
{
	const struct ktr_region *threads = &own->header.region[KTR_REGION_thread];
	uint32_t thread = entry->thread & KTR_THREAD_INDEX;
	struct ktr_thread_row of;
	bool by_thread = own->header.path == KTR_PATH_THREAD;

	memset(taken, 0, sizeof(*taken));
	taken->probe = take_probe(taker, entry->site);
	taken->cpu = by_thread ? entry->thread >> KTR_THREAD_BITS : row % own->header.n_rings;
	if (thread < threads->n_rows &&
	    !ktr__read_at(taker->fd, threads->offset + (uint64_t)thread * threads->row_bytes, &of, sizeof(of))) {
		taken->tid = of.tid;
		taken->pid = of.pid;
	}
	taken->ns = take_ns(taker, own, entry->timestamp & KTR_TIME_TICKS);
	memcpy(taken->arg, entry->arg, sizeof(taken->arg));
}

bool ktr__take(struct ktr__taker *taker, struct ktr__taken *taken)
{
	const struct ktr__session_rw *own = ktr__own_session();
	const struct ktr_entry *oldest = NULL;
	uint32_t from = 0;

	if (!take_start(taker, own))
		return false;
	for (uint32_t i = 0; i < taker->n_rings; i++) {
		const struct ktr_entry *entry = take_next(taker, own, i);

		if (entry && (!oldest || (entry->timestamp & KTR_TIME_TICKS) <
						 (oldest->timestamp & KTR_TIME_TICKS))) {
			oldest = entry;
			from = i;
		}
	}
	if (!oldest)
		return false;
	take_event(taker, own, from, oldest, taken);
	taker->ring[from]->at++;
	return true;
}
