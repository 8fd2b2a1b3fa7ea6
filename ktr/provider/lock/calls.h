/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of the C library that the provider stands in front of, and what each of them leads to now.
 *
 * A row: name, parameters, arguments, the version that programs ask for which are linked today, and the one of
 * those that were linked before glibc 2.34, when these functions moved from libpthread to libc ("": there is none).
 * Both are the same function, but for condition variables: of those the versions of 2.2.5 have another layout, and
 * are left to the C library. Versions are those of x86-64.
 */
#ifndef KTR_LOCK_CALLS_H
#define KTR_LOCK_CALLS_H

#include "ktr/provider/imports/imports.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#define KTR__LOCK_CALLS(X)                                                                                       \
	X(pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *a), (m, a), "GLIBC_2.2.5", "")    \
	X(mtx_init, (mtx_t * m, int kind), (m, kind), "GLIBC_2.34", "GLIBC_2.28")                                \
	X(pthread_rwlock_init, (pthread_rwlock_t * l, const pthread_rwlockattr_t *a), (l, a), "GLIBC_2.34",      \
	  "GLIBC_2.2.5")                                                                                         \
	X(pthread_mutex_lock, (pthread_mutex_t * m), (m), "GLIBC_2.2.5", "")                                     \
	X(pthread_mutex_trylock, (pthread_mutex_t * m), (m), "GLIBC_2.34", "GLIBC_2.2.5")                        \
	X(pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), (m, t), "GLIBC_2.34",        \
	  "GLIBC_2.2.5")                                                                                         \
	X(pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t c, const struct timespec *t), (m, c, t),      \
	  "GLIBC_2.34", "GLIBC_2.30")                                                                            \
	X(pthread_mutex_unlock, (pthread_mutex_t * m), (m), "GLIBC_2.2.5", "")                                   \
	X(mtx_lock, (mtx_t * m), (m), "GLIBC_2.34", "GLIBC_2.28")                                                \
	X(mtx_trylock, (mtx_t * m), (m), "GLIBC_2.34", "GLIBC_2.28")                                             \
	X(mtx_timedlock, (mtx_t * m, const struct timespec *t), (m, t), "GLIBC_2.34", "GLIBC_2.28")              \
	X(mtx_unlock, (mtx_t * m), (m), "GLIBC_2.34", "GLIBC_2.28")                                              \
	X(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                       \
	X(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                    \
	X(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t), "GLIBC_2.34",    \
	  "GLIBC_2.2.5")                                                                                         \
	X(pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t c, const struct timespec *t), (l, c, t),  \
	  "GLIBC_2.34", "GLIBC_2.30")                                                                            \
	X(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                       \
	X(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                    \
	X(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t), "GLIBC_2.34",    \
	  "GLIBC_2.2.5")                                                                                         \
	X(pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t c, const struct timespec *t), (l, c, t),  \
	  "GLIBC_2.34", "GLIBC_2.30")                                                                            \
	X(pthread_rwlock_unlock, (pthread_rwlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                       \
	X(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t * m), (c, m), "GLIBC_2.3.2", "")               \
	X(pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *t), (c, m, t), \
	  "GLIBC_2.3.2", "")                                                                                     \
	X(pthread_cond_clockwait,                                                                                \
	  (pthread_cond_t * c, pthread_mutex_t * m, clockid_t k, const struct timespec *t), (c, m, k, t),        \
	  "GLIBC_2.34", "GLIBC_2.30")                                                                            \
	X(pthread_cond_signal, (pthread_cond_t * c), (c), "GLIBC_2.3.2", "")                                     \
	X(pthread_cond_broadcast, (pthread_cond_t * c), (c), "GLIBC_2.3.2", "")                                  \
	X(cnd_wait, (cnd_t * c, mtx_t * m), (c, m), "GLIBC_2.34", "GLIBC_2.28")                                  \
	X(cnd_timedwait, (cnd_t * c, mtx_t * m, const struct timespec *t), (c, m, t), "GLIBC_2.34", "GLIBC_2.28") \
	X(cnd_signal, (cnd_t * c), (c), "GLIBC_2.34", "GLIBC_2.28")                                              \
	X(cnd_broadcast, (cnd_t * c), (c), "GLIBC_2.34", "GLIBC_2.28")                                           \
	X(sem_wait, (sem_t * s), (s), "GLIBC_2.34", "GLIBC_2.2.5")                                               \
	X(sem_trywait, (sem_t * s), (s), "GLIBC_2.34", "GLIBC_2.2.5")                                            \
	X(sem_timedwait, (sem_t * s, const struct timespec *t), (s, t), "GLIBC_2.34", "GLIBC_2.2.5")             \
	X(sem_clockwait, (sem_t * s, clockid_t c, const struct timespec *t), (s, c, t), "GLIBC_2.34",\
	  "GLIBC_2.30")\
	X(sem_post, (sem_t * s), (s), "GLIBC_2.34", "GLIBC_2.2.5")                                               \
	X(pthread_spin_lock, (pthread_spinlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                         \
	X(pthread_spin_trylock, (pthread_spinlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                      \
	X(pthread_spin_unlock, (pthread_spinlock_t * l), (l), "GLIBC_2.34", "GLIBC_2.2.5")                       \
	X(pthread_barrier_wait, (pthread_barrier_t * b), (b), "GLIBC_2.34", "GLIBC_2.2.5")

struct ktr__lock_calls {
#define LOCK_MEMBER(name, parameters, arguments, version, old) int(*name) parameters;
	KTR__LOCK_CALLS(LOCK_MEMBER)
#undef LOCK_MEMBER
};

extern struct ktr__lock_calls ktr__lock_real; /* the C library's; written once, before anything is traced */
extern struct ktr__lock_calls ktr__lock_way;  /* where calls go now; atomic, each */
extern const struct ktr__lock_calls ktr__lock_traced; /* ours, which tell of what they do */

/* Finds the real ones, once: asks the loader. Also done by the first call that comes before. */
void ktr__lock_resolve(void);

/* Does the process call ours? Not where another object stands before this one in the loader's order. */
int ktr__lock_is_first(void);

/* Has them call ours by the pointers of what is loaded, where the agent came later. */
extern struct ktr__imports ktr__lock_imports;

#endif
