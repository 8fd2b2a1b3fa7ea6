/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of rings, and the cold path of a ring whose geom word is not the one this process has
 * validated.
 *
 * Each ring has room for two areas of its largest size in the data region; a change of size alternates
 * between them. Opening a ring means populating its area first (MADV_POPULATE_WRITE turns a full file
 * system or a missing page into an error code) and publishing its geom word after that. Everything a
 * process takes from a geom word it checks against its private header: an offset outside of the ring's
 * own two areas is refused, whoever wrote it.
 *
 * Several threads may open or validate one ring at the same time: they compute the same values, and
 * only one compare-and-swap of geom 0 succeeds.
 */
#include "ktr/record/record.h"

#include "ktr/arch/arch.h"
#include "ktr/control/cgroup.h"
#include "ktr/session/cpu.h"
#include "ktr/session/libc.h"
#include "ktr/record/own.h"

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

#define RING_LOG2_DEFAULT 16		 /* 65,536 entries, 4 MiB per CPU */
#define RING_TOTAL_MAX	  (64ull << 20) /* [bytes] of all rings together, unless asked otherwise */
/*
 * [events] a thread that could have no ring drops before it asks again: asking looks through the pool
 * and at its owners, 0.7 ms where all of 128 are taken.
 */
#define RING_PATIENCE	  4096

static uint64_t ring_bytes(unsigned log2)
{
	uint64_t bytes = (uint64_t)KTR_ENTRY_BYTES << log2;

	return (bytes + KTR_SESSION_ALIGN - 1) & ~(uint64_t)(KTR_SESSION_ALIGN - 1);
}

/* Where the two areas of ring `index` begin, and how long each is. */
static uint64_t ring_area(const struct ktr_header *header, uint32_t index, uint64_t *bytes)
{
	uint64_t main_bytes = ring_bytes(header->ring_log2_max);
	uint64_t keep_bytes = ring_bytes(header->keep_log2_max);
	uint64_t at = header->region[KTR_REGION_data].offset;

	if (index < header->n_rings) {
		*bytes = main_bytes;
		return at + 2 * main_bytes * index;
	}
	*bytes = keep_bytes;
	return at + 2 * main_bytes * header->n_rings + 2 * keep_bytes * (index - header->n_rings);
}

/* Is it a size that fits an area of so many bytes? Sizes asked for lie in the session: any number may come. */
static bool ring_size_valid(uint32_t log2, uint64_t bytes)
{
	return log2 >= KTR_RING_LOG2_MIN && log2 < 40 && ring_bytes(log2) <= bytes;
}

/* Does the geom word point into the ring's own areas? */
static bool ring_geom_valid(const struct ktr_header *header, uint32_t index, uint64_t geom)
{
	uint64_t bytes, area = ring_area(header, index, &bytes);
	uint64_t offset = KTR_GEOM_OFFSET(geom);

	return ring_size_valid(KTR_GEOM_LOG2(geom), bytes) && (offset == area || offset == area + bytes);
}

/* Kernels before 5.14 cannot populate: allocate in the file, and let faults map it. */
static int ring_allocate(struct ktr__session_rw *session, uint64_t offset, uint64_t bytes)
{
	int code = ktr__populate(session->map + offset, bytes);

	if (code != -ENOSYS)
		return code;
	if (!ktr__session_fd_ours(session))
		return -EBADF;
	return -posix_fallocate(session->fd, (off_t)offset, (off_t)bytes);
}

static unsigned ring_keep_log2(unsigned log2)
{
	return log2 >= KTR_RING_LOG2_MIN + 4 ? log2 - 4 : KTR_RING_LOG2_MIN;
}

/* [bytes] that shared memory can take yet, as far as that is known. */
uint64_t ktr__room(const struct ktr__session_rw *session)
{
	struct statvfs fs;

	if (!ktr__session_fd_ours(session) || fstatvfs(session->fd, &fs) || !fs.f_blocks)
		return INT64_MAX;
	return (uint64_t)fs.f_bfree * fs.f_frsize;
}

/*
 * What is done with rings from..to, of cpus if given. To give back what was populated for a ring that could not be
 * opened, geom, closed and of no size, says meanwhile that nobody may open it: whoever populates the area at the
 * same time publishes it behind that, and populates once more before it is written (ring_validate()).
 */
enum ring_step {
	RING_ROOM,    /* is there room for those without memory? */
	RING_FILL,    /* they are populated */
	RING_BACK,    /* which is undone */
	RING_PUBLISH, /* or published */
	RING_PEAK,    /* is there room to change the others, each having both areas for a while? */
	RING_CHANGE
};

/* Main rings, or the kernel's, of 2^log2 entries, keep rings a sixteenth. 0, or -errno of the first that fails. */
static int ring_each(struct ktr__session_rw *session, uint32_t from, uint32_t to, unsigned log2,
		     const uint64_t *cpus,
		     unsigned step)
{
	uint64_t room = ktr__room(session);
	int code = 0;

	for (uint32_t i = from; i < to && !code; i++) {
		uint64_t *word = &session->rings[i].geom, now = ktr__load_word(word), none = 0, unused, bytes;
		uint64_t area = ring_area(&session->header, i, &unused);
		uint32_t cpu = i % session->header.n_rings;
		unsigned own = i - cpu == session->header.n_rings ? ring_keep_log2(log2) : log2;
		unsigned old = KTR_GEOM_LOG2(now);
		uint64_t geom = area >> 16 | (uint64_t)own << 32 | KTR_GEOM_GENERATION;

		if ((step < RING_PEAK ? now != 0 : !old || old == own) ||
		    (cpus && !(cpus[cpu / 64] >> cpu % 64 & 1)))
			continue;
		bytes = (uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(geom);
		if (own > 63 || !ring_geom_valid(&session->header, i, geom))
			code = -ERANGE;
		else if (step == RING_CHANGE)
			code = ktr__ring_resize(session, i, own);
		else if (step == RING_FILL)
			code = ring_allocate(session, area, bytes);
		else if (step == RING_ROOM || step == RING_PEAK)
			code = room < bytes ? -ENOSPC : 0;
		else if (__atomic_compare_exchange_n(word, &none, step == RING_BACK ? KTR_GEOM_CLOSED : geom, 0,
						     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
			 step == RING_BACK) {
			madvise(session->map + area, bytes, MADV_REMOVE);
			__atomic_store_n(word, 0, __ATOMIC_RELEASE);
		}
		room -= bytes;
		if (old)
			room += (uint64_t)KTR_ENTRY_BYTES << old;
	}
	return code;
}

int ktr__rings_make(struct ktr__session_rw *session, uint32_t from, uint32_t to, unsigned log2,
		    const uint64_t *cpus)
{
	int code = ring_each(session, from, to, log2, cpus, RING_ROOM);

	if (code)
		return code;
	code = ring_each(session, from, to, log2, cpus, RING_FILL);
	ring_each(session, from, to, log2, cpus, code ? RING_BACK : RING_PUBLISH);
	return code;
}

/* So many entries would fit, at most 2^log2. */
static unsigned ring_fits(struct ktr__session_rw *session, unsigned log2, const uint64_t *cpus)
{
	if (log2 > session->header.ring_log2_max)
		log2 = session->header.ring_log2_max;
	while (log2 && ring_each(session, 0, 2 * session->header.n_rings, log2, cpus, cpus ? RING_ROOM : RING_PEAK))
		log2--;
	return log2 ? 1u << log2 : 0;
}

int ktr__ring_next_geom(struct ktr__session_rw *session, uint32_t index, uint64_t old, unsigned log2,
			uint64_t *geom)
{
	uint64_t bytes, area = ring_area(&session->header, index, &bytes);

	if (!ring_geom_valid(&session->header, index, old))
		return -EPROTO;
	if (!ring_size_valid(log2, bytes))
		return -ERANGE;
	if (KTR_GEOM_OFFSET(old) == area)
		area += bytes;
	*geom = area >> 16 | (uint64_t)log2 << 32 | (old & KTR_GEOM_CLOSED) |
		((old & ~(KTR_GEOM_GENERATION - 1)) + KTR_GEOM_GENERATION);
	return ring_allocate(session, area, (uint64_t)KTR_ENTRY_BYTES << log2);
}

/* The default size of main rings: 65,536 entries, less where memory is short. */
static unsigned ring_default_log2(const struct ktr__session_rw *session, uint32_t n_cpus)
{
	uint64_t budget = RING_TOTAL_MAX, cgroup = ktr__cgroup_limit(), room = ktr__room(session);
	unsigned log2 = RING_LOG2_DEFAULT;

	if (cgroup / 8 < budget)
		budget = cgroup / 8;
	if (room / 4 < budget)
		budget = room / 4;
	while (log2 > KTR_RING_LOG2_MIN && ((uint64_t)KTR_ENTRY_BYTES << log2) * n_cpus * 17 / 16 > budget)
		log2--;
	return log2;
}

/* What the knob shows, and rings that are opened later have. */
static void ring_say(struct ktr_control *control, unsigned log2)
{
	__atomic_store_n(&control->keep_log2, log2 ? ring_keep_log2(log2) : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&control->ring_log2, log2, __ATOMIC_RELEASE);
}

int ktr__rings_open(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err)
{
	struct ktr_control *control = session->control;
	uint64_t online[KTR_CPU_MAX / 64];
	uint32_t n_cpus = ktr__cpus_online(online), asked = 0;
	int code;

	if (session->header.path == KTR_PATH_THREAD) {
		n_cpus = session->header.n_rings; /* each of the pool may come into use */
		/* One of them is opened, so that who asks is told if there is no memory at all. */
		memset(online, 0, sizeof(online));
		online[0] = 1;
	}
	if (__atomic_load_n(&control->rings_open, __ATOMIC_ACQUIRE))
		return 0;
	if (!log2)
		log2 = ring_default_log2(session, n_cpus);
	if (log2 > session->header.ring_log2_max)
		log2 = session->header.ring_log2_max;
	/* The first one decides. */
	if (!__atomic_compare_exchange_n(&control->ring_log2, &asked, log2, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		log2 = asked;
	code = ktr__rings_make(session, 0, 2 * session->header.n_rings, log2, online);
	/* There are none, unless somebody else opens them meanwhile, with that size. */
	if (code)
		ring_say(control, 0);
	else
		__atomic_store_n(&control->rings_open, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&control->rings_open, __ATOMIC_SEQ_CST))
		ring_say(control, log2);
	if (code)
		ktr_error_set(err, -code, "no memory for a ring of %u entries on each of %u CPUs: %m; %u would fit",
			      1u << (log2 & 31), n_cpus, ring_fits(session, log2, online));
	return code;
}

int ktr__rings_resize(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err)
{
	uint32_t n = 2 * session->header.n_rings;
	unsigned before = session->control->ring_log2;
	uint32_t sandboxed = ktr__session_sandboxed(session);
	int code, lock, back;

	if (sandboxed)
		return ktr_error_set(err, EBUSY,
				     "process %u is in a sandbox, ktr_sandbox(3): rings stay as it has prepared them",
				     sandboxed);
	if (session->header.path == KTR_PATH_THREAD)
		return ktr_error_set(err, EBUSY, "rings of threads keep their size while they are in use");
	lock = ktr__resize_lock(session);
	if (lock < 0)
		return ktr_error_set(err, -lock, "somebody else is changing the rings: %s", strerror(-lock));
	code = ring_each(session, 0, n, log2, NULL, RING_PEAK);
	if (!code)
		code = ring_each(session, 0, n, log2, NULL, RING_CHANGE);
	/* Those that have changed go back. Where that fails too, the knob says what they have. */
	back = code ? ring_each(session, 0, n, before, NULL, RING_CHANGE) : 0;
	if (!code || back)
		ring_say(session->control, log2);
	if (code)
		ktr_error_set(err, -code, "%s rings keep their size: %m; %u entries would fit",
			      back ? "some" : "all", ring_fits(session, log2, NULL));
	close(lock);
	return code;
}

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
	/* A CPU left out by debug.ktr.cpumask: nobody misses its events. Asked behind geom, see mask.c. */
	if (session->header.path == KTR_PATH_RSEQ && !ktr__cpu_wanted(control, index % session->header.n_rings))
		return 0;
	if (geom & KTR_GEOM_CLOSED) {
		ktr__count_drop(&ring->dropped);
		return 0;
	}
	if (!ring_geom_valid(&session->header, index, geom)) {
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
static const struct ktr__view ring_no_view = { .geom = 1, .base = ring_nowhere };

/*
 * Per ring a view of each area in each size. Base and mask are the same whenever a view is filled, and only
 * when all of its memory is present: a sequence may hold a view for as long as it likes, and a geom word that
 * leads to it may come as often as somebody stores one. What changes is the generation in view.geom, and
 * whichever of them a sequence compares, base and mask are those that the word means.
 */
static struct ktr__view *ring_views;

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
	uint64_t bytes, second = KTR_GEOM_OFFSET(geom) != ring_area(&ktr__own.header, index, &bytes);
	uint64_t at = index * ring_n_views() + 2 * (KTR_GEOM_LOG2(geom) - KTR_RING_LOG2_MIN) + second;
	struct ktr__view *view = &ring_views[at];

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
	if (!code && !ring_geom_valid(&ktr__own.header, index, geom))
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
