/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider lock: who waits for whom. It is there in programs that were started with a probe of it asked for
 * (debug.ktr.probes), where their calls come to us (calls.c); and in those that the agent was put into, which call
 * the C library whatever is loaded later: there the objects' pointers are led to us.
 *
 * While no probe is on, a call of the program's goes through a load and a jump. Where only waiting is asked for,
 * giving a lock back does so still.
 */
#include "ktr/provider/lock/lock.h"

#include "ktr/knob/probes_asked.h"
#include "ktr/provider/imports/image.h"
#include "ktr/provider/lock/calls.h"
#include "ktr/provider/lock/futex.h"
#include "ktr/provider/lock/mutex.h"
#include "ktr/provider/lock/probes.h"
#include "ktr/provider/lock/traced.h"
#include "ktr/provider/lock/waits.h"
#include "ktr/provider/profile/stacks.h"
#include "ktr/record/module.h"
#include "ktr/start/attach.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct ktr_provider_probe *ktr__lock_probe[KTR__LOCK_N];
uint32_t ktr__lock_on;

const struct ktr__lock_calls ktr__lock_traced = {
#define LOCK_IS_TRACED(name, parameters, arguments, version, old) .name = ktr__traced_##name,
	KTR__LOCK_CALLS(LOCK_IS_TRACED)
};

static const char *const lock_name[] = {
#define LOCK_NAME(id, name, arguments) [KTR__LOCK_##id] = name,
	KTR__LOCK_PROBES(LOCK_NAME)
};

static const char *const lock_arguments[] = {
#define LOCK_ARGUMENTS(id, name, arguments) [KTR__LOCK_##id] = arguments,
	KTR__LOCK_PROBES(LOCK_ARGUMENTS)
};

/* ---- which calls are led to us ---- */

#define LOCK_BIT(id) (1u << KTR__LOCK_##id)
#define LOCK_MUTEX_TAKEN (LOCK_BIT(MUTEX_ACQUIRE) | LOCK_BIT(MUTEX_ERROR))
#define LOCK_MUTEX	 (LOCK_MUTEX_TAKEN | LOCK_BIT(MUTEX_BLOCK) | LOCK_BIT(MUTEX_BLOCKED) | \
			  LOCK_BIT(MUTEX_INVERTED))
#define LOCK_MUTEX_GIVEN (LOCK_BIT(MUTEX_RELEASE) | LOCK_BIT(MUTEX_ERROR))
#define LOCK_RW_TAKEN	 (LOCK_BIT(RW_ACQUIRE) | LOCK_BIT(RW_ERROR))
#define LOCK_RW		 (LOCK_RW_TAKEN | LOCK_BIT(RW_BLOCK) | LOCK_BIT(RW_BLOCKED))
#define LOCK_COND_MUTEX	 (LOCK_BIT(MUTEX_ACQUIRE) | LOCK_BIT(MUTEX_RELEASE))
#define LOCK_COND	 (LOCK_BIT(COND_WAIT) | LOCK_BIT(COND_WAITED) | LOCK_COND_MUTEX)
#define LOCK_SEM_TAKEN	 (LOCK_BIT(SEM_ACQUIRE) | LOCK_BIT(SEM_ERROR))
#define LOCK_SEM	 (LOCK_SEM_TAKEN | LOCK_BIT(SEM_BLOCK) | LOCK_BIT(SEM_BLOCKED))
#define LOCK_SPIN_TAKEN	 (LOCK_BIT(SPIN_ACQUIRE) | LOCK_BIT(SPIN_ERROR))
#define LOCK_SPIN	 (LOCK_SPIN_TAKEN | LOCK_BIT(SPIN_SPIN) | LOCK_BIT(SPIN_SPUN))
#define LOCK_BARRIER	 (LOCK_BIT(BARRIER_BLOCK) | LOCK_BIT(BARRIER_BLOCKED))

/* Each call, and the probes for which it has to be ours. */
#define LOCK_NEEDS(X)                                                                            \
	X(pthread_mutex_init, LOCK_BIT(MUTEX_INIT))                                              \
	X(mtx_init, LOCK_BIT(MUTEX_INIT))                                                        \
	X(pthread_rwlock_init, LOCK_BIT(RW_INIT))                                                \
	X(pthread_mutex_lock, LOCK_MUTEX)                                                        \
	X(pthread_mutex_timedlock, LOCK_MUTEX)                                                   \
	X(pthread_mutex_clocklock, LOCK_MUTEX)                                                   \
	X(pthread_mutex_trylock, LOCK_MUTEX_TAKEN)                                               \
	X(pthread_mutex_unlock, LOCK_MUTEX_GIVEN)                                                \
	X(mtx_lock, LOCK_MUTEX)                                                                  \
	X(mtx_timedlock, LOCK_MUTEX)                                                             \
	X(mtx_trylock, LOCK_MUTEX_TAKEN)                                                         \
	X(mtx_unlock, LOCK_MUTEX_GIVEN)                                                          \
	X(pthread_rwlock_rdlock, LOCK_RW)                                                        \
	X(pthread_rwlock_timedrdlock, LOCK_RW)                                                   \
	X(pthread_rwlock_clockrdlock, LOCK_RW)                                                   \
	X(pthread_rwlock_wrlock, LOCK_RW)                                                        \
	X(pthread_rwlock_timedwrlock, LOCK_RW)                                                   \
	X(pthread_rwlock_clockwrlock, LOCK_RW)                                                   \
	X(pthread_rwlock_tryrdlock, LOCK_RW_TAKEN)                                               \
	X(pthread_rwlock_trywrlock, LOCK_RW_TAKEN)                                               \
	X(pthread_rwlock_unlock, LOCK_BIT(RW_RELEASE))                                           \
	X(pthread_cond_wait, LOCK_COND)                                                          \
	X(pthread_cond_timedwait, LOCK_COND)                                                     \
	X(pthread_cond_clockwait, LOCK_COND)                                                     \
	X(pthread_cond_signal, LOCK_BIT(COND_SIGNAL))                                            \
	X(pthread_cond_broadcast, LOCK_BIT(COND_SIGNAL))                                         \
	X(cnd_wait, LOCK_COND)                                                                   \
	X(cnd_timedwait, LOCK_COND)                                                              \
	X(cnd_signal, LOCK_BIT(COND_SIGNAL))                                                     \
	X(cnd_broadcast, LOCK_BIT(COND_SIGNAL))                                                  \
	X(sem_wait, LOCK_SEM)                                                                    \
	X(sem_timedwait, LOCK_SEM)                                                               \
	X(sem_clockwait, LOCK_SEM)                                                               \
	X(sem_trywait, LOCK_SEM_TAKEN)                                                           \
	X(sem_post, LOCK_BIT(SEM_RELEASE))                                                       \
	X(pthread_spin_lock, LOCK_SPIN)                                                          \
	X(pthread_spin_trylock, LOCK_SPIN_TAKEN)                                                 \
	X(pthread_spin_unlock, LOCK_BIT(SPIN_RELEASE))                                           \
	X(pthread_barrier_wait, LOCK_BARRIER)

/* All of them have a row in both tables. */
#define LOCK_ONE(name, ...) +1
_Static_assert((0 LOCK_NEEDS(LOCK_ONE)) == (0 KTR__LOCK_CALLS(LOCK_ONE)), "a call without its probes");

static bool lock_waits; /* somebody wants to know who waits; by one thread at a time */

#define LOCK_WAITS									 \
	(LOCK_BIT(MUTEX_BLOCKED) | LOCK_BIT(RW_BLOCKED) | LOCK_BIT(COND_WAITED) | LOCK_BIT(SEM_BLOCKED) | \
	 LOCK_BIT(BARRIER_BLOCKED) | LOCK_BIT(FUTEX_BLOCKED))

static void lock_lead(void)
{
	uint32_t on = ktr__lock_on | (lock_waits ? LOCK_WAITS : 0);

#define LOCK_LEAD(name, probes)                                                                  \
	__atomic_store_n(&ktr__lock_way.name,                                                    \
			 on & (probes) ? ktr__traced_##name : ktr__lock_real.name, __ATOMIC_RELEASE);
	LOCK_NEEDS(LOCK_LEAD)
	ktr__futex_lead(on & (LOCK_BIT(FUTEX_BLOCK) | LOCK_BIT(FUTEX_BLOCKED)));
}

static bool lock_is_late; /* the program ran already */

void ktr__lock_waits(bool on)
{
	lock_waits = on;
	if (on && lock_is_late)
		ktr__imports_lead(&ktr__lock_imports, NULL);
	lock_lead();
	if (!on && !ktr__lock_on)
		ktr__imports_restore(&ktr__lock_imports);
}

void ktr__lock_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	ktr__lock_resolve();
	pthread_once(&once, ktr__mutex_begin);
}

static __attribute__((noinline)) void lock_stack_known(const volatile void *lock, const void *caller)
{
	struct ktr__frames frames;
	int saved = errno;

	ktr__stacks_here(&frames, caller);
	KTR__FIRE2(ktr__lock_probe[KTR__LOCK_STACK], lock, (uint64_t)(uintptr_t)&frames);
	errno = saved;
}

/* Right after the event that it belongs to, by the same thread. */
void ktr__lock_stack(const volatile void *lock, const void *caller)
{
	struct ktr__frame frame;

	if (ktr__stacks_known((uintptr_t)__builtin_frame_address(0))) {
		lock_stack_known(lock, caller);
		return;
	}
	ktr__stacks_one(&frame, (uintptr_t)caller);
	KTR__FIRE2(ktr__lock_probe[KTR__LOCK_STACK], lock, (uint64_t)(uintptr_t)&frame);
}

/* ---- the provider's operations ---- */

static enum ktr__lock_number lock_number(const struct ktr_provider_probe *probe)
{
	return (enum ktr__lock_number)(uintptr_t)probe->context;
}

static int lock_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	if (!lock_is_late && !ktr__lock_is_first())
		return ktr_error_set(why, ENOTSUP, "the program calls the locks of another object than the agent's, "
				     "which was there first");
	if (lock_is_late && ktr__imports_lead(&ktr__lock_imports, why))
		return -why->code;
	ktr__image_look();
	if (lock_number(probe) == KTR__LOCK_STACK)
		ktr__stacks_look();
	/* By who offers it: that has not returned yet. */
	ktr__lock_probe[lock_number(probe)] = probe;
	__atomic_fetch_or(&ktr__lock_on, 1u << lock_number(probe), __ATOMIC_RELEASE);
	lock_lead();
	return 0;
}

static void lock_disable(struct ktr_provider_probe *probe)
{
	__atomic_fetch_and(&ktr__lock_on, ~(1u << lock_number(probe)), __ATOMIC_RELEASE);
	lock_lead();
	if (!ktr__lock_on && !lock_waits)
		ktr__imports_restore(&ktr__lock_imports);
}

static const struct {
	const char *name;
	struct ktr_provider_arg arg;
} lock_kinds[] = {
	{ "lock", { "lock", "void *", KTR_ARG_PTR } },	     { "cond", { "cond", "void *", KTR_ARG_PTR } },
	{ "mutex", { "mutex", "void *", KTR_ARG_PTR } },     { "sem", { "sem", "void *", KTR_ARG_PTR } },
	{ "barrier", { "barrier", "void *", KTR_ARG_PTR } }, { "caller", { "caller", "void *", KTR_ARG_PTR } },
	{ "ns", { "ns", "int64_t", KTR_ARG_I64 } },	     { "owner", { "owner", "pid_t", KTR_ARG_U32 } },
	{ "error", { "error", "int", KTR_ARG_I32 } },	     { "recursive", { "recursive", "int", KTR_ARG_U32 } },
	{ "write", { "write", "int", KTR_ARG_U32 } },	     { "all", { "all", "int", KTR_ARG_U32 } },
	{ "priority", { "priority", "int", KTR_ARG_I32 } },
	{ "owner_priority", { "owner_priority", "int", KTR_ARG_I32 } },
	{ "stack", { "stack", "stack", KTR_ARG_STACK } },
	{ "last", { "last", "int", KTR_ARG_U32 } },	     { "tried", { "tried", "int", KTR_ARG_U32 } },
};

static int lock_argument(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	const char *at = lock_arguments[lock_number(probe)];
	size_t length = strcspn(at, " ");

	for (; number && at[length]; number--) {
		at += length + 1;
		length = strcspn(at, " ");
	}
	for (unsigned i = 0; !number && i < sizeof(lock_kinds) / sizeof(lock_kinds[0]); i++)
		if (strlen(lock_kinds[i].name) == length && strncmp(lock_kinds[i].name, at, length) == 0) {
			*arg = lock_kinds[i].arg;
			return 0;
		}
	return -ENOENT;
}

/* Once a second, and when a stack went through something new. */
static void lock_look(struct ktr_provider *provider)
{
	(void)provider;
	ktr__image_look();
	ktr__imports_look(&ktr__lock_imports);
	if (ktr__lock_is_on(KTR__LOCK_STACK))
		ktr__stacks_look();
}

static const struct ktr_provider_ops lock_ops = {
	.size = sizeof(lock_ops),
	.enable = lock_enable,
	.disable = lock_disable,
	.arg_desc = lock_argument,
	.look = lock_look,
};

/* Is any of them wanted from the start? */
static bool lock_is_asked(void)
{
	char full[64];

	for (unsigned i = 0; i < KTR__LOCK_N; i++) {
		snprintf(full, sizeof(full), "lock:::%s", lock_name[i]);
		if (ktr__probe_asked("", full))
			return true;
	}
	return false;
}

static bool lock_is_there;

static void lock_begin_it(void)
{
	struct ktr_provider *provider;

	lock_is_there = true;
	ktr__lock_ready();
	ktr__stacks_want();
	if (ktr_provider_register("lock", &lock_ops, NULL, &provider))
		return;
	for (unsigned i = 0; i < KTR__LOCK_N; i++)
		ktr_provider_offer(provider, NULL, NULL, lock_name[i], (void *)(uintptr_t)i, &ktr__lock_probe[i]);
}

void ktr__lock_begin(void)
{
	if (lock_is_there)
		return;
	ktr__lock_resolve();
	lock_begin_it();
}

__attribute__((constructor)) static void lock_loaded(void)
{
	lock_is_late = gettid() != getpid();
	if (lock_is_late)
		return; /* `ktr attach` */
	ktr__lock_resolve();
	ktr__module_attach(&ktr__module_entry);
	if (lock_is_asked())
		lock_begin_it();
}
