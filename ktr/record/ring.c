/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings that this process records into: the cold path of a ring whose geom word is not the one it has
 * validated.
 *
 * Everything a process takes from a geom word it checks against its private header: an offset outside of the
 * ring's own two areas is refused, whoever wrote it. Several threads may validate one ring at the same time: they
 * compute the same values.
 */
#include "ktr/record/ring.h"

#include "ktr/arch/arch.h"
#include "ktr/control/mask.h"
#include "ktr/control/rings.h"
#include "ktr/record/own.h"
#include "ktr/record/thread.h"
#include "ktr/session/cpu.h"
#include "ktr/session/libc.h"
#include "ktr/session/ring_area.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A place where a test lets somebody else change something. */
#ifndef KTR_INJECT
#define KTR_INJECT(place) ((void)0)
#endif

/*
 * [events] a thread that could have no ring drops before it asks again: asking looks through the pool
 * and at its owners, 0.7 ms where all of 128 are taken.
 */
#define RING_PATIENCE	  4096

static uint64_t *ring_prepared; /* per ring: the geom word that was made ready for a sandbox */

/* The ring's memory, made present in this process; in a sandbox it must be. 0 or -errno. */
static int ring_present(struct ktr__session_rw *session, uint32_t index, uint64_t geom)
{
	if (session->sealed)
		return KTR_GEOM_OFFSET(ring_prepared[index]) == KTR_GEOM_OFFSET(geom) &&
		       KTR_GEOM_LOG2(ring_prepared[index]) == KTR_GEOM_LOG2(geom) ? 0 : -EPERM;
	return ktr__populate(session->map + KTR_GEOM_OFFSET(geom),
			     (uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(geom));
}

/*
 * Makes ring `index` usable for this process. Returns its geom, or 0 when it must not be written now;
 * the event is then counted.
 */
static uint64_t ring_validate(struct ktr__session_rw *session, uint32_t index)
{
	struct ktr_control *control = session->control;
	struct ktr_ring *ring = &session->rings[index];
	uint64_t geom = __atomic_load_n(&ring->geom, __ATOMIC_SEQ_CST);
	int code;

	if (!geom && !session->sealed && __atomic_load_n(&control->rings_open, __ATOMIC_ACQUIRE) &&
	    ktr__rings_make(session, index, index + 1, control->ring_log2, NULL) == 0)
		geom = __atomic_load_n(&ring->geom, __ATOMIC_SEQ_CST);
	if (!geom) {
		ktr__count_drop(&control->drop_no_ring);
		return 0;
	}
	/* A CPU left out by debug.ktr.cpumask: nobody misses its events. Asked after geom, see mask.c. */
	if (session->header.path == KTR_PATH_RSEQ && !ktr__cpu_wanted(control, index % session->header.n_rings))
		return 0;
	if (geom & KTR_GEOM_CLOSED) {
		ktr__count_drop(&ring->dropped);
		return 0;
	}
	if (!ktr__ring_geom_valid(&session->header, index, geom)) {
		ktr__rec.broken = 1;
		ktr__count_drop(&control->drop_no_ring);
		return 0;
	}
	code = ring_present(session, index, geom);
	if (code && code != -ENOSYS) {
		ktr__count_drop(&control->drop_no_ring);
		return 0;
	}
	__atomic_store_n(&session->records, true, __ATOMIC_RELAXED);
	return geom;
}

#if KTR_ARCH_HAS_RSEQ
static char ring_nowhere[KTR_SLOTS_MAX * KTR_ENTRY_BYTES];

/* No valid geom has this value; a hostile one that has it leads to memory nobody reads. */
static const struct ktr__ring_view ring_no_view = { .geom = 1, .base = ring_nowhere };

/*
 * Per ring a view of each area in each size. Base and mask are the same whenever a view is filled, and only
 * when all of its memory is present: a sequence may hold a view for as long as it likes, and a geom word that
 * leads to it may come as often as somebody stores one. What changes is the generation in view.geom, and
 * whichever of them a sequence compares, base and mask are those that the word means.
 */
static struct ktr__ring_view *ring_views;

static size_t ring_n_views(void)
{
	return 2 * (size_t)(ktr__own.header.ring_log2_max - KTR_RING_LOG2_MIN + 1);
}

int ktr__ring_views(void)
{
	size_t n = 2 * (size_t)ktr__rec.n_rings;

	free(ring_views);
	free(ktr__rec.views);
	ring_views = calloc(n * ring_n_views(), sizeof(*ring_views));
	ktr__rec.views = calloc(n, sizeof(*ktr__rec.views));
	if (!ring_views || !ktr__rec.views)
		return -ENOMEM;
	ktr__ring_forget();
	return 0;
}

void ktr__ring_forget(void)
{
	for (uint32_t i = 0; ktr__rec.views && i < 2 * ktr__rec.n_rings; i++)
		ktr__rec.views[i] = &ring_no_view;
}

/* Several threads may fill the same view with the same words at the same time. */
static void ring_view(uint32_t index, uint64_t geom)
{
	uint64_t bytes, second = KTR_GEOM_OFFSET(geom) != ktr__ring_area(&ktr__own.header, index, &bytes);
	uint64_t at = index * ring_n_views() + 2 * (KTR_GEOM_LOG2(geom) - KTR_RING_LOG2_MIN) + second;
	struct ktr__ring_view *view = &ring_views[at];

	__atomic_store_n(&view->base, ktr__own.map + KTR_GEOM_OFFSET(geom), __ATOMIC_RELAXED);
	__atomic_store_n(&view->mask, ((uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(geom)) - KTR_ENTRY_BYTES,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&view->geom, geom, __ATOMIC_RELEASE);
	__atomic_store_n(&ktr__rec.views[index], view, __ATOMIC_RELEASE);
}

bool ktr__ring_ready(bool keep)
{
	uint32_t cpu = ktr__rseq_cpu();
	uint32_t index = cpu + (keep ? ktr__rec.n_rings : 0);
	uint64_t geom;

	if (cpu >= ktr__rec.n_rings) {
		ktr__count_drop(&ktr__rec.control->drop_no_ring);
		return false;
	}
	geom = ring_validate(&ktr__own, index);
	if (geom)
		ring_view(index, geom);
	return geom != 0;
}
#else
int ktr__ring_views(void)
{
	return 0;
}

void ktr__ring_forget(void)
{
}
#endif

int ktr__ring_prepare(uint32_t index)
{
	const struct ktr_control *control = ktr__own.control;
	uint64_t geom;
	int code;

	if (!ring_prepared)
		ring_prepared = calloc(2 * (size_t)ktr__rec.n_rings, sizeof(*ring_prepared));
	if (!ring_prepared)
		return -ENOMEM;
	code = ktr__rings_make(&ktr__own, index, index + 1, control->ring_log2, NULL);
	geom = __atomic_load_n(&ktr__own.rings[index].geom, __ATOMIC_ACQUIRE) & ~KTR_GEOM_CLOSED;
	if (!code && !ktr__ring_geom_valid(&ktr__own.header, index, geom))
		code = -EPROTO;
	if (!code)
		code = ring_present(&ktr__own, index, geom);
	if (code && code != -ENOSYS)
		return code;
	ring_prepared[index] = geom;
	__atomic_store_n(&ktr__own.records, true, __ATOMIC_RELAXED);
#if KTR_ARCH_HAS_RSEQ
	if (ktr__rec.path == KTR_PATH_RSEQ)
		ring_view(index, geom);
#endif
	return 0;
}

/*
 * Whose a thread ring is, in one word, so that it changes hands in one step: thread, process, and a number that
 * each change raises, for both of the others may come again. A row that has no room there names no process.
 */
static __attribute__((noinline)) uint64_t ring_owned(uint64_t before, uint32_t row, uint32_t tid)
{
	return ((before >> KTR_OWNED_CHANGE) + 1) << KTR_OWNED_CHANGE |
	       (uint64_t)(row < KTR_OWNED_ROWS ? row : 0) << KTR_OWNED_ROW | tid;
}

/* Has the owner gone without giving it back (killed, _exit, a thread nobody saw end)? */
static bool ring_deserted(uint64_t owned)
{
	const struct ktr_proc_row *ours, *theirs;
	pid_t tid = (pid_t)(owned & ((1u << KTR_OWNED_ROW) - 1));
	uint32_t row = (uint32_t)(owned >> KTR_OWNED_ROW) & (KTR_OWNED_ROWS - 1);

	if (!tid || !row)
		return false;
	if (row == ktr__rec.proc)
		return ktr__tgkill(getpid(), tid, 0) != 0 && errno == ESRCH;
	ours = ktr__session_at(&ktr__own, KTR_REGION_proc, ktr__rec.proc);
	theirs = ktr__session_at(&ktr__own, KTR_REGION_proc, row);
	return ktr__rec.proc && ours && theirs && theirs->pid_ns == ours->pid_ns &&
	       kill((pid_t)theirs->pid, 0) != 0 && errno == ESRCH;
}

/* Takes a ring whose owner has gone: of several threads and processes that see it the one that changes the word. */
static bool ring_inherit(struct ktr_ring *ring, uint32_t tid)
{
	uint64_t owned = __atomic_load_n(&ring->owned, __ATOMIC_ACQUIRE);

	if (!ring_deserted(owned))
		return false;
	KTR_INJECT(1);
	if (!__atomic_compare_exchange_n(&ring->owned, &owned, ring_owned(owned, ktr__rec.proc, tid), 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	KTR_INJECT(2);
	__atomic_store_n(&ring->owner, tid, __ATOMIC_RELAXED);
	return true;
}

/*
 * Takes a free ring out of the pool, or one whose owner has gone. -1: all are in use. A process of a version that
 * does not know the word takes free rings by `owner` too, and leaves those alone whose owner_start is 0.
 */
static int ring_take(uint32_t tid)
{
	for (uint32_t i = 0; i < ktr__rec.n_rings; i++) {
		struct ktr_ring *ring = &ktr__own.rings[i];
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&ring->owner, &none, tid, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			/* Nobody else changes it while it names no thread. */
			__atomic_store_n(&ring->owned, ring_owned(ring->owned, ktr__rec.proc, tid),
					 __ATOMIC_RELEASE);
			return (int)i;
		}
	}
	for (uint32_t i = 0; i < ktr__rec.n_rings && !ktr__own.sealed; i++)
		if (ring_inherit(&ktr__own.rings[i], tid))
			return (int)i;
	return -1;
}

/*
 * A level's main ring is row i of the pool, its keep ring row n_rings + i: taking one takes both, and
 * either may be needed first.
 */
static struct ktr_ring *ring_of_level(struct ktr__self *self, struct ktr__level *level, bool keep)
{
	unsigned nest = (unsigned)(level - self->level[keep]);
	const struct ktr__level *other = &self->level[!keep][nest];
	int index;

	/* Deeper ones are not in use now, nor this one: what it had was the parent's. */
	if (nest < self->forked) {
		level->at.ring = self->level[!keep][nest].at.ring = NULL;
		self->forked = nest;
	}
	if (level->at.ring)
		return level->at.ring;
	if (other->at.ring)
		return keep ? other->at.ring + ktr__rec.n_rings : other->at.ring - ktr__rec.n_rings;
	index = ring_take(ktr__own.sealed ? ktr__thread_unasked() : (uint32_t)gettid());
	if (index < 0)
		return NULL;
	return &ktr__own.rings[index] + (keep ? ktr__rec.n_rings : 0);
}

/*
 * In a child that a handler has forked in the middle of this, the ring is its parent's, like those of the levels
 * below: this event goes on there, the next one takes another.
 */
bool ktr__ring_level(struct ktr__self *self, struct ktr__level *level, bool keep)
{
	struct ktr_ring *ring = ring_of_level(self, level, keep);
	uint64_t geom;

	if (!ring) {
		self->no_ring = RING_PATIENCE;
		ktr__count_drop(&ktr__rec.control->drop_no_ring);
		return false;
	}
	level->at.ring = ring;
	level->cpu = ktr__event_cpu();
	ring->thread = self->row;
	geom = ring_validate(&ktr__own, (uint32_t)(ring - ktr__own.rings));
	if (!geom) {
		self->no_ring = RING_PATIENCE;
		return false;
	}
	level->at.base = ktr__own.map + KTR_GEOM_OFFSET(geom);
	level->at.mask = ((uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(geom)) - KTR_ENTRY_BYTES;
	__atomic_store_n(&level->at.geom, geom, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (level < &self->level[keep][self->forked])
		level->at.geom = 0;
	return true;
}

void ktr__ring_release(struct ktr__self *self)
{
	uint32_t nest = self->nest;

	/* Handlers that come in between find no level left, nor any to take back, and count. */
	__atomic_store_n(&self->nest, KTR_LEVELS + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < KTR_LEVELS; i++) {
		struct ktr_ring *main = self->level[0][i].at.ring, *keep = self->level[1][i].at.ring;

		if (!main && keep)
			main = keep - ktr__rec.n_rings;
		memset(&self->level[0][i], 0, sizeof(self->level[0][i]));
		memset(&self->level[1][i], 0, sizeof(self->level[1][i]));
		if (main && i >= self->forked) {
			__atomic_store_n(&main->owned, ring_owned(main->owned, 0, 0), __ATOMIC_RELEASE);
			__atomic_store_n(&main->owner, 0, __ATOMIC_RELEASE);
		}
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&self->nest, nest, __ATOMIC_RELAXED);
}
