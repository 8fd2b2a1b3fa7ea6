/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping the rings, so that they keep the moment: by a trigger, a signal, an exit, or a call.
 *
 * Who wins the word `frozen` sends all events to the slow path, records the event that did it and another
 * that marks the moment, and says when that was. The slow path counts what each ring takes: at first from
 * the event on that saw the change, then, when the moment is known, from there, by looking back at what
 * the ring holds. A ring that has had its share takes no more, and when all have, the gate closes. An
 * event that was under way when the word changed may be one more; so may one whose thread is preempted
 * between being admitted and being written.
 *
 * Nothing here locks, allocates or asks the kernel, but for what a signal's own default does. Rings stay
 * as they are: neither heads nor firsts are moved, and readers read on.
 */
#include "ktr/record/freeze.h"

#include "ktr/arch/arch.h"
#include "ktr/control/mask.h"
#include "ktr/control/stats.h"
#include "ktr/record/own.h"
#include "ktr/session/clock.h"
#include "ktr/session/libc.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define FREEZE_SIGNALS 32 /* standard ones: 1 to 31 */

/*
 * [slots] looked at to find out how many events a ring has taken since the moment: 0.1 ms at most, once
 * per ring. More have gone by only where the thread that stops the rings was preempted on its way.
 */
#define FREEZE_LOOK_BACK 4096

static struct sigaction freeze_before[FREEZE_SIGNALS];
static uint64_t freeze_installed;
static const struct ktr_site *freeze_site; /* of the event that marks the moment: always recorded */

static void freeze_store(struct ktr__session_rw *session, uint32_t state)
{
	__atomic_store_n(&session->control->frozen, state, __ATOMIC_SEQ_CST);
	ktr__mask_publish(session);
	if (state != KTR_FROZEN_SOON)
		ktr__rings_gate(session);
}

/* The ring that this thread's event would go to. False: it has none yet. */
static bool freeze_ring(struct ktr__place *r, bool keep)
{
	struct ktr__self *self = &ktr__self;
	const struct ktr__ring_view *view;
	uint32_t index = UINT32_MAX;

	if (ktr__rec.path == KTR_PATH_THREAD) {
		if (self->nest >= KTR_LEVELS)
			return false;
		*r = self->level[keep][self->nest].at;
		return r->ring && r->geom;
	}
#if KTR_ARCH_HAS_RSEQ
	index = ktr__rseq_cpu();
#endif
	if (index >= ktr__rec.n_rings)
		return false;
	index += keep ? ktr__rec.n_rings : 0;
	view = __atomic_load_n(&ktr__rec.views[index], __ATOMIC_RELAXED);
	if (!view || !view->geom)
		return false;
	*r = (struct ktr__place){ &ktr__rec.rings[index], view->geom, view->base, view->mask };
	return true;
}

/* A ring is full: are all that are in use? */
static void freeze_complete(void)
{
	struct ktr_control *control = ktr__rec.control;
	uint32_t soon = KTR_FROZEN_SOON;

	for (uint32_t i = 0; i < ktr__rec.n_rings; i++) {
		const struct ktr_ring *ring = &ktr__rec.rings[i];

		if (ktr__load_word(&ring->head) && !(ktr__load_word(&ring->stop) & KTR_RING_FULL) &&
		    (ktr__rec.path == KTR_PATH_RSEQ || __atomic_load_n(&ring->owner, __ATOMIC_RELAXED)))
			return;
	}
	if (__atomic_compare_exchange_n(&control->frozen, &soon, KTR_FROZEN_YES, 0, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED)) {
		ktr__mask_publish(&ktr__own);
		ktr__rings_gate(&ktr__own);
	}
}

/* How many events of the ring, of its last `most`, are later than a time? */
static uint64_t freeze_later(const struct ktr__place *r, uint64_t ticks, uint64_t most)
{
	uint64_t slot = ktr__load_word(&r->ring->head) >> 1, n = 0;

	if (most > FREEZE_LOOK_BACK)
		most = FREEZE_LOOK_BACK;
	for (uint64_t i = 0; i < FREEZE_LOOK_BACK && slot-- && n < most; i++) {
		uint64_t word = ktr__load_word((const uint64_t *)(const void *)(r->base + (slot * 64 & r->mask)));

		if (word & KTR_CONT_MARK)
			continue;
		if ((word & KTR_TIME_TICKS) <= ticks)
			break;
		n++;
	}
	return n;
}

/* Where the ring stops, as ktr_ring.stop has it; next: the number of the event to be admitted, from 1. */
static uint64_t freeze_stop(const struct ktr__place *r, uint32_t state, uint64_t next)
{
	uint64_t after = ktr__load_word(&ktr__rec.control->freeze_after), stop = ktr__load_word(&r->ring->stop);

	if (stop & KTR_RING_EXACT || (stop && state == KTR_FROZEN_FIRING))
		return stop;
	if (state == KTR_FROZEN_SOON)
		after += KTR_RING_EXACT -
			 freeze_later(r, ktr__region_rows(&ktr__own, trigger, struct ktr_trigger)->at, after);
	__atomic_store_n(&r->ring->stop, next + after, __ATOMIC_RELAXED);
	return next + after;
}

/*
 * A ring has had its share. A thread that was preempted inside of a sequence begins it anew when it runs
 * again, after the masks; the closed ring sends it here.
 */
static void freeze_full(struct ktr_ring *ring)
{
	if (ktr__rec.path == KTR_PATH_RSEQ)
		ktr__ring_gate(&ktr__own, (uint32_t)(ring - ktr__rec.rings));
	freeze_complete();
}

bool ktr__freeze_admits(const struct ktr_site *site, bool keep)
{
	uint32_t state = __atomic_load_n(&ktr__rec.control->frozen, __ATOMIC_SEQ_CST);
	struct ktr__place r;
	uint64_t next, conts, stop;

	if (state == KTR_FROZEN_YES || state == KTR_FROZEN_NO)
		return state == KTR_FROZEN_NO;
	if (site == freeze_site || !freeze_ring(&r, keep))
		return true;
	next = ktr__ring_moment(r.ring, &conts) + 1;
	next -= conts;
	stop = freeze_stop(&r, state, next);
	if (next < (stop & (KTR_RING_EXACT - 1)))
		return true;
	if ((stop & (KTR_RING_EXACT | KTR_RING_FULL)) == KTR_RING_EXACT &&
	    !(__atomic_fetch_or(&r.ring->stop, KTR_RING_FULL, __ATOMIC_RELAXED) & KTR_RING_FULL))
		freeze_full(r.ring);
	return false;
}

static const char *freeze_word(uint32_t why)
{
	return why >= KTR_FROZE_SIGNAL ? "a signal" : why == KTR_FROZE_TRIGGER ? "the trigger" :
	       why == KTR_FROZE_EXIT ? "an exit" : "a call";
}

/* The event that marks the moment is recorded whatever the masks say, and kept. */
static void freeze_mark(uint32_t why, uint32_t at)
{
	KTR__SITE(site, KTR_PROC, "recording stops by %s (%u); each ring takes %ju events more",
		  "by,detail,after", 3, (KTR_ARG_STR, KTR_ARG_U32, KTR_ARG_U64), (NULL));
	const uint64_t arg[KTR_ARGS_MAX] = { (uintptr_t)freeze_word(why),
					     why >= KTR_FROZE_SIGNAL ? why - KTR_FROZE_SIGNAL : at,
					     ktr__load_word(&ktr__own.control->freeze_after) };

	if (!site.id)
		return;
	freeze_site = &site;
	__atomic_fetch_or(&ktr__rec.site_ctl[site.id], KTR_SITE_ON | KTR_SITE_KEEP, __ATOMIC_RELAXED);
	ktr__record_cold(&site, arg, false);
}

static void freeze_remember(struct ktr__session_rw *session, uint32_t why, uint32_t site)
{
	struct ktr_trigger *trigger = ktr__region_rows(session, trigger, struct ktr_trigger);

	trigger->why = why;
	trigger->site = site;
}

bool ktr__freeze_begin(const struct ktr_site *site)
{
	uint32_t no = KTR_FROZEN_NO;

	/* The mark is written while they stop, by whoever stops them: it never stops them again. */
	if ((site && site == freeze_site) || !ktr__rec.path || ktr__self.in_vfork ||
	    !__atomic_compare_exchange_n(&ktr__rec.control->frozen, &no, KTR_FROZEN_FIRING, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	ktr__mask_publish(&ktr__own);
	return true;
}

/* at: [ticks] the moment */
static void freeze_end(uint32_t why, uint32_t site, uint64_t at)
{
	struct ktr_control *control = ktr__rec.control;

	freeze_remember(&ktr__own, why, site);
	ktr__region_rows(&ktr__own, trigger, struct ktr_trigger)->at = at;
	/* What the rings hold now is wanted after the program's end. */
	__atomic_store_n(&control->keep_session, 1, __ATOMIC_RELAXED);
	freeze_mark(why, site);
	freeze_store(&ktr__own, ktr__load_word(&control->freeze_after) ? KTR_FROZEN_SOON : KTR_FROZEN_YES);
}

void ktr__session_freeze(uint32_t why)
{
	if (ktr__freeze_begin(NULL))
		freeze_end(why, 0, ktr__clock_now(ktr__rec.clock));
}

/* The event's own time, which lies in its ring; now, where the thread has moved to another. */
void ktr__freeze_event(const struct ktr_site *site, bool keep)
{
	uint64_t at = ktr__clock_now(ktr__rec.clock), slot = 0;
	struct ktr__place r;

	if (freeze_ring(&r, keep))
		slot = ktr__load_word(&r.ring->head) >> 1;
	for (int i = 0; i < KTR_SLOTS_MAX && slot--; i++) {
		const struct ktr_entry *entry =
			(const struct ktr_entry *)(const void *)(r.base + (slot * 64 & r.mask));

		if (entry->timestamp & KTR_CONT_MARK || entry->site != site->id ||
		    (entry->thread & KTR_THREAD_INDEX) != ktr__self.row)
			continue;
		at = entry->timestamp & KTR_TIME_TICKS;
		break;
	}
	freeze_end(KTR_FROZE_TRIGGER, site->id, at);
}

void ktr__freeze_set(struct ktr__session_rw *session, bool frozen)
{
	if (frozen)
		freeze_remember(session, KTR_FROZE_ASKED, 0);
	for (uint32_t i = 0; !frozen && i < 2 * session->header.n_rings; i++)
		__atomic_store_n(&session->rings[i].stop, 0, __ATOMIC_RELAXED);
	freeze_store(session, frozen ? KTR_FROZEN_YES : KTR_FROZEN_NO);
}

/* ---- signals ---- */

/*
 * Freezes, then does what would have happened without us: the host's handler, or the signal's default, which
 * comes when we return. A default that is there to be replaced (USR1, USR2) ends here.
 *
 * Flags are not looked at to see what the host had: those of a handler that the kernel has reset
 * (SA_RESETHAND) stay behind.
 */
static void freeze_signal(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = &freeze_before[number % FREEZE_SIGNALS];
	int saved = errno;

	ktr__session_freeze(KTR_FROZE_SIGNAL + (uint32_t)number);
	errno = saved;
	if (before->sa_handler == SIG_DFL) {
		if (number == SIGUSR1 || number == SIGUSR2)
			return;
		sigaction(number, before, NULL);
		ktr__signal_again(number, info);
	} else if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(number, info, context);
	} else {
		before->sa_handler(number);
	}
}

/*
 * In place of a handler of the host's ours has its flags and its mask, so that the kernel does for it what the
 * host wanted: resets it, defers the signal or does not, takes the other stack, goes on with a system call. A
 * signal that the host ignores stays ignored: a handler would interrupt system calls, and exec(2) would not hand
 * it on.
 */
void ktr__freeze_signals(uint64_t on)
{
	for (int number = 1; number < FREEZE_SIGNALS; number++) {
		struct sigaction *before = &freeze_before[number], ours;

		if (!(on >> number & 1) || freeze_installed >> number & 1 ||
		    sigaction(number, NULL, before) != 0 || before->sa_handler == SIG_IGN)
			continue;
		ours = *before;
		if (before->sa_handler == SIG_DFL)
			ours.sa_flags = SA_ONSTACK | SA_RESTART;
		ours.sa_flags |= SA_SIGINFO;
		ours.sa_sigaction = freeze_signal;
		if (sigaction(number, &ours, NULL) == 0)
			freeze_installed |= 1ull << number;
	}
}
