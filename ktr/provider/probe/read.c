/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of probes, taken out of the program's own rings, and the numbers about probes.
 *
 * Each ring has a cursor, and a batch read ahead; the oldest event of all batches comes next. What was
 * overwritten before a cursor came to it is counted, whatever events it was: rings are shared with CTR points.
 * One mutex for all of it.
 */
#include "ktr/provider/probe/fire.h"
#include "ktr/provider/probe/registry.h"
#include "ktr/record/own.h"
#include "ktr/session/clock.h"
#include "ktr/session/ring_read.h"
#include "ktr/session/session_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BATCH   256u  /* [slots] */
#define READ_BATCHES 65536 /* without one event of a probe: a head may run on for ever */

struct read_ring {
	struct ktr__ring_cursor cursor;
	uint32_t at, n; /* in entry[] */
	struct ktr_entry entry[READ_BATCH];
};

static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;
static struct read_ring **read_ring; /* by row of the ring table; made when the ring has memory */
static uint32_t read_n_rings;
static uint64_t read_overruns;
static int read_fd = -1; /* the session, read only */

/* Probes by call site: 0 unknown, 1 none, else index + 1. Sites do not change their probe. */
static uint32_t *read_probe;

static uint32_t read_probe_of(const struct ktr__session_rw *own, uint32_t site)
{
	if (site >= own->header.region[KTR_REGION_site].n_rows)
		return 0;
	if (!read_probe[site])
		read_probe[site] = ktr__probe_of_site(site) + 1;
	return read_probe[site] - 1;
}

/*
 * Rings are read through the file: of other CPUs' this process may have nothing mapped, and where a ring lies
 * is what the session says. A host that closes all descriptors closes ours, and has others of the same number.
 */
static bool read_open(const struct ktr__session_rw *own)
{
	struct stat st;

	for (int i = 0; i < 2; i++) {
		if (i)
			read_fd = open(own->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (read_fd >= 0 && fstat(read_fd, &st) == 0 && st.st_ino == own->ino && st.st_dev == own->dev)
			return true;
	}
	/* Its name has gone. */
	read_fd = own->fd;
	return read_fd >= 0 && fstat(read_fd, &st) == 0 && st.st_ino == own->ino && st.st_dev == own->dev;
}

static bool read_start(const struct ktr__session_rw *own)
{
	if (!own->map || !read_open(own))
		return false;
	if (read_ring)
		return true;
	read_n_rings = 2 * own->header.n_rings;
	read_ring = calloc(read_n_rings, sizeof(struct read_ring *));
	read_probe = calloc(own->header.region[KTR_REGION_site].n_rows, sizeof(*read_probe));
	return read_ring && read_probe;
}

/* The next event of a probe in the ring; NULL when there is none now. */
static const struct ktr_entry *read_next(const struct ktr__session_rw *own, uint32_t row)
{
	const struct ktr__ring_source source = { .header = &own->header, .fd = read_fd };
	struct read_ring *ring = read_ring[row];
	uint64_t geom;

	if (!ring) {
		if (!ktr__ring_head(&source, row, &geom) || !(ring = calloc(1, sizeof(*ring))))
			return NULL;
		ring->cursor = (struct ktr__ring_cursor)KTR__RING_FROM_START(row);
		read_ring[row] = ring;
	}
	for (int i = 0; i < READ_BATCHES; i++) {
		struct ktr__ring_batch batch;

		for (; ring->at < ring->n; ring->at++) {
			const struct ktr_entry *entry = &ring->entry[ring->at];

			if (!ktr__slot_is_cont(entry) && read_probe_of(own, entry->site))
				return entry;
		}
		ring->at = ring->n = 0;
		if (ktr__ring_read(&source, &ring->cursor, UINT64_MAX, ring->entry, READ_BATCH, &batch) <= 0)
			return NULL;
		ring->n = batch.n;
		read_overruns += batch.lost;
	}
	return NULL;
}

/* Ticks of the session's clock as nanoseconds of CLOCK_MONOTONIC, by its first moment and now. */
static uint64_t read_ns(const struct ktr__session_rw *own, uint64_t ticks)
{
	static struct ktr_anchor now, first; /* first: as it was when it was first looked at */
	__extension__ __int128 ns;

	if (own->header.clock == KTR_CLOCK_MONOTONIC)
		return ticks;
	if (!now.ticks || ticks > now.ticks)
		ktr__clock_anchor(own->header.clock, &now);
	if (!first.state)
		memcpy(&first, ktr__region_rows(own, anchor, struct ktr_anchor), sizeof(first));
	if (now.ticks <= first.ticks)
		return first.mono_ns;
	ns = (__int128)(int64_t)(ticks - first.ticks) * (int64_t)(now.mono_ns - first.mono_ns);
	return first.mono_ns + (uint64_t)(ns / (__int128)(now.ticks - first.ticks));
}

static void read_event(const struct ktr__session_rw *own, uint32_t row, const struct ktr_entry *entry,
		       struct ktr_probe_event *event)
{
	const struct ktr_region *threads = &own->header.region[KTR_REGION_thread];
	uint32_t thread = entry->thread & KTR_THREAD_INDEX;
	struct ktr_thread_row of;
	bool by_thread = own->header.path == KTR_PATH_THREAD;

	memset(event, 0, sizeof(*event));
	event->probe = ktr__probe_id(read_probe_of(own, entry->site));
	event->cpu = by_thread ? entry->thread >> KTR_THREAD_BITS : row % own->header.n_rings;
	if (thread < threads->n_rows &&
	    !ktr__read_at(read_fd, threads->offset + (uint64_t)thread * threads->row_bytes, &of, sizeof(of))) {
		event->tid = of.tid;
		event->pid = of.pid;
	}
	event->time_ns = read_ns(own, entry->timestamp & KTR_TIME_TICKS);
	memcpy(event->arg, entry->arg, sizeof(event->arg));
}

size_t ktr_probe_read(struct ktr_probe_event *events, size_t n)
{
	const struct ktr__session_rw *own = ktr__own_session();
	size_t got = 0;

	pthread_mutex_lock(&read_lock);
	for (bool ready = read_start(own); ready && got < n;) {
		const struct ktr_entry *oldest = NULL;
		uint32_t from = 0;

		for (uint32_t i = 0; i < read_n_rings; i++) {
			const struct ktr_entry *entry = read_next(own, i);

			if (entry && (!oldest || (entry->timestamp & KTR_TIME_TICKS) <
							 (oldest->timestamp & KTR_TIME_TICKS))) {
				oldest = entry;
				from = i;
			}
		}
		if (!oldest)
			break;
		read_event(own, from, oldest, &events[got++]);
		read_ring[from]->at++;
	}
	pthread_mutex_unlock(&read_lock);
	return got;
}

int ktr_probe_metrics(struct ktr_probe_metrics *metrics)
{
	struct ktr_probe_metrics now = { .size = sizeof(now) };
	struct ktr__probe_sums sums;
	size_t size;

	if (!metrics || metrics->size < sizeof(metrics->size))
		return -EINVAL;
	size = metrics->size < sizeof(now) ? metrics->size : sizeof(now);
	ktr__probe_totals(&now.n_probes, &now.n_enabled, &now.n_fired, &now.overhead_ns);
	ktr__probe_sum(&sums);
	now.n_captured = sums.captured;
	now.n_filtered = sums.filtered;
	now.n_sampled = sums.n_sampled;
	now.sampled_ns = sums.n_sampled ? sums.sampled_ns / sums.n_sampled : 0;
	pthread_mutex_lock(&read_lock);
	now.n_overruns = read_overruns;
	pthread_mutex_unlock(&read_lock);
	now.size = metrics->size;
	memcpy(metrics, &now, size);
	return 0;
}
