/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider's probes, lock:::NAME, after plockstat's: -block and -spin come before a thread waits, -blocked and
 * -spun after that, with how long it was since it was found that it must. And how one is fired.
 *
 * A row: identifier, name, its arguments as name:kind.
 */
#ifndef KTR_LOCK_PROBES_H
#define KTR_LOCK_PROBES_H

#include "ktr/provider/imports/image.h"
#include "ktr/provider/profile/create.h"
#include "ktr/provider/registry/fire.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define KTR__LOCK_PROBES(X)                                                                      \
	X(MUTEX_INIT, "mutex-init", "lock caller")                                               \
	X(MUTEX_ACQUIRE, "mutex-acquire", "lock recursive tried caller")                         \
	X(MUTEX_BLOCK, "mutex-block", "lock owner caller")                                       \
	X(MUTEX_BLOCKED, "mutex-blocked", "lock ns owner error caller")                          \
	X(MUTEX_INVERTED, "mutex-inverted", "lock ns owner priority owner_priority caller")      \
	X(MUTEX_RELEASE, "mutex-release", "lock recursive caller")                               \
	X(MUTEX_ERROR, "mutex-error", "lock error caller")                                       \
	X(RW_INIT, "rw-init", "lock caller")                                                     \
	X(RW_ACQUIRE, "rw-acquire", "lock write tried caller")                                   \
	X(RW_BLOCK, "rw-block", "lock write owner caller")                                       \
	X(RW_BLOCKED, "rw-blocked", "lock ns write owner error caller")                          \
	X(RW_RELEASE, "rw-release", "lock write caller")                                         \
	X(RW_ERROR, "rw-error", "lock write error caller")                                       \
	X(COND_WAIT, "cond-block", "cond mutex caller")                                          \
	X(COND_WAITED, "cond-blocked", "cond ns error mutex caller")                             \
	X(COND_SIGNAL, "cond-signal", "cond all caller")                                         \
	X(SEM_ACQUIRE, "sem-acquire", "sem caller")                                              \
	X(SEM_BLOCK, "sem-block", "sem caller")                                                  \
	X(SEM_BLOCKED, "sem-blocked", "sem ns error caller")                                     \
	X(SEM_RELEASE, "sem-release", "sem caller")                                              \
	X(SEM_ERROR, "sem-error", "sem error caller")                                            \
	X(SPIN_ACQUIRE, "spin-acquire", "lock caller")                                           \
	X(SPIN_SPIN, "spin-spin", "lock caller")                                                 \
	X(SPIN_SPUN, "spin-spun", "lock ns caller")                                              \
	X(SPIN_RELEASE, "spin-release", "lock caller")                                           \
	X(SPIN_ERROR, "spin-error", "lock error caller")                                         \
	X(BARRIER_BLOCK, "barrier-block", "barrier caller")                                      \
	X(BARRIER_BLOCKED, "barrier-blocked", "barrier ns last caller")                          \
	X(FUTEX_BLOCK, "futex-block", "lock caller")                                             \
	X(FUTEX_BLOCKED, "futex-blocked", "lock ns error caller")                                \
	X(STACK, "stack", "lock stack")

enum ktr__lock_number {
#define LOCK_NUMBER(id, name, arguments) KTR__LOCK_##id,
	KTR__LOCK_PROBES(LOCK_NUMBER)
#undef LOCK_NUMBER
	KTR__LOCK_N
};

extern struct ktr_provider_probe *ktr__lock_probe[KTR__LOCK_N]; /* there before anything is traced */
extern uint32_t ktr__lock_on; /* bit per probe: somebody wants it. Atomic */

static inline bool ktr__lock_is_on(enum ktr__lock_number number)
{
	return __atomic_load_n(&ktr__lock_on, __ATOMIC_RELAXED) & 1u << number;
}

/* Those after which the stack is told, where it is asked for: who takes a lock, and who begins to wait. */
#define KTR__LOCK_STACKED                                                                        \
	(1u << KTR__LOCK_MUTEX_ACQUIRE | 1u << KTR__LOCK_MUTEX_BLOCK | 1u << KTR__LOCK_RW_ACQUIRE | \
	 1u << KTR__LOCK_RW_BLOCK | 1u << KTR__LOCK_COND_WAIT | 1u << KTR__LOCK_SEM_BLOCK |      \
	 1u << KTR__LOCK_SPIN_ACQUIRE | 1u << KTR__LOCK_SPIN_SPIN | 1u << KTR__LOCK_BARRIER_BLOCK | \
	 1u << KTR__LOCK_FUTEX_BLOCK)

void ktr__lock_stack(const volatile void *lock, const void *caller);

/*
 * Is it ktr that calls, or a thread or a lock of its? What a function does last comes, as it seems, from who called
 * that.
 */
static inline bool ktr__lock_is_ours(const void *caller, const volatile void *lock)
{
	return ktr__create_is_own || ktr__image_is_ours((uintptr_t)caller) ||
	       ktr__image_is_ours((uintptr_t)lock);
}

static inline uint64_t ktr__lock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* n arguments, of which the lock is the first and the caller the last. Keeps errno. */
#define KTR__LOCK_FIRE(number, caller, n, ...)                                                   \
	do {                                                                                     \
		if (__builtin_expect(ktr__lock_is_on(KTR__LOCK_##number), 0) &&                  \
		    !ktr__lock_is_ours(caller, KTR__LOCK_FIRST(__VA_ARGS__, 0))) {               \
			KTR__LOCK_FIRE_(n, ktr__lock_probe[KTR__LOCK_##number], __VA_ARGS__, caller); \
			if (KTR__LOCK_STACKED >> KTR__LOCK_##number & 1 && ktr__lock_is_on(KTR__LOCK_STACK)) \
				ktr__lock_stack(KTR__LOCK_FIRST(__VA_ARGS__, 0), caller);        \
		}                                                                                \
	} while (0)
#define KTR__LOCK_FIRST(first, ...) (first)
#define KTR__LOCK_FIRE_(n, ...) KTR__LOCK_FIRE_##n(__VA_ARGS__)
#define KTR__LOCK_FIRE_2 KTR__FIRE2
#define KTR__LOCK_FIRE_3 KTR__FIRE3
#define KTR__LOCK_FIRE_4 KTR__FIRE4
#define KTR__LOCK_FIRE_5 KTR__FIRE5
#define KTR__LOCK_FIRE_6 KTR__FIRE6

#define KTR__LOCK_CALLER() __builtin_extract_return_addr(__builtin_return_address(0))

#endif
