/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording one event: everything but the usual case. That is written by hand (arch/record_*.S): the thread is
 * registered, the site has no override, one entry holds the event, of which one argument at most, or both, is a
 * string that is not a literal, its class is recorded to the main ring, and the clock is the CPU's counter. What
 * comes here is the first event of a thread or on a CPU, longer and several strings, stacks, kept or counted
 * classes, single sites, other clocks; and all events where there is no assembly.
 *
 * Nothing here takes a lock or allocates; all of it may run in a signal handler that interrupted any
 * other part of it. errno is kept.
 */
#include "ktr/arch/arch.h"
#include "ktr/control/mask.h"
#include "ktr/record/begin.h"
#include "ktr/record/count.h"
#include "ktr/record/freeze.h"
#include "ktr/record/own.h"
#include "ktr/record/payload.h"
#include "ktr/record/ring.h"
#include "ktr/record/rseq.h"
#include "ktr/record/stack.h"
#include "ktr/record/thread.h"
#include "ktr/record/trigger.h"
#include "ktr/session/clock.h"
#include "ktr/session/cpu.h"

#include <errno.h>
#include <string.h>

struct ktr__rec ktr__rec __attribute__((aligned(64)));
struct ktr__hot ktr__hot;
/*
 * A cache line of its own, as far as can be: where libktr comes by dlopen(3), glibc has no more to give than the
 * alignment of its own struct pthread, 64 on x86-64 and less elsewhere ("cannot allocate memory in static TLS
 * block").
 */
#if defined(__x86_64__)
#define RECORD_SELF_ALIGN 64
#else
#define RECORD_SELF_ALIGN 16
#endif
__thread struct ktr__self ktr__self __attribute__((tls_model("initial-exec"), aligned(RECORD_SELF_ALIGN))) KTR__ASM_NAMES;

/* A ring that is closed or resized again and again while one event is written: give up after so many. */
#define RECORD_TRIES 16

/*
 * May this thread record at all, now? Registers it the first time. A vfork child runs on our
 * thread-local data without a registration for restartable sequences: its stores could tear another
 * thread's entry, so its events are dropped and counted; so are those of a thread glibc has not
 * registered.
 */
static bool record_admit(struct ktr__self *self)
{
	uint32_t row;

	if (unlikely(!ktr__rec.path || ktr__rec.broken))
		return false;
	if (unlikely(!__atomic_load_n(&ktr__hot.control, __ATOMIC_ACQUIRE)) && !ktr__begin_adopt())
		return false;
	if (unlikely(self->in_vfork)) {
		self->armed = 0;
		self->own = 0;
		ktr__count_drop(&ktr__rec.control->drop_vfork);
		return false;
	}
#if KTR_ARCH_HAS_RSEQ
	if (ktr__rec.path == KTR_PATH_RSEQ && unlikely(ktr__rseq_cpu() >= ktr__rec.n_rings)) {
		ktr__count_drop((int32_t)ktr__rseq_cpu() < 0 ? &ktr__rec.control->drop_vfork :
							       &ktr__rec.control->drop_no_ring);
		return false;
	}
#endif
	/* A handler that forks comes back as another thread: its row is not the one from before. */
	do {
		if (unlikely(!__atomic_load_n(&self->row, __ATOMIC_RELAXED)))
			ktr__thread_register(self);
		row = __atomic_load_n(&self->row, __ATOMIC_RELAXED);
		__atomic_store_n(ktr__rec.path == KTR_PATH_RSEQ ? &self->armed : &self->own, (uint64_t)row << 32,
				 __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (unlikely(__atomic_load_n(&self->row, __ATOMIC_RELAXED) != row));
	return true;
}

/*
 * The CPU goes with the entry on the thread path. Where the CPU does not tell it in passing, the ring
 * remembers the one of some events ago.
 */
static inline uint32_t record_cpu(struct ktr__level *level, uint64_t head)
{
#if defined(__x86_64__)
	if (likely(ktr__cpu_rdpid))
		return ktr__rdpid();
#endif
	if (!(head & 126))
		level->cpu = ktr__event_cpu();
	return level->cpu;
}

/* A C library that has no restartable sequences asks the kernel on AArch64; in a sandbox the CPU is unknown, 0. */
uint32_t ktr__event_cpu(void)
{
#if !defined(__x86_64__)
	ptrdiff_t offset;

	if (ktr__own.sealed && !ktr__rseq_look(&offset))
		return 0;
#endif
	return ktr__getcpu();
}

static inline void record_word(uint64_t *to, uint64_t word)
{
	__atomic_store_n(to, word, __ATOMIC_RELAXED);
}

/*
 * All levels are in use. A handler that left by siglongjmp(3) has not given its level back; its frame
 * lay below the one we are in now, if both are on the thread's own stack. False: they are all real.
 */
static __attribute__((noinline, cold)) bool record_unwind(struct ktr__self *self, const void *frame)
{
	uint32_t nest = 0;

	if (self->nest > KTR_LEVELS || ktr__signal_stack_top() != 0)
		return false;
	while (nest < KTR_LEVELS && (uintptr_t)self->frame[nest] > (uintptr_t)frame)
		nest++;
	if (nest == KTR_LEVELS)
		return false;
	__atomic_store_n(&self->nest, nest, __ATOMIC_RELAXED);
	return true;
}

/*
 * Finds a ring for a level that has none or another than before. False: there is none, and the event is
 * counted. Asks the kernel, and is reached from events that are otherwise written without: errno is kept
 * here.
 */
static __attribute__((noinline, cold)) bool record_find_ring(struct ktr__self *self, struct ktr__level *level,
							     bool keep)
{
	int saved = errno;
	bool found;

	if (self->no_ring) {
		self->no_ring--;
		ktr__count_drop(&ktr__rec.control->drop_no_ring);
		return false;
	}
	found = ktr__ring_level(self, level, keep);
	errno = saved;
	return found;
}

/* Takes a level of the thread's rings; NULL: none, and the event is counted. frame: of who records the event. */
static inline struct ktr__level *record_enter(struct ktr__self *self, bool keep, const void *frame)
{
	struct ktr__level *level;

	if (unlikely(self->nest >= KTR_LEVELS) && !record_unwind(self, frame)) {
		ktr__count_drop(&ktr__rec.control->drop_nested);
		return NULL;
	}
	level = &self->level[keep][self->nest];
	self->frame[self->nest] = frame;
	__atomic_store_n(&self->nest, self->nest + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* A view without geom was never filled, also where a ring had been taken: no memory, or a jump. */
	if (likely(level->at.geom) && likely(level->at.geom == ktr__load_word(&level->at.ring->geom)))
		return level;
	if (record_find_ring(self, level, keep))
		return level;
	__atomic_store_n(&self->nest, self->nest - 1, __ATOMIC_RELAXED);
	return NULL;
}

static inline void record_leave(struct ktr__self *self)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&self->nest, self->nest - 1, __ATOMIC_RELAXED);
}

/* Words that may be the host's, and lie anywhere. */
static inline void record_words(uint64_t *to, const void *from, unsigned n)
{
#pragma GCC unroll 1
	for (unsigned i = 0; i < n; i++) {
		uint64_t word;

		memcpy(&word, (const char *)from + i * sizeof(word), sizeof(word));
		record_word(to + i, word);
	}
}

/*
 * Writes an event into the thread's own ring: same format and reader's rule as the rings of CPUs, one writer, no
 * locked instruction. On a weakly ordered CPU the stores below must not overtake the last commit, so head is
 * loaded in sequential consistency, an LDAR on arm64: it waits for an earlier release store. An acquire load may
 * be an LDAPR there (gcc 13 and clang 16 with +rcpc), which does not. Time is read between the entry's acquisition
 * of its slot and its commit, so it grows along the ring; a handler's events are in the ring of its level.
 */
static inline void record_own(struct ktr__self *self, const struct ktr__image *image, bool keep,
			      const void *frame)
{
	struct ktr__level *level = record_enter(self, keep, frame);
	uint64_t head, next, ordinal, *to;

	if (!level)
		return;
	/* Where assembly writes what takes several slots. */
	if (KTR_ARCH_HAS_RECORD && level == &self->level[0][0])
		self->here = level->at;
	head = __atomic_load_n(&level->at.ring->head, __ATOMIC_SEQ_CST);
	next = head + 2 * image->n_slots;
	to = (uint64_t *)(void *)(level->at.base + (head * 32 & level->at.mask));
	record_word(to, ktr__clock_now(ktr__rec.clock));
	record_word(to + 1, image->meta | (uint64_t)record_cpu(level, head) << (32 + KTR_THREAD_BITS));
	record_words(to + 2, image->arg, KTR_ARGS_MAX);
	if (image->n_slots > 1) {
		ordinal = level->at.ring->cont[head & 1];
		for (uint64_t i = 1; i < image->n_slots; i++) {
			to = (uint64_t *)(void *)(level->at.base + ((head * 32 + i * 64) & level->at.mask));
			record_word(to, KTR_CONT_MARK | ordinal++);
			record_words(to + 1, image->cont[i - 1], KTR_CONT_BYTES / 8);
		}
		record_word(&level->at.ring->cont[~head & 1], ordinal);
		next ^= 1;
	}
	__atomic_store_n(&level->at.ring->head, next, __ATOMIC_RELEASE);
	record_leave(self);
}

#if KTR_ARCH_HAS_RSEQ
/*
 * Writes an event into the ring of the CPU, with the session's clock. False: the event is usual, but the ring is
 * not; that is for ktr__record_cold() to look into.
 */
static inline bool record_shared(const struct ktr__image *image, bool keep, bool usual)
{
	uint32_t ring_offset = keep ? ktr__rec.n_rings : 0;

	for (int i = 0; i < RECORD_TRIES; i++) {
		bool given = ktr__rec.clock == KTR_CLOCK_MONOTONIC;
		int done = ktr__write(image, ring_offset, given ? ktr__clock_now(KTR_CLOCK_MONOTONIC) : 0);

		if (likely(done == KTR_WRITE_DONE))
			return true;
		if (usual)
			return false;
		if (done == KTR_WRITE_COLD && !ktr__ring_ready(keep))
			return true;
	}
	ktr__count_drop(&ktr__rec.control->drop_closed);
	return true;
}
#endif

/* words: what has strings has them in its words already. False: as above. */
static __attribute__((noinline)) bool record_write(const struct ktr_site *site, const uint64_t *arg, bool words,
						   bool keep, bool usual)
{
	struct ktr__image image;

	image.meta = site->id | (uint64_t)ktr__self.row << 32;
	if (words || !site->copies) {
		image.n_slots = 1;
		record_words(image.arg, arg, KTR_ARGS_MAX);
	} else {
		ktr__image_make(&image, site, arg);
	}
#if KTR_ARCH_HAS_RSEQ
	if (likely(ktr__rec.path != KTR_PATH_THREAD))
		return record_shared(&image, keep, usual);
#endif
	(void)usual;
	record_own(&ktr__self, &image, keep, __builtin_frame_address(0));
	return true;
}

static void record_count(uint32_t site)
{
	uint64_t *counts = ktr__counts(site);

	if (!counts)
		return;
#if KTR_ARCH_HAS_RSEQ
	if (ktr__rec.path == KTR_PATH_RSEQ &&
	    ktr__count_one(counts, ktr__rec.count_stride, site) == KTR_WRITE_DONE)
		return;
#endif
	__atomic_fetch_add(&counts[site], 1, __ATOMIC_RELAXED);
}

/*
 * The usual way may have the site until anything changes again: it compares a number instead of looking at what
 * decides, its class's gate too. A class that is a run-time number has no mask to look at. The usual way has no
 * clock but the CPU's counter.
 */
static inline void record_ready(struct ktr_site *site, uint32_t generation)
{
	if (ktr__rec.clock == KTR_CLOCK_MONOTONIC)
		generation ^= KTR__READY_TIMED;
	if (site->mask && !(site->mask & ktr__load_word(&ktr__rec.control->special)))
		__atomic_store_n(&site->ready, site->copies ? ~generation : generation, __ATOMIC_RELAXED);
}

static void record_event(struct ktr_site *site, const uint64_t *arg, bool words)
{
	const struct ktr_control *control = ktr__rec.control;
	uint32_t generation = (uint32_t)__atomic_load_n(&control->generation, __ATOMIC_ACQUIRE);
	uint8_t override;
	bool keep, stops;

	if (unlikely(!site->id)) {
		ktr__count_drop(&ktr__rec.control->drop_no_site);
		return;
	}
	if (unlikely(__atomic_load_n(&control->cpus_part, __ATOMIC_RELAXED)) &&
	    !ktr__cpu_wanted(control, ktr__event_cpu()))
		return;
	override = __atomic_load_n(&ktr__rec.site_ctl[site->id], __ATOMIC_RELAXED);
	if (override & KTR_SITE_COUNT || (!(override & KTR_SITE_OFF) &&
					  site->mask & ktr__load_word(&control->count)))
		record_count(site->id);
	if (override & KTR_SITE_OFF)
		return;
	/* A site whose class is a run-time number has no mask: its gate has spoken. */
	if (!(override & KTR_SITE_ON) && site->mask && !(site->mask & ktr__load_word(&control->record)))
		return;
	if (KTR_ARCH_HAS_RECORD && !override)
		record_ready(site, generation);
	keep = override & KTR_SITE_KEEP || site->mask & ktr__load_word(&control->keep);
	if (unlikely(__atomic_load_n(&control->frozen, __ATOMIC_RELAXED)) && !ktr__freeze_admits(site, keep))
		return;
	/* Its strings are gone where their words are there: then the trigger came a moment ago. */
	stops = unlikely(override & KTR_SITE_TRIGGER) && !(words && site->copies) && ktr__trigger_event(site, arg);
	record_write(site, arg, words, keep, false);
	if (unlikely(stops))
		ktr__freeze_event(site, keep);
}

__attribute__((noinline, cold)) void ktr__record_cold(struct ktr_site *site, const uint64_t *arg, bool words)
{
	int saved = errno;

	if (record_admit(&ktr__self))
		record_event(site, arg, words);
	errno = saved;
}

#if KTR_ARCH_HAS_RECORD
void ktr__record_payload(struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
			 double a5)
{
	const uint64_t arg[KTR_ARGS_MAX] = { a0, a1, a2, a3, a4, ktr__double_bits(a5) };

	if (unlikely(!(ktr__self.armed | ktr__self.own)) || unlikely(!record_write(site, arg, false, false, true)))
		ktr__record_cold(site, arg, false);
}
#endif

#if !KTR_ARCH_HAS_RECORD
#define RECORD_DOOR(n, parameters, ...)                                                          \
	__attribute__((visibility("default"))) void ktr__record##n parameters                    \
	{                                                                                        \
		const uint64_t arg[KTR_ARGS_MAX] = { __VA_ARGS__ };                              \
												 \
		ktr__record_cold(site, arg, false);                                              \
	}

RECORD_DOOR(0, (struct ktr_site *site), 0)
RECORD_DOOR(1, (struct ktr_site *site, uint64_t a0), a0)
RECORD_DOOR(2, (struct ktr_site *site, uint64_t a0, uint64_t a1), a0, a1)
RECORD_DOOR(3, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2), a0, a1, a2)
RECORD_DOOR(4, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3), a0, a1, a2, a3)
RECORD_DOOR(5, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4),
	    a0, a1, a2, a3, a4)
RECORD_DOOR(6, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		uint64_t a5),
	    a0, a1, a2, a3, a4, a5)
#if defined(__x86_64__)
RECORD_DOOR(6v, (struct ktr_site *site, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		 double a5),
	    a0, a1, a2, a3, a4, (union { double value; uint64_t bits; }){ a5 }.bits)
#endif
#endif
