/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon blocks all signals and waits for any of them, with sigwait(3) or a descriptor: there ours would be one
 * that it has never heard of. The agent stands in front of these calls, and takes it out of what they wait for;
 * and tells how long that was, where somebody wants to know (off.h). Calls that go to the kernel past the C library
 * are not seen.
 */
#include "ktr/provider/timer/wait.h"

#include "ktr/provider/timer/off.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <time.h>

int ktr__wait_without;
const struct ktr__off_teller *ktr__off_teller;

/* The set without our signal. */
static const sigset_t *wait_set(const sigset_t *set, sigset_t *less)
{
	int without = __atomic_load_n(&ktr__wait_without, __ATOMIC_RELAXED);

	if (!without || !set || sigismember(set, without) != 1)
		return set;
	*less = *set;
	sigdelset(less, without);
	return less;
}

/* Whose call it would be without us; the loader knows. Several threads may ask at once, and get the same. */
static void *wait_find(void **known, const char *name)
{
	void *real = __atomic_load_n(known, __ATOMIC_ACQUIRE);

	if (!real) {
		real = dlsym(RTLD_NEXT, name);
		__atomic_store_n(known, real, __ATOMIC_RELEASE);
	}
	return real;
}

/* One that is exported: the set is named set. */
#define WAIT_CALL(type, name, parameters, arguments)                                                             \
	__attribute__((visibility("default"))) type ktr__wait_##name parameters;                                 \
	type ktr__wait_##name parameters                                                                         \
	{                                                                                                        \
		static void *known;                                                                              \
		type(*real) parameters = (type(*) parameters)(uintptr_t)wait_find(&known, #name); /* NOLINT */   \
		const void *caller = __builtin_extract_return_addr(__builtin_return_address(0));                 \
		struct ktr__off off;                                                                             \
		sigset_t less;                                                                                   \
		type result;                                                                                     \
													         \
		set = wait_set(set, &less);                                                                      \
		ktr__off_begin(&off);                                                                            \
		result = real arguments;                                                                         \
		ktr__off_end(&off, #name, caller);                                                               \
		return result;                                                                                   \
	}

WAIT_CALL(int, sigwait, (const sigset_t *set, int *number), (set, number))
WAIT_CALL(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
WAIT_CALL(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
	  (set, info, timeout))
WAIT_CALL(int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))

__asm__(".symver ktr__wait_sigwait, sigwait@@GLIBC_2.2.5");
__asm__(".symver ktr__wait_sigwaitinfo, sigwaitinfo@@GLIBC_2.2.5");
__asm__(".symver ktr__wait_sigtimedwait, sigtimedwait@@GLIBC_2.2.5");
__asm__(".symver ktr__wait_signalfd, signalfd@@GLIBC_2.7");
