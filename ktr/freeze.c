/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping the rings, so that they keep the moment: by a trigger, a signal, an exit, or a call.
 *
 * Who wins the word `frozen` marks the moment with an event, then publishes the new state. With
 * freeze_after 0 the gate closes. Otherwise all events take the slow path, which counts for each ring
 * how many it has taken since its first one behind the moment; a ring that has its share takes no more,
 * and when all have, the gate closes. An event that was under way when the state changed may be one
 * more; so may one whose thread is preempted between being admitted and being written.
 *
 * Nothing here locks, allocates or asks the kernel, but for what a signal's own default does. Rings stay
 * as they are: neither heads nor firsts are moved, and readers read on.
 */
#include "ktr/own.h"

#include "ktr/arch.h"
#include "ktr/clock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define FREEZE_SIGNALS 32 /* standard ones: 1 to 31 */

static struct sigaction freeze_before[FREEZE_SIGNALS];
static uint64_t freeze_installed;

static void freeze_publish(struct ktr__session *session)
{
	ktr__mask_publish(session, ktr__load(&session->control->asked));
}

static void freeze_store(struct ktr_control *control, uint32_t state)
{
	__atomic_store_n(&control->frozen, state, __ATOMIC_SEQ_CST);
}

/* The ring that this thread's event would go to; NULL: it has none yet. */
static struct ktr_ring *freeze_ring(bool keep)
{
	struct ktr__self *self = &ktr__self;
	uint32_t cpu;

	if (ktr__rec.path == KTR_PATH_THREAD)
		return self->nest < KTR_LEVELS ? self->level[keep][self->nest].ring : NULL;
	cpu = ktr__rseq_cpu();
	return cpu < ktr__rec.n_rings ? &ktr__rec.rings[cpu + (keep ? ktr__rec.n_rings : 0)] : NULL;
}

/* A ring is full: are all that are in use? */
static void freeze_complete(void)
{
	struct ktr_control *control = ktr__rec.control;
	uint32_t soon = KTR_FROZEN_SOON;

	for (uint32_t i = 0; i < ktr__rec.n_rings; i++) {
		const struct ktr_ring *ring = &ktr__rec.rings[i];

		if (ktr__load(&ring->head) && !(ktr__load(&ring->stop) & KTR_RING_FULL) &&
		    (ktr__rec.path == KTR_PATH_RSEQ || __atomic_load_n(&ring->owner, __ATOMIC_RELAXED)))
			return;
	}
	if (__atomic_compare_exchange_n(&control->frozen, &soon, KTR_FROZEN_YES, 0, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
		freeze_publish(&ktr__own);
}

bool ktr__freeze_admits(bool keep)
{
	struct ktr_control *control = ktr__rec.control;
	uint32_t state = __atomic_load_n(&control->frozen, __ATOMIC_SEQ_CST);
	struct ktr_ring *ring = state == KTR_FROZEN_SOON ? freeze_ring(keep) : NULL;
	uint64_t next, conts, stop = 0;

	if (!ring)
		return state != KTR_FROZEN_YES;
	next = ktr__ring_moment(ring, &conts) + 1;
	next -= conts;
	if (__atomic_compare_exchange_n(&ring->stop, &stop, next + ktr__load(&control->freeze_after), 0,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		stop = next + ktr__load(&control->freeze_after);
	if (next < (stop & ~KTR_RING_FULL))
		return true;
	if (!(stop & KTR_RING_FULL) &&
	    !(__atomic_fetch_or(&ring->stop, KTR_RING_FULL, __ATOMIC_RELAXED) & KTR_RING_FULL))
		freeze_complete();
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
		  "by,detail,after", 3, KTR_ARG_STR, KTR_ARG_U32, KTR_ARG_U64);
	const uint64_t arg[KTR_ARGS_MAX] = { (uintptr_t)freeze_word(why),
					     why >= KTR_FROZE_SIGNAL ? why - KTR_FROZE_SIGNAL : at,
					     ktr__load(&ktr__own.control->freeze_after) };

	if (!site.id)
		return;
	__atomic_fetch_or(&ktr__rec.site_ctl[site.id], KTR_SITE_ON | KTR_SITE_KEEP, __ATOMIC_RELAXED);
	ktr__record_slow(&site, arg, NULL, 0);
}

static void freeze_remember(struct ktr__session *session, uint32_t why, uint32_t site)
{
	struct ktr_trigger *trigger = ktr__region(session, trigger, struct ktr_trigger);

	trigger->why = why;
	trigger->site = site;
	trigger->at_ns = ktr__clock_now(KTR_CLOCK_MONOTONIC);
}

void ktr__freeze(uint32_t why, uint32_t site)
{
	struct ktr_control *control = ktr__rec.control;
	uint32_t no = KTR_FROZEN_NO;

	if (!ktr__rec.path || ktr__self.in_vfork ||
	    !__atomic_compare_exchange_n(&control->frozen, &no, KTR_FROZEN_FIRING, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return;
	for (uint32_t i = 0; i < 2 * ktr__rec.n_rings; i++)
		__atomic_store_n(&ktr__rec.rings[i].stop, 0, __ATOMIC_RELAXED);
	freeze_remember(&ktr__own, why, site);
	/* What the rings hold now is wanted after the program's end. */
	__atomic_store_n(&control->keep_session, 1, __ATOMIC_RELAXED);
	freeze_mark(why, site);
	freeze_store(control, ktr__load(&control->freeze_after) ? KTR_FROZEN_SOON : KTR_FROZEN_YES);
	freeze_publish(&ktr__own);
}

void ktr__freeze_set(struct ktr__session *session, bool frozen)
{
	if (frozen)
		freeze_remember(session, KTR_FROZE_ASKED, 0);
	freeze_store(session->control, frozen ? KTR_FROZEN_YES : KTR_FROZEN_NO);
	freeze_publish(session);
}

/* ---- signals ---- */

/*
 * Freezes, then does what would have happened without us: the host's handler, or the signal's default.
 * A default that does nothing to a running program, or that is there to be replaced (USR1, USR2), ends
 * here.
 */
static void freeze_signal(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = &freeze_before[number % FREEZE_SIGNALS];
	int saved = errno;

	ktr__freeze(KTR_FROZE_SIGNAL + (uint32_t)number, 0);
	errno = saved;
	if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(number, info, context);
	} else if (before->sa_handler == SIG_DFL) {
		if (number == SIGUSR1 || number == SIGUSR2)
			return;
		sigaction(number, before, NULL);
		raise(number); /* delivered when we return */
	} else if (before->sa_handler != SIG_IGN) {
		before->sa_handler(number);
	}
}

void ktr__freeze_signals(uint64_t on)
{
	for (int number = 1; number < FREEZE_SIGNALS; number++) {
		struct sigaction ours = { .sa_sigaction = freeze_signal };

		if (!(on >> number & 1) || freeze_installed >> number & 1 ||
		    sigaction(number, NULL, &freeze_before[number]) != 0)
			continue;
		ours.sa_mask = freeze_before[number].sa_mask;
		ours.sa_flags = SA_SIGINFO | SA_ONSTACK |
				(freeze_before[number].sa_flags & (SA_RESTART | SA_NODEFER));
		if (sigaction(number, &ours, NULL) == 0)
			freeze_installed |= 1ull << number;
	}
}
