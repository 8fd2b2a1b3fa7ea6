/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Condition variables. A thread that waits gives its mutex away within the C library and takes it back there, so
 * that it waits for the mutex, too, is part of what it waits for the condition. It may be cancelled while it waits:
 * then it has its mutex again when its handlers run, and that is told as well.
 */
#include "ktr/provider/lock/mutex.h"
#include "ktr/provider/lock/probes.h"
#include "ktr/provider/lock/traced.h"
#include "ktr/provider/profile/off.h"

#include <errno.h>

struct cond_wait {
	const pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	const void *caller;
	struct ktr__off off;
	uint64_t began_ns;
	bool left; /* the mutex was given away */
};

static void cond_begin(struct cond_wait *wait, const pthread_cond_t *cond, pthread_mutex_t *mutex,
		       const void *caller)
{
	*wait = (struct cond_wait){ .cond = cond, .mutex = mutex, .caller = caller };
	wait->began_ns = ktr__lock_now_ns();
	KTR__LOCK_FIRE(COND_WAIT, caller, 3, cond, mutex);
	wait->left = ktr__mutex_leaves(mutex, caller);
	ktr__off_begin(&wait->off);
}

/* After any other code it has the mutex again, or has it still. */
static int cond_end(const struct cond_wait *wait, int code)
{
	uint64_t ns = ktr__lock_now_ns() - wait->began_ns;

	ktr__off_end(&wait->off, "condition", wait->caller);
	if (wait->left && code != ENOTRECOVERABLE)
		ktr__mutex_got(wait->mutex, 0, wait->caller);
	KTR__LOCK_FIRE(COND_WAITED, wait->caller, 5, wait->cond, ns, code, wait->mutex);
	return code;
}

static void cond_cancelled(void *context)
{
	cond_end(context, ECANCELED);
}

/* returned: what the code is to the caller. */
#define COND_WAIT(c, m, real, returned)                                                          \
	do {                                                                                     \
		struct cond_wait wait;                                                           \
		int code;                                                                        \
												 \
		cond_begin(&wait, c, m, KTR__LOCK_CALLER());                                     \
		pthread_cleanup_push(cond_cancelled, &wait);                                     \
		code = (real);                                                                   \
		pthread_cleanup_pop(0);                                                          \
		return returned(cond_end(&wait, code));                                          \
	} while (0)

int ktr__traced_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	COND_WAIT(c, m, ktr__lock_real.pthread_cond_wait(c, m), );
}

int ktr__traced_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	COND_WAIT(c, m, ktr__lock_real.pthread_cond_timedwait(c, m, t), );
}

int ktr__traced_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t k, const struct timespec *t)
{
	COND_WAIT(c, m, ktr__lock_real.pthread_cond_clockwait(c, m, k, t), );
}

static inline __attribute__((always_inline)) void cond_wakes(const void *cond, uint32_t all, const void *caller)
{
	KTR__LOCK_FIRE(COND_SIGNAL, caller, 3, cond, all);
}

int ktr__traced_pthread_cond_signal(pthread_cond_t *c)
{
	cond_wakes(c, 0, KTR__LOCK_CALLER());
	return ktr__lock_real.pthread_cond_signal(c);
}

int ktr__traced_pthread_cond_broadcast(pthread_cond_t *c)
{
	cond_wakes(c, 1, KTR__LOCK_CALLER());
	return ktr__lock_real.pthread_cond_broadcast(c);
}

/* ---- C11's, which are pthread's in glibc, with other codes ---- */

int ktr__traced_cnd_wait(cnd_t *c, mtx_t *m)
{
	pthread_cond_t *cond = (pthread_cond_t *)c;
	pthread_mutex_t *mutex = (pthread_mutex_t *)m;

	COND_WAIT(cond, mutex, ktr__lock_real.pthread_cond_wait(cond, mutex), ktr__mutex_code);
}

int ktr__traced_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *t)
{
	pthread_cond_t *cond = (pthread_cond_t *)c;
	pthread_mutex_t *mutex = (pthread_mutex_t *)m;

	COND_WAIT(cond, mutex, ktr__lock_real.pthread_cond_timedwait(cond, mutex, t), ktr__mutex_code);
}

int ktr__traced_cnd_signal(cnd_t *c)
{
	cond_wakes(c, 0, KTR__LOCK_CALLER());
	return ktr__lock_real.cnd_signal(c);
}

int ktr__traced_cnd_broadcast(cnd_t *c)
{
	cond_wakes(c, 1, KTR__LOCK_CALLER());
	return ktr__lock_real.cnd_broadcast(c);
}
