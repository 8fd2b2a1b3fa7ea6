/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changing the size of rings that are in use.
 *
 * A ring has room for two areas; the new geometry takes the one not in use. A writer on another CPU
 * cannot be made to stop between its comparison of geom and its commit, so the one who changes a ring
 * runs on the ring's own CPU: whatever sequence was under way there has been aborted by the time we run,
 * and will see the new word. Entries are copied while others may still record; the new word is committed
 * by a sequence of our own that sees head where the copy ended, else the rest is copied and it is tried
 * again. While this thread has the CPU nobody else advances that head, so few rounds are needed.
 *
 * What still fits is kept; what does not is lost as if it had been overwritten, and readers count it so,
 * because slots keep their numbers.
 */
#include "ktr/load/resize.h"

#include "ktr/arch/arch.h"
#include "ktr/control/mask.h"
#include "ktr/control/rings.h"
#include "ktr/session/cpu.h"
#include "ktr/session/session_rw.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A place where a test lets somebody else change something. */
#ifndef KTR_INJECT
#define KTR_INJECT(place) ((void)0)
#endif

#define RESIZE_ROUNDS 1000
#define RESIZE_LAPS   16ull /* times the old ring's size is copied before a head that runs on is given up */

#if KTR_ARCH_HAS_RSEQ
/* A cpu_set_t, but of as many CPUs as there may be. */
union resize_cpus {
	uint64_t bits[KTR_CPU_MAX / 64];
	cpu_set_t set;
};

/* Copies slots [from, to) between areas of different size, each at its place. */
static void resize_copy(char *to_base, unsigned to_log2, const char *from_base, unsigned from_log2,
			uint64_t from, uint64_t to)
{
	uint64_t to_mask = (1ull << to_log2) - 1, from_mask = (1ull << from_log2) - 1;

	/* A head that somebody has set back leads nowhere. */
	for (uint64_t slot = from; slot < to; slot++)
		memcpy(to_base + (slot & to_mask) * KTR_ENTRY_BYTES,
		       from_base + (slot & from_mask) * KTR_ENTRY_BYTES, KTR_ENTRY_BYTES);
}

/* The newest slots that fit both sizes. */
static uint64_t resize_oldest(uint64_t head, unsigned from_log2, unsigned to_log2)
{
	uint64_t n = 1ull << (from_log2 < to_log2 ? from_log2 : to_log2);

	return head > n ? head - n : 0;
}

/*
 * Entries that are not in the new area must not be taken for ones that are. The oldest slots of the old
 * area go with them: an event that was never committed may have scribbled over KTR_SLOTS_MAX of them.
 */
static void resize_forget(struct ktr_ring *ring, uint64_t head, unsigned from_log2, unsigned to_log2)
{
	uint64_t n = 1ull << (from_log2 < to_log2 ? from_log2 : to_log2);
	uint64_t first = __atomic_load_n(&ring->first, __ATOMIC_RELAXED);

	for (int i = 0; i < RESIZE_ROUNDS && head + KTR_SLOTS_MAX > n && first < head + KTR_SLOTS_MAX - n; i++)
		if (__atomic_compare_exchange_n(&ring->first, &first, head + KTR_SLOTS_MAX - n, 0, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			break;
}

static int resize_switch(struct ktr__session_rw *session, uint32_t index, uint32_t cpu, uint64_t old,
			 uint64_t geom, ptrdiff_t rseq_offset)
{
	struct ktr_ring *ring = &session->rings[index];
	char *from = session->map + KTR_GEOM_OFFSET(old), *to = session->map + KTR_GEOM_OFFSET(geom);
	unsigned from_log2 = KTR_GEOM_LOG2(old), to_log2 = KTR_GEOM_LOG2(geom);
	uint64_t copied = 0, budget = RESIZE_LAPS << from_log2;

	for (int i = 0; i < RESIZE_ROUNDS; i++) {
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		uint64_t oldest = resize_oldest(head >> 1, from_log2, to_log2);

		if (oldest < copied)
			oldest = copied;
		copied = head >> 1;
		if (oldest < copied && copied - oldest > budget)
			return -EBUSY;
		budget -= oldest < copied ? copied - oldest : 0;
		resize_copy(to, to_log2, from, from_log2, oldest, copied);
		resize_forget(ring, copied, from_log2, to_log2);
		KTR_INJECT(8);
		switch (ktr__geom_commit(rseq_offset, ring, cpu, head, geom)) {
		case KTR_WRITE_DONE:
			return 0;
		case KTR_WRITE_COLD:
			return -EBUSY; /* not on that CPU any more: somebody has moved us */
		default:
			break;
		}
	}
	return -EBUSY;
}

int ktr__ring_resize(struct ktr__session_rw *session, uint32_t index, unsigned log2)
{
	uint32_t cpu = index % session->header.n_rings;
	uint64_t old = __atomic_load_n(&session->rings[index].geom, __ATOMIC_ACQUIRE), geom = 0;
	union resize_cpus before, own = { .bits = { 0 } };
	ptrdiff_t rseq_offset;
	int code;

	if (!KTR_GEOM_LOG2(old) || KTR_GEOM_LOG2(old) == log2)
		return 0;
	if (!ktr__rseq_look(&rseq_offset))
		return -EBUSY;
	code = ktr__ring_next_geom(session, index, old, log2, &geom);
	/* A controller may never have touched the old area. */
	if (!code && mprotect(session->map + KTR_GEOM_OFFSET(old), (uint64_t)KTR_ENTRY_BYTES << KTR_GEOM_LOG2(old),
			      PROT_READ | PROT_WRITE))
		code = -EACCES;
	own.bits[cpu / 64] = 1ull << cpu % 64;
	if (!code && (sched_getaffinity(0, sizeof(before), &before.set) != 0 ||
		      sched_setaffinity(0, sizeof(own), &own.set) != 0))
		code = -EBUSY;
	if (!code) {
		code = resize_switch(session, index, cpu, old, geom, rseq_offset);
		/* Whether it is closed was taken from the old word, and may have changed there since. */
		ktr__ring_gate(session, index);
		sched_setaffinity(0, sizeof(before), &before.set);
	}
	return code;
}
#else
int ktr__ring_resize(struct ktr__session_rw *session, uint32_t index, unsigned log2)
{
	(void)session, (void)index, (void)log2;
	return -EBUSY;
}
#endif

int ktr__resize(struct ktr__session_rw *session, unsigned log2, struct ktr_error *err)
{
	return ktr__rings_resize(session, log2, ktr__ring_resize, err);
}
