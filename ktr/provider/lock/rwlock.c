/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read-write locks, as mutex.c has mutexes. An owner is known only where it writes; a lock that writers wait for
 * may be kept from readers, too, by its kind: then it is nobody's.
 */
#include "ktr/provider/lock/mutex.h"
#include "ktr/provider/lock/probes.h"
#include "ktr/provider/lock/traced.h"
#include "ktr/provider/profile/off.h"

#include <errno.h>

static uint32_t rwlock_owner(const pthread_rwlock_t *lock)
{
	int owner = __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);

	return owner > 0 ? (uint32_t)owner : 0;
}

static inline int rwlock_ends(const pthread_rwlock_t *lock, uint32_t write, int code, uint32_t tried,
			      const void *caller)
{
	if (code == 0)
		KTR__LOCK_FIRE(RW_ACQUIRE, caller, 4, lock, write, tried);
	else
		KTR__LOCK_FIRE(RW_ERROR, caller, 4, lock, write, code);
	return code;
}

struct rwlock_wait {
	struct ktr__off off;
	uint64_t began_ns;
	uint32_t write, owner;
};

static __attribute__((noinline)) void rwlock_block(struct rwlock_wait *wait, const pthread_rwlock_t *lock,
						   const void *caller)
{
	wait->began_ns = ktr__lock_now_ns();
	wait->owner = rwlock_owner(lock);
	KTR__LOCK_FIRE(RW_BLOCK, caller, 4, lock, wait->write, wait->owner);
	ktr__off_begin(&wait->off);
}

static __attribute__((noinline)) void rwlock_blocked(const struct rwlock_wait *wait, const pthread_rwlock_t *lock,
						     int code, const void *caller)
{
	uint64_t ns = ktr__lock_now_ns() - wait->began_ns;

	ktr__off_end(&wait->off, "rwlock", caller);
	KTR__LOCK_FIRE(RW_BLOCKED, caller, 6, lock, ns, wait->write, wait->owner, code);
}

enum rwlock_how { RWLOCK_LOCK, RWLOCK_TIMED, RWLOCK_CLOCK };

static inline __attribute__((always_inline)) int rwlock_real(pthread_rwlock_t *l, bool write, enum rwlock_how how,
							     clockid_t c, const struct timespec *t)
{
	switch (how) {
	case RWLOCK_TIMED:
		return write ? ktr__lock_real.pthread_rwlock_timedwrlock(l, t) :
			       ktr__lock_real.pthread_rwlock_timedrdlock(l, t);
	case RWLOCK_CLOCK:
		return write ? ktr__lock_real.pthread_rwlock_clockwrlock(l, c, t) :
			       ktr__lock_real.pthread_rwlock_clockrdlock(l, c, t);
	default:
		return write ? ktr__lock_real.pthread_rwlock_wrlock(l) : ktr__lock_real.pthread_rwlock_rdlock(l);
	}
}

/* Who has it for writing already is told so by the real function, EDEADLK, and does not wait. */
static inline __attribute__((always_inline)) int rwlock_take(pthread_rwlock_t *l, bool write, enum rwlock_how how,
							     clockid_t c, const struct timespec *t,
							     const void *caller)
{
	struct rwlock_wait wait = { .write = write };
	int code;

	if (how != RWLOCK_LOCK && ktr__lock_time_is_bad(how == RWLOCK_CLOCK ? c : CLOCK_REALTIME, t))
		return rwlock_ends(l, write, rwlock_real(l, write, how, c, t), 0, caller);
	code = write ? ktr__lock_real.pthread_rwlock_trywrlock(l) : ktr__lock_real.pthread_rwlock_tryrdlock(l);
	if (__builtin_expect(code == EBUSY, 0) && rwlock_owner(l) != ktr__mutex_self()) {
		rwlock_block(&wait, l, caller);
		code = rwlock_real(l, write, how, c, t);
		rwlock_blocked(&wait, l, code, caller);
	} else if (__builtin_expect(code != 0, 0)) {
		/* Its own, or too many readers: the real one says what there is to say. */
		code = rwlock_real(l, write, how, c, t);
	}
	return rwlock_ends(l, write, code, 0, caller);
}

int ktr__traced_pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a)
{
	int code = ktr__lock_real.pthread_rwlock_init(l, a);

	if (code == 0)
		KTR__LOCK_FIRE(RW_INIT, KTR__LOCK_CALLER(), 2, l);
	return code;
}

int ktr__traced_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return rwlock_take(l, false, RWLOCK_LOCK, 0, NULL, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t)
{
	return rwlock_take(l, false, RWLOCK_TIMED, 0, t, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t c, const struct timespec *t)
{
	return rwlock_take(l, false, RWLOCK_CLOCK, c, t, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return rwlock_take(l, true, RWLOCK_LOCK, 0, NULL, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t)
{
	return rwlock_take(l, true, RWLOCK_TIMED, 0, t, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t c, const struct timespec *t)
{
	return rwlock_take(l, true, RWLOCK_CLOCK, c, t, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return rwlock_ends(l, 0, ktr__lock_real.pthread_rwlock_tryrdlock(l), 1, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return rwlock_ends(l, 1, ktr__lock_real.pthread_rwlock_trywrlock(l), 1, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	const void *caller = KTR__LOCK_CALLER();

	KTR__LOCK_FIRE(RW_RELEASE, caller, 3, l, (uint32_t)(rwlock_owner(l) != 0));
	return ktr__lock_real.pthread_rwlock_unlock(l);
}
