/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of rings.
 *
 * Each ring has room for two areas of its largest size in the data region; a change of size alternates
 * between them. Opening a ring means populating its area first (MADV_POPULATE_WRITE turns a full file
 * system or a missing page into an error code) and publishing its geom word after that. Several threads may open
 * one ring at the same time: only one compare-and-swap of geom 0 succeeds.
 */
#include "ktr/control/rings.h"

#include "ktr/control/cgroup.h"
#include "ktr/control/session_join.h"
#include "ktr/session/clock.h"
#include "ktr/session/cpu.h"
#include "ktr/session/ring_area.h"
#include "ktr/session/session_again.h"
#include "ktr/session/session_rw.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define RINGS_LOG2_DEFAULT 16		 /* 65,536 entries, 4 MiB per CPU */
#define RINGS_TOTAL_MAX	  (64ull << 20) /* [bytes] of all rings together, unless asked otherwise */
#define RINGS_NAPS	  200 /* for a writer that reads an area which its ring has left */

/* Kernels before 5.14 cannot populate: allocate in the file, and let faults map it. */
static int rings_allocate(struct ktr__session_rw *session, uint64_t offset, uint64_t bytes)
{
	int code = ktr__populate(session->map + offset, bytes);

	if (code != -ENOSYS)
		return code;
	if (!ktr__session_fd_ours(session))
		return -EBADF;
	return -posix_fallocate(session->fd, (off_t)offset, (off_t)bytes);
}

static unsigned rings_keep_log2(unsigned log2)
{
	return log2 >= KTR_RING_LOG2_MIN + 4 ? log2 - 4 : KTR_RING_LOG2_MIN;
}

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
 * same time publishes it after that, and populates once more before it is written (ktr/record/ring.c).
 */
enum rings_step {
	RINGS_ROOM,    /* is there room for those without memory? */
	RINGS_FILL,    /* they are populated */
	RINGS_BACK,    /* which is undone */
	RINGS_PUBLISH, /* or published */
	RINGS_PEAK,    /* is there room to change the others, each having both areas for a while? */
	RINGS_CHANGE
};

struct rings_change {
	ktr__ring_change_fn *one;
	int lock; /* of ktr__session_lock() */
};

static int rings_give_back(struct ktr__session_rw *session, uint32_t index, int lock);

/* Main rings, or the kernel's, of 2^log2 entries, keep rings a sixteenth. 0, or -errno of the first that fails. */
static int rings_each(struct ktr__session_rw *session, uint32_t from, uint32_t to, unsigned log2,
		      const uint64_t *cpus, unsigned step, const struct rings_change *change)
{
	uint64_t room = ktr__room(session);
	int code = 0;

	for (uint32_t i = from; i < to && !code; i++) {
		uint64_t *word = &session->rings[i].geom, now = ktr__load_word(word), none = 0, unused, bytes;
		uint64_t area = ktr__ring_area(&session->header, i, &unused);
		uint32_t cpu = i % session->header.n_rings;
		unsigned own = i - cpu == session->header.n_rings ? rings_keep_log2(log2) : log2;
		unsigned old = KTR_GEOM_LOG2(now);
		uint64_t geom = area >> 16 | (uint64_t)own << 32 | KTR_GEOM_GENERATION;

		if ((step < RINGS_PEAK ? now != 0 : !old || old == own) ||
		    (cpus && !(cpus[cpu / 64] >> cpu % 64 & 1)))
			continue;
		bytes = (uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(geom);
		if (own > 63 || !ktr__ring_geom_valid(&session->header, i, geom))
			code = -ERANGE;
		else if (step == RINGS_CHANGE)
			code = change->one(session, i, own), rings_give_back(session, i, change->lock);
		else if (step == RINGS_FILL)
			code = rings_allocate(session, area, bytes);
		else if (step == RINGS_ROOM || step == RINGS_PEAK)
			code = room < bytes ? -ENOSPC : 0;
		else if (__atomic_compare_exchange_n(word, &none, step == RINGS_BACK ? KTR_GEOM_CLOSED : geom, 0,
						     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
			 step == RINGS_BACK) {
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
	int code = rings_each(session, from, to, log2, cpus, RINGS_ROOM, NULL);

	if (code)
		return code;
	code = rings_each(session, from, to, log2, cpus, RINGS_FILL, NULL);
	rings_each(session, from, to, log2, cpus, code ? RINGS_BACK : RINGS_PUBLISH, NULL);
	return code;
}

/* So many entries would fit, at most 2^log2. */
static unsigned rings_fits(struct ktr__session_rw *session, unsigned log2, const uint64_t *cpus)
{
	if (log2 > session->header.ring_log2_max)
		log2 = session->header.ring_log2_max;
	while (log2 && rings_each(session, 0, 2 * session->header.n_rings, log2, cpus,
				  cpus ? RINGS_ROOM : RINGS_PEAK, NULL))
		log2--;
	return log2 ? 1u << log2 : 0;
}

int ktr__ring_next_geom(struct ktr__session_rw *session, uint32_t index, uint64_t old, unsigned log2,
			uint64_t *geom)
{
	uint64_t bytes, area = ktr__ring_area(&session->header, index, &bytes);

	if (!ktr__ring_geom_valid(&session->header, index, old))
		return -EPROTO;
	if (!ktr__ring_size_valid(log2, bytes))
		return -ERANGE;
	if (KTR_GEOM_OFFSET(old) == area)
		area += bytes;
	*geom = area >> 16 | (uint64_t)log2 << 32 | (old & KTR_GEOM_CLOSED) |
		((old & ~(KTR_GEOM_GENERATION - 1)) + KTR_GEOM_GENERATION);
	return rings_allocate(session, area, (uint64_t)KTR_ENTRY_BYTES << log2);
}

/* The default size of main rings: 65,536 entries, less where memory is short. */
static unsigned rings_default_log2(const struct ktr__session_rw *session, uint32_t n_cpus)
{
	uint64_t budget = RINGS_TOTAL_MAX, cgroup = ktr__cgroup_limit(), room = ktr__room(session);
	unsigned log2 = RINGS_LOG2_DEFAULT;

	if (cgroup / 8 < budget)
		budget = cgroup / 8;
	if (room / 4 < budget)
		budget = room / 4;
	while (log2 > KTR_RING_LOG2_MIN && ((uint64_t)KTR_ENTRY_BYTES << log2) * n_cpus * 17 / 16 > budget)
		log2--;
	return log2;
}

/* What the knob shows, and rings that are opened later have. */
static void rings_say(struct ktr_control *control, unsigned log2)
{
	__atomic_store_n(&control->keep_log2, log2 ? rings_keep_log2(log2) : 0, __ATOMIC_RELAXED);
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
		log2 = rings_default_log2(session, n_cpus);
	if (log2 > session->header.ring_log2_max)
		log2 = session->header.ring_log2_max;
	/* The first one decides. */
	if (!__atomic_compare_exchange_n(&control->ring_log2, &asked, log2, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		log2 = asked;
	code = ktr__rings_make(session, 0, 2 * session->header.n_rings, log2, online);
	/* There are none, unless somebody else opens them meanwhile, with that size. */
	if (code)
		rings_say(control, 0);
	else
		__atomic_store_n(&control->rings_open, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&control->rings_open, __ATOMIC_SEQ_CST))
		rings_say(control, log2);
	if (code)
		ktr_error_set(err, -code, "no memory for a ring of %u entries on each of %u CPUs: %m; %u would fit",
			      1u << (log2 & 31), n_cpus, rings_fits(session, log2, online));
	return code;
}

/*
 * The area that a ring does not use gives its memory back, unless somebody reads there: -EBUSY. Nobody begins to
 * until the lock is closed.
 */
static int rings_give_back(struct ktr__session_rw *session, uint32_t index, int lock)
{
	uint64_t bytes, area = ktr__ring_area(&session->header, index, &bytes);
	uint64_t geom = ktr__load_word(&session->rings[index].geom);
	int code;

	if (!ktr__ring_geom_valid(&session->header, index, geom))
		return 0;
	if (KTR_GEOM_OFFSET(geom) == area)
		area += bytes;
	code = ktr__byte_lock(lock, area, F_WRLCK);
	if (!code)
		madvise(session->map + area, bytes, MADV_REMOVE);
	return code;
}

/* A writer lets go in its next round. What a stopped one holds stays until the next change. */
static void rings_settle(struct ktr__session_rw *session, int lock)
{
	for (int i = 0; i < RINGS_NAPS; i++) {
		int code = 0;

		for (uint32_t ring = 0; ring < 2 * session->header.n_rings; ring++)
			code |= rings_give_back(session, ring, lock);
		if (!code)
			return;
		ktr__nap();
	}
}

/* Where memory was short, that of the rings that have changed has come back by the second time. */
static int rings_change(struct ktr__session_rw *session, unsigned log2, const struct rings_change *change)
{
	int code = -1;

	for (int i = 0; i < 2 && code; i++) {
		code = rings_each(session, 0, 2 * session->header.n_rings, log2, NULL, RINGS_CHANGE, change);
		rings_settle(session, change->lock);
	}
	return code;
}

int ktr__rings_resize(struct ktr__session_rw *session, unsigned log2, ktr__ring_change_fn *one,
		      struct ktr_error *err)
{
	struct rings_change change = { one, 0 };
	unsigned before = session->control->ring_log2;
	uint32_t sandboxed = ktr__session_sandboxed(session);
	int code, back;

	if (sandboxed)
		return ktr_error_set(err, EBUSY,
				     "process %u is in a sandbox, ktr_sandbox(3): rings stay as it has prepared them",
				     sandboxed);
	if (session->header.path == KTR_PATH_THREAD)
		return ktr_error_set(err, EBUSY, "rings of threads keep their size while they are in use");
	/* One at a time: two who copied into the same area would spoil it after the first has published it. */
	change.lock = ktr__session_lock(session, KTR__LOCK_RESIZE);
	if (change.lock < 0)
		return ktr_error_set(err, -change.lock, "somebody else is changing the rings: %s",
				     strerror(-change.lock));
	rings_settle(session, change.lock);
	code = rings_each(session, 0, 2 * session->header.n_rings, log2, NULL, RINGS_PEAK, NULL);
	if (!code)
		code = rings_change(session, log2, &change);
	/* Those that have changed go back. Where that fails too, the knob says what they have. */
	back = code ? rings_change(session, before, &change) : 0;
	if (!code || back)
		rings_say(session->control, log2);
	if (code)
		ktr_error_set(err, -code, "%s rings keep their size: %m; %u entries would fit",
			      back ? "some" : "all", rings_fits(session, log2, NULL));
	close(change.lock);
	return code;
}
