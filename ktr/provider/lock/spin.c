/* SPDX-License-Identifier: BSD-2-Clause */
/* Spin locks, whose threads burn their CPUs while they wait, and barriers, at which all but the last one wait. */
#include "ktr/provider/lock/probes.h"
#include "ktr/provider/lock/traced.h"
#include "ktr/provider/profile/off.h"

#include <errno.h>

static int spin_ends(const volatile int *lock, int code, const void *caller)
{
	if (code == 0)
		KTR__LOCK_FIRE(SPIN_ACQUIRE, caller, 2, lock);
	else
		KTR__LOCK_FIRE(SPIN_ERROR, caller, 3, lock, code);
	return code;
}

int ktr__traced_pthread_spin_lock(pthread_spinlock_t *l)
{
	const void *caller = KTR__LOCK_CALLER();
	int code = ktr__lock_real.pthread_spin_trylock(l);
	uint64_t began_ns, ns;

	if (__builtin_expect(code == EBUSY, 0)) {
		began_ns = ktr__lock_now_ns();
		KTR__LOCK_FIRE(SPIN_SPIN, caller, 2, l);
		code = ktr__lock_real.pthread_spin_lock(l);
		ns = ktr__lock_now_ns() - began_ns;
		KTR__LOCK_FIRE(SPIN_SPUN, caller, 3, l, ns);
	}
	return spin_ends(l, code, caller);
}

int ktr__traced_pthread_spin_trylock(pthread_spinlock_t *l)
{
	return spin_ends(l, ktr__lock_real.pthread_spin_trylock(l), KTR__LOCK_CALLER());
}

int ktr__traced_pthread_spin_unlock(pthread_spinlock_t *l)
{
	const void *caller = KTR__LOCK_CALLER();

	KTR__LOCK_FIRE(SPIN_RELEASE, caller, 2, l);
	return ktr__lock_real.pthread_spin_unlock(l);
}

int ktr__traced_pthread_barrier_wait(pthread_barrier_t *b)
{
	const void *caller = KTR__LOCK_CALLER();
	struct ktr__off off;
	uint64_t began_ns, ns;
	int code;

	began_ns = ktr__lock_now_ns();
	KTR__LOCK_FIRE(BARRIER_BLOCK, caller, 2, b);
	ktr__off_begin(&off);
	code = ktr__lock_real.pthread_barrier_wait(b);
	ns = ktr__lock_now_ns() - began_ns;
	ktr__off_end(&off, "barrier", caller);
	KTR__LOCK_FIRE(BARRIER_BLOCKED, caller, 4, b, ns, (uint32_t)(code == PTHREAD_BARRIER_SERIAL_THREAD));
	return code;
}
