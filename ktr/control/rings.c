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
#include "ktr/session/cpu.h"
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

static uint64_t rings_bytes(unsigned log2)
{
	uint64_t bytes = (uint64_t)KTR_ENTRY_BYTES << log2;

	return (bytes + KTR_SESSION_ALIGN - 1) & ~(uint64_t)(KTR_SESSION_ALIGN - 1);
}

uint64_t ktr__ring_area(const struct ktr_header *header, uint32_t index, uint64_t *bytes)
{
	uint64_t main_bytes = rings_bytes(header->ring_log2_max);
	uint64_t keep_bytes = rings_bytes(header->keep_log2_max);
	uint64_t at = header->region[KTR_REGION_data].offset;

	if (index < header->n_rings) {
		*bytes = main_bytes;
		return at + 2 * main_bytes * index;
	}
	*bytes = keep_bytes;
	return at + 2 * main_bytes * header->n_rings + 2 * keep_bytes * (index - header->n_rings);
}

/* Is it a size that fits an area of so many bytes? Sizes asked for lie in the session: any number may come. */
static bool rings_size_valid(uint32_t log2, uint64_t bytes)
{
	return log2 >= KTR_RING_LOG2_MIN && log2 < 40 && rings_bytes(log2) <= bytes;
}

bool ktr__ring_geom_valid(const struct ktr_header *header, uint32_t index, uint64_t geom)
{
	uint64_t bytes, area = ktr__ring_area(header, index, &bytes);
	uint64_t offset = KTR_GEOM_OFFSET(geom);

	return rings_size_valid(KTR_GEOM_LOG2(geom), bytes) && (offset == area || offset == area + bytes);
}

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

/* Main rings, or the kernel's, of 2^log2 entries, keep rings a sixteenth. 0, or -errno of the first that fails. */
static int rings_each(struct ktr__session_rw *session, uint32_t from, uint32_t to, unsigned log2,
		      const uint64_t *cpus, unsigned step, ktr__ring_change_fn *change)
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
			code = change(session, i, own);
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
	if (!rings_size_valid(log2, bytes))
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
 * One at a time: two who copied into the same area would spoil it after the first has published it. The
 * lock belongs to an open file description of our own, so that it excludes threads of this process too, and
 * ends with its holder. Returns the descriptor, or -errno.
 */
int ktr__resize_lock(const struct ktr__session_rw *session)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = ktr__session_open_again(session), code;

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return fd;
	code = errno == EACCES || errno == EAGAIN ? EBUSY : errno;
	close(fd);
	return -code;
}

int ktr__rings_resize(struct ktr__session_rw *session, unsigned log2, ktr__ring_change_fn *change,
		      struct ktr_error *err)
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
	code = rings_each(session, 0, n, log2, NULL, RINGS_PEAK, NULL);
	if (!code)
		code = rings_each(session, 0, n, log2, NULL, RINGS_CHANGE, change);
	/* Those that have changed go back. Where that fails too, the knob says what they have. */
	back = code ? rings_each(session, 0, n, before, NULL, RINGS_CHANGE, change) : 0;
	if (!code || back)
		rings_say(session->control, log2);
	if (code)
		ktr_error_set(err, -code, "%s rings keep their size: %m; %u entries would fit",
			      back ? "some" : "all", rings_fits(session, log2, NULL));
	close(lock);
	return code;
}
