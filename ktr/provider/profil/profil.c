/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profil(2). A thread's timer (ktr/provider/timer/) sends it a signal, whose handler counts (histogram.c).
 *
 * No thread of our own: it would keep a program alive whose main thread has ended. So threads tell of themselves
 * when they begin (create.h), and of those that are there already the kernel tells when profiling begins.
 *
 * Timers and their signals are gone after execve(2), and no child's after fork(2): who forks has the child's thread
 * begin anew.
 */
#include "ktr/provider/profil/profil.h"

#include "ktr/provider/timer/signal.h"
#include "ktr/provider/timer/threads.h"

#include <ktr/profil.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

static pthread_mutex_t profil_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned profil_rate_hz = 100; /* under the lock, as what follows */
static int profil_signal;	      /* 0: none is ours yet; atomic */
static bool profil_on;		      /* there are timers; atomic */
static pthread_key_t profil_key;
static bool profil_has_key;

/* atomic */
static uint64_t profil_n_ticks, profil_n_outside, profil_n_missed;

/* ---- a tick ---- */

static void profil_meet(struct ktr__profiled *thread)
{
	if (profil_has_key && !thread->is_marked)
		pthread_setspecific(profil_key, &profil_key);
	thread->is_marked = true;
}

static void profil_handler(int number, siginfo_t *info, void *context)
{
	uint64_t n_ticks = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
	struct ktr__profiled *thread = ktr__profile_of(info);
	const ucontext_t *at = context;
	enum ktr__counted counted;
	int saved = errno;

	(void)number;
	if (!thread || !__atomic_load_n(&thread->timer, __ATOMIC_ACQUIRE))
		return;
	__atomic_fetch_add(&thread->n_came, n_ticks, __ATOMIC_RELAXED);
	profil_meet(thread);
	counted = ktr__histogram_count((uint64_t)at->uc_mcontext.gregs[REG_RIP], n_ticks);
	if (counted == KTR__COUNTED || counted == KTR__COUNTED_OUTSIDE)
		__atomic_fetch_add(&profil_n_ticks, n_ticks, __ATOMIC_RELAXED);
	if (counted == KTR__COUNTED_OUTSIDE)
		__atomic_fetch_add(&profil_n_outside, n_ticks, __ATOMIC_RELAXED);
	if (counted == KTR__COUNTED_NOT || counted == KTR__COUNTED_FAULT)
		ktr__profile_let_go(thread);
	errno = saved;
}

/* ---- threads ---- */

/* Other destructors go on after ours, so it is called again as often as the C library does that. */
static void profil_thread_ends(void *value)
{
	static __thread unsigned n_ends;

	if (++n_ends < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(profil_key, value);
	else
		__atomic_fetch_add(&profil_n_missed, ktr__profile_disarm(NULL), __ATOMIC_RELAXED);
}

int ktr_profil_thread(void)
{
	int number = __atomic_load_n(&profil_signal, __ATOMIC_ACQUIRE), code;
	sigset_t set;

	if (!number || !__atomic_load_n(&profil_on, __ATOMIC_ACQUIRE))
		return 0;
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (profil_has_key)
		pthread_setspecific(profil_key, &profil_key);
	code = ktr__profile_arm(NULL);
	if (!code)
		return 0;
	errno = -code;
	return -1;
}

/* ---- forks ---- */

static void profil_before_fork(void)
{
	pthread_mutex_lock(&profil_lock);
}

static void profil_after_fork(void)
{
	pthread_mutex_unlock(&profil_lock);
}

static void profil_in_child(void)
{
	ktr__histogram_forked();
	ktr__profile_forked();
	ktr_profil_thread();
	pthread_mutex_unlock(&profil_lock);
}

static void profil_first(void)
{
	profil_has_key = pthread_key_create(&profil_key, profil_thread_ends) == 0 && profil_key < 32;
	pthread_atfork(profil_before_fork, profil_after_fork, profil_in_child);
}

/* ---- calls ---- */

static void profil_stop(void)
{
	if (profil_on)
		ktr__profile_stop();
	__atomic_store_n(&profil_on, false, __ATOMIC_RELEASE);
}

/* The calling thread has to have a timer; others that cannot are counted (ktr__profile_n_without()). */
static int profil_start(void)
{
	int number = ktr__timer_signal_take(profil_signal, profil_handler), code;

	if (number < 0)
		return number;
	__atomic_store_n(&profil_signal, number, __ATOMIC_RELEASE);
	code = ktr__profile_start(number, 1000000000u / profil_rate_hz);
	if (code)
		return code;
	__atomic_store_n(&profil_on, true, __ATOMIC_RELEASE);
	if (ktr_profil_thread())
		code = -errno;
	else
		ktr__profile_scan(false, NULL);
	return code;
}

static int profil_switch(const struct ktr__histogram *histogram)
{
	bool goes_on = ktr__histogram_set(histogram) && histogram && profil_on &&
		       ktr__timer_signal_is_ours(profil_signal, profil_handler);
	int code = 0;

	if (goes_on) {
		ktr__profile_reap();
		ktr__profile_scan(false, NULL);
		return 0;
	}
	profil_stop();
	if (histogram)
		code = profil_start();
	if (code) {
		ktr__histogram_set(NULL);
		profil_stop();
	}
	return code;
}

int ktr__profil_switch(const struct ktr__histogram *histogram)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int code;

	if (histogram)
		pthread_once(&once, profil_first);
	pthread_mutex_lock(&profil_lock);
	code = profil_switch(histogram);
	pthread_mutex_unlock(&profil_lock);
	return code;
}

int ktr_profil(void *samples, size_t size, size_t offset, unsigned scale)
{
	const struct ktr__histogram histogram = { (uintptr_t)samples, size, offset, scale, 0 };
	int code = scale > KTR_PROFIL_SCALE_ONE ? -EINVAL : ktr__profil_switch(scale > 1 ? &histogram : NULL);

	if (!code)
		return 0;
	errno = -code;
	return -1;
}

unsigned ktr_profil_hz(unsigned hz)
{
	unsigned now;

	pthread_mutex_lock(&profil_lock);
	if (hz && hz <= KTR_PROFIL_HZ_MAX && !ktr__histogram_is_set())
		profil_rate_hz = hz;
	now = profil_rate_hz;
	pthread_mutex_unlock(&profil_lock);
	return now;
}

int ktr_profil_sums(struct ktr_profil_sums *sums)
{
	struct ktr_profil_sums now = { .size = sums->size };

	if (sums->size < sizeof(now)) {
		errno = EINVAL;
		return -1;
	}
	now.is_on = ktr__histogram_is_set();
	now.n_ticks = __atomic_load_n(&profil_n_ticks, __ATOMIC_RELAXED);
	now.n_outside = __atomic_load_n(&profil_n_outside, __ATOMIC_RELAXED);
	now.n_missed = __atomic_load_n(&profil_n_missed, __ATOMIC_RELAXED);
	now.n_without = ktr__profile_n_without();
	memcpy(sums, &now, sizeof(now));
	return 0;
}
