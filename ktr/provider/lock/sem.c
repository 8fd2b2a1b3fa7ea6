/* SPDX-License-Identifier: BSD-2-Clause */
/* Semaphores. They have no owner. sem_wait(3) is a point of cancellation also where it does not wait. */
#include "ktr/provider/lock/probes.h"
#include "ktr/provider/lock/traced.h"
#include "ktr/provider/profile/off.h"

#include <errno.h>

static int sem_ends(const sem_t *sem, int rc, const void *caller)
{
	if (rc == 0)
		KTR__LOCK_FIRE(SEM_ACQUIRE, caller, 2, sem);
	else
		KTR__LOCK_FIRE(SEM_ERROR, caller, 3, sem, errno);
	return rc;
}

struct sem_waiting {
	const sem_t *sem;
	const void *caller;
	struct ktr__off off;
	uint64_t began_ns;
};

static void sem_blocked(const struct sem_waiting *wait, int code)
{
	uint64_t ns = ktr__lock_now_ns() - wait->began_ns;

	ktr__off_end(&wait->off, "semaphore", wait->caller);
	KTR__LOCK_FIRE(SEM_BLOCKED, wait->caller, 4, wait->sem, ns, code);
}

static void sem_cancelled(void *context)
{
	sem_blocked(context, ECANCELED);
}

/* Is there one to be had at once? errno stays. */
static bool sem_try(sem_t *sem)
{
	int saved = errno;
	bool has = ktr__lock_real.sem_trywait(sem) == 0;

	errno = saved;
	return has;
}

/* bad: a time that is refused also where there is one to be had. */
#define SEM_TAKE(s, bad, real)                                                                        \
	do {                                                                                     \
		struct sem_waiting wait = { .sem = s, .caller = KTR__LOCK_CALLER() };            \
		int rc;                                                                          \
												 \
		pthread_testcancel();                                                            \
		if (bad)                                                                         \
			return sem_ends(s, real, wait.caller);                                   \
		if (sem_try(s))                                                                  \
			return sem_ends(s, 0, wait.caller);                                      \
		wait.began_ns = ktr__lock_now_ns();                                              \
		KTR__LOCK_FIRE(SEM_BLOCK, wait.caller, 2, s);                                    \
		ktr__off_begin(&wait.off);                                                       \
		pthread_cleanup_push(sem_cancelled, &wait);                                      \
		rc = (real);                                                                     \
		pthread_cleanup_pop(0);                                                          \
		sem_blocked(&wait, rc == 0 ? 0 : errno);                                         \
		return sem_ends(s, rc, wait.caller);                                             \
	} while (0)

int ktr__traced_sem_wait(sem_t *s)
{
	SEM_TAKE(s, false, ktr__lock_real.sem_wait(s));
}

int ktr__traced_sem_timedwait(sem_t *s, const struct timespec *t)
{
	SEM_TAKE(s, ktr__lock_time_is_bad(CLOCK_REALTIME, t), ktr__lock_real.sem_timedwait(s, t));
}

int ktr__traced_sem_clockwait(sem_t *s, clockid_t c, const struct timespec *t)
{
	SEM_TAKE(s, ktr__lock_time_is_bad(c, t), ktr__lock_real.sem_clockwait(s, c, t));
}

int ktr__traced_sem_trywait(sem_t *s)
{
	return sem_ends(s, ktr__lock_real.sem_trywait(s), KTR__LOCK_CALLER());
}

/* May be called in handlers of signals, and so may what records. Who is woken may do away with the semaphore. */
int ktr__traced_sem_post(sem_t *s)
{
	const void *caller = KTR__LOCK_CALLER();

	KTR__LOCK_FIRE(SEM_RELEASE, caller, 2, s);
	return ktr__lock_real.sem_post(s);
}
