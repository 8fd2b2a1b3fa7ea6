/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes. A lock is tried first: who gets it has waited for nothing, and nothing more is done. Who does not asks
 * whose it is, takes the time, and waits in the real function.
 *
 * The owner is what glibc keeps in the mutex (struct __pthread_mutex_s, bits/struct_mutex.h), read when a thread is
 * about to wait: the number of a thread, which may have let go of it meanwhile.
 */
#include "ktr/provider/lock/mutex.h"

#include "ktr/provider/lock/inversion.h"
#include "ktr/provider/lock/probes.h"
#include "ktr/provider/lock/traced.h"
#include "ktr/provider/profile/off.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of __kind, as glibc has it (PTHREAD_MUTEX_KIND_MASK_NP and so on). */
#define MUTEX_KIND     3
#define MUTEX_ROBUST   16
#define MUTEX_INHERITS 32
#define MUTEX_TID      0x3fffffff /* of __lock, which the kernel knows: FUTEX_TID_MASK */
#define MUTEX_LOST     0x7ffffffe /* of __owner of a robust one: PTHREAD_MUTEX_NOTRECOVERABLE */

static uint32_t mutex_owner(const pthread_mutex_t *mutex)
{
	int owner;

	/* __owner of a robust one is none while it is not consistent. */
	if (mutex->__data.__kind & (MUTEX_ROBUST | MUTEX_INHERITS))
		return (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & MUTEX_TID;
	owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
	return owner > 0 ? (uint32_t)owner : 0;
}

/* The number of the calling thread, of which nobody is asked: as ktr__thread_unasked() has it. */
uint32_t ktr__mutex_self(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	uint32_t self;

	ktr__lock_real.pthread_mutex_lock(&mutex);
	self = mutex_owner(&mutex);
	ktr__lock_real.pthread_mutex_unlock(&mutex);
	return self;
}

/* One that checks for errors, by who has it: the real function says so, and nobody waits. */
static bool mutex_refuses(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & MUTEX_KIND) == PTHREAD_MUTEX_ERRORCHECK_NP &&
	       mutex_owner(mutex) == ktr__mutex_self();
}

/* Is it not to be given back, because another thread has it or nobody? Only some kinds look. */
static bool mutex_is_not_mine(const pthread_mutex_t *mutex)
{
	int kind = mutex->__data.__kind;

	if (!(kind & (MUTEX_ROBUST | MUTEX_INHERITS)) && (kind & MUTEX_KIND) != PTHREAD_MUTEX_ERRORCHECK_NP &&
	    (kind & MUTEX_KIND) != PTHREAD_MUTEX_RECURSIVE_NP)
		return false;
	return mutex_owner(mutex) != ktr__mutex_self();
}

static uint32_t mutex_is_recursive(const pthread_mutex_t *mutex)
{
	return mutex->__data.__count > 1;
}

void ktr__mutex_got(const pthread_mutex_t *mutex, uint32_t tried, const void *caller)
{
	KTR__LOCK_FIRE(MUTEX_ACQUIRE, caller, 4, mutex, mutex_is_recursive(mutex), tried);
}

bool ktr__mutex_leaves(const pthread_mutex_t *mutex, const void *caller)
{
	if (!ktr__lock_is_on(KTR__LOCK_MUTEX_RELEASE) && !ktr__lock_is_on(KTR__LOCK_MUTEX_ACQUIRE))
		return true; /* nobody wants to know */
	if (mutex_is_not_mine(mutex))
		return false;
	KTR__LOCK_FIRE(MUTEX_RELEASE, caller, 3, mutex, mutex_is_recursive(mutex));
	return true;
}

/* What came of it: a code of pthread's. */
static inline int mutex_ends(const pthread_mutex_t *mutex, int code, uint32_t tried, const void *caller)
{
	if (code == 0 || code == EOWNERDEAD)
		ktr__mutex_got(mutex, tried, caller);
	else
		KTR__LOCK_FIRE(MUTEX_ERROR, caller, 3, mutex, code);
	return code;
}

struct mutex_wait {
	struct ktr__inversion inversion;
	struct ktr__off off;
	uint64_t began_ns;
	uint32_t owner;
};

static __attribute__((noinline)) void mutex_block(struct mutex_wait *wait, const pthread_mutex_t *mutex,
						  const void *caller)
{
	int saved = errno;

	wait->began_ns = ktr__lock_now_ns();
	wait->owner = mutex_owner(mutex);
	KTR__LOCK_FIRE(MUTEX_BLOCK, caller, 3, mutex, wait->owner);
	wait->inversion.owner = 0;
	if (ktr__lock_is_on(KTR__LOCK_MUTEX_INVERTED))
		ktr__inversion_begin(&wait->inversion, wait->owner);
	errno = saved;
	ktr__off_begin(&wait->off);
}

static __attribute__((noinline)) void mutex_blocked(const struct mutex_wait *wait, const pthread_mutex_t *mutex,
						    int code, const void *caller)
{
	const struct ktr__inversion *inversion = &wait->inversion;
	uint64_t ns = ktr__lock_now_ns() - wait->began_ns, delay_ns = 0;

	ktr__off_end(&wait->off, "mutex", caller);
	KTR__LOCK_FIRE(MUTEX_BLOCKED, caller, 5, mutex, ns, wait->owner, code);
	if (inversion->owner && ktr__inversion_end(inversion, &delay_ns))
		KTR__LOCK_FIRE(MUTEX_INVERTED, caller, 6, mutex, delay_ns, inversion->owner, inversion->mine,
			       inversion->its);
}

/* ---- a mutex that is free ---- */

/*
 * One of the normal kind that nobody has is taken as glibc 2.2 and later takes it, for whom the layout is part of
 * its interface: static initializers and shared mutexes have it. What trylock costs more than lock would double the
 * price. Not before this library was seen to do just that.
 */
static bool mutex_is_known;
static __thread uint32_t mutex_self __attribute__((tls_model("initial-exec"))); /* 0: not asked yet */

static inline __attribute__((always_inline)) bool mutex_take_free(pthread_mutex_t *mutex)
{
	int none = 0;

	if (mutex->__data.__kind || !mutex_self ||
	    !__atomic_compare_exchange_n(&mutex->__data.__lock, &none, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	mutex->__data.__owner = (int)mutex_self;
	mutex->__data.__nusers++;
	return true;
}

/* In the child of a fork it has another number. */
static void mutex_forked(void)
{
	mutex_self = 0;
}

static bool mutex_is(const pthread_mutex_t *mutex, int lock, uint32_t owner, unsigned n_users)
{
	return mutex->__data.__lock == lock && mutex->__data.__owner == (int)owner &&
	       mutex->__data.__nusers == n_users && !mutex->__data.__kind;
}

void ktr__mutex_begin(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	void *libc = dlvsym(RTLD_NEXT, "pthread_mutex_lock", "GLIBC_2.2.5");
	uint32_t self = libc == (void *)(uintptr_t)ktr__lock_real.pthread_mutex_lock ? ktr__mutex_self() : 0;
	bool known = self && mutex_is(&mutex, 0, 0, 0) && !ktr__lock_real.pthread_mutex_lock(&mutex) &&
		     mutex_is(&mutex, 1, self, 1) && !ktr__lock_real.pthread_mutex_unlock(&mutex);

	mutex_self = self;
	known = known && mutex_is(&mutex, 0, 0, 0) && mutex_take_free(&mutex) && mutex_is(&mutex, 1, self, 1) &&
		ktr__lock_real.pthread_mutex_trylock(&mutex) == EBUSY &&
		!ktr__lock_real.pthread_mutex_unlock(&mutex) && mutex_is(&mutex, 0, 0, 0);
	mutex_is_known = known && pthread_atfork(NULL, NULL, mutex_forked) == 0;
	mutex_self = mutex_is_known ? self : 0;
}

/* ---- a robust mutex that nobody can have any more ---- */

static inline bool mutex_is_lost(const pthread_mutex_t *mutex)
{
	return mutex->__data.__kind & MUTEX_ROBUST &&
	       __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == MUTEX_LOST;
}

/*
 * glibc's trylock says so, too (2.36), but has taken it then, and whoever asks next waits for good; its lock lets
 * go of it. Unlock would make it good again.
 */
static __attribute__((noinline)) void mutex_let_go(pthread_mutex_t *mutex)
{
	int was = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED), saved = errno;

	if ((uint32_t)(was & MUTEX_TID) != ktr__mutex_self())
		return;
	was = __atomic_exchange_n(&mutex->__data.__lock, 0, __ATOMIC_RELEASE);
	if (was & (int)FUTEX_WAITERS)
		syscall(SYS_futex, &mutex->__data.__lock, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

/* ---- taken ---- */

enum mutex_how { MUTEX_LOCK, MUTEX_TIMED, MUTEX_CLOCK };

static inline __attribute__((always_inline)) int mutex_real(pthread_mutex_t *m, enum mutex_how how, clockid_t c,
							    const struct timespec *t)
{
	return how == MUTEX_LOCK    ? ktr__lock_real.pthread_mutex_lock(m)
	       : how == MUTEX_TIMED ? ktr__lock_real.pthread_mutex_timedlock(m, t)
				    : ktr__lock_real.pthread_mutex_clocklock(m, c, t);
}

static inline __attribute__((always_inline)) int mutex_take(pthread_mutex_t *m, enum mutex_how how, clockid_t c,
							    const struct timespec *t, const void *caller)
{
	struct mutex_wait wait;
	int code;

	/* A clock that it does not know is refused also where the lock is free. */
	if (how == MUTEX_CLOCK && ktr__lock_time_is_bad(c, NULL))
		return mutex_ends(m, mutex_real(m, how, c, t), 0, caller);
	if (__builtin_expect(mutex_is_lost(m), 0))
		return mutex_ends(m, mutex_real(m, how, c, t), 0, caller);
	code = ktr__lock_real.pthread_mutex_trylock(m);
	if (__builtin_expect(code == ENOTRECOVERABLE, 0)) {
		mutex_let_go(m);
	} else if (__builtin_expect(code == EBUSY, 0)) {
		if (mutex_refuses(m))
			return mutex_ends(m, mutex_real(m, how, c, t), 0, caller);
		mutex_block(&wait, m, caller);
		code = mutex_real(m, how, c, t);
		mutex_blocked(&wait, m, code, caller);
	}
	return mutex_ends(m, code, 0, caller);
}

static inline int mutex_made(const void *mutex, int code, const void *caller)
{
	if (code == 0)
		KTR__LOCK_FIRE(MUTEX_INIT, caller, 2, mutex);
	return code;
}

int ktr__traced_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
	return mutex_made(m, ktr__lock_real.pthread_mutex_init(m, a), KTR__LOCK_CALLER());
}

int ktr__traced_mtx_init(mtx_t *m, int kind)
{
	int code = ktr__lock_real.mtx_init(m, kind);

	mutex_made(m, code == thrd_success ? 0 : EINVAL, KTR__LOCK_CALLER());
	return code;
}

static __attribute__((noinline)) int mutex_lock(pthread_mutex_t *m, const void *caller)
{
	if (mutex_is_known && !mutex_self)
		mutex_self = ktr__mutex_self();
	return mutex_take(m, MUTEX_LOCK, 0, NULL, caller);
}

/* A code of pthread's. */
static inline __attribute__((always_inline)) int mutex_lock_free(pthread_mutex_t *m, const void *caller)
{
	if (__builtin_expect(!mutex_take_free(m), 0))
		return mutex_lock(m, caller);
	if (__builtin_expect(ktr__lock_is_on(KTR__LOCK_MUTEX_ACQUIRE), 0))
		ktr__mutex_got(m, 0, caller);
	return 0;
}

int ktr__traced_pthread_mutex_lock(pthread_mutex_t *m)
{
	return mutex_lock_free(m, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t)
{
	return mutex_take(m, MUTEX_TIMED, 0, t, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t c, const struct timespec *t)
{
	return mutex_take(m, MUTEX_CLOCK, c, t, KTR__LOCK_CALLER());
}

int ktr__traced_pthread_mutex_trylock(pthread_mutex_t *m)
{
	return mutex_ends(m, ktr__lock_real.pthread_mutex_trylock(m), 1, KTR__LOCK_CALLER());
}

static inline __attribute__((always_inline)) int mutex_give(pthread_mutex_t *m, const void *caller)
{
	int code;

	ktr__mutex_leaves(m, caller);
	code = ktr__lock_real.pthread_mutex_unlock(m);
	if (__builtin_expect(code, 0))
		KTR__LOCK_FIRE(MUTEX_ERROR, caller, 3, m, code);
	return code;
}

int ktr__traced_pthread_mutex_unlock(pthread_mutex_t *m)
{
	return mutex_give(m, KTR__LOCK_CALLER());
}

/* ---- C11's, which are pthread's in glibc, with other codes ---- */

int ktr__mutex_code(int code)
{
	return code == 0	   ? thrd_success
	       : code == EBUSY	   ? thrd_busy
	       : code == ENOMEM	   ? thrd_nomem
	       : code == ETIMEDOUT ? thrd_timedout
				   : thrd_error;
}

int ktr__traced_mtx_lock(mtx_t *m)
{
	return ktr__mutex_code(mutex_lock_free((pthread_mutex_t *)m, KTR__LOCK_CALLER()));
}

int ktr__traced_mtx_timedlock(mtx_t *m, const struct timespec *t)
{
	return ktr__mutex_code(mutex_take((pthread_mutex_t *)m, MUTEX_TIMED, 0, t, KTR__LOCK_CALLER()));
}

int ktr__traced_mtx_trylock(mtx_t *m)
{
	pthread_mutex_t *mutex = (pthread_mutex_t *)m;

	return ktr__mutex_code(
		mutex_ends(mutex, ktr__lock_real.pthread_mutex_trylock(mutex), 1, KTR__LOCK_CALLER()));
}

int ktr__traced_mtx_unlock(mtx_t *m)
{
	return ktr__mutex_code(mutex_give((pthread_mutex_t *)m, KTR__LOCK_CALLER()));
}
