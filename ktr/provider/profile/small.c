/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library does not say where another thread's stack is, if all that is known is the kernel's number of it.
 * But the kernel says where the thread's list of robust mutexes begins, which lies in what the C library has of the
 * thread; where in that, and where the stack is written down, is found once, in a thread of whose stack it does
 * say: lowest address, size, and size of the guard, one after the other. What is read may be a thread's that has
 * just ended: so the kernel reads it.
 */
#include "ktr/provider/profile/small.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SMALL_LEAST 32768 /* [bytes] */
#define SMALL_WORDS 512	  /* that the C library may have of a thread, at most */

struct small_stack {
	uint64_t low, bytes, guard;
};

static uint64_t small_robust; /* where the list is, from the thread's pthread_t. 0: not found yet */
static uint64_t small_at;     /* and where its struct small_stack */

static size_t small_read(void *to, uint64_t from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)from, bytes }; // NOLINT
	long n = syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul);

	return n < 0 ? 0 : (size_t)n;
}

static uint64_t small_list(uint32_t tid)
{
	void *list = NULL;
	size_t bytes;

	return syscall(SYS_get_robust_list, tid, &list, &bytes) ? 0 : (uintptr_t)list;
}

struct ktr__stack_range ktr__small_own(void)
{
	struct ktr__stack_range range = { 0, 0 };
	pthread_attr_t attr;
	size_t bytes;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr))
		return range;
	if (pthread_attr_getstack(&attr, &low, &bytes) == 0)
		range = (struct ktr__stack_range){ (uintptr_t)low, (uintptr_t)low + bytes };
	pthread_attr_destroy(&attr);
	return range;
}

bool ktr__small_is(const struct ktr__stack_range *range)
{
	return range->high && range->high - range->low < SMALL_LEAST;
}

static void small_find(void)
{
	struct ktr__stack_range own = ktr__small_own();
	uint64_t word[SMALL_WORDS], self = (uintptr_t)pthread_self(), list = small_list(0);
	size_t n = SMALL_WORDS * sizeof(word[0]);

	if (!own.high || list <= self)
		return;
	/* What it has may end before that, and the page with it. */
	while (n && small_read(word, self, n) < n)
		n /= 2;
	for (size_t i = 0; i + 2 < n / sizeof(word[0]); i++) {
		struct small_stack at;

		memcpy(&at, &word[i], sizeof(at));
		if (at.low + at.bytes == own.high && at.low + at.guard == own.low) {
			small_at = i * sizeof(word[0]);
			small_robust = list - self;
			return;
		}
	}
}

bool ktr__small_has(uint32_t tid)
{
	struct ktr__stack_range range;
	struct small_stack at;
	uint64_t list, thread;

	if (!small_robust)
		small_find();
	list = small_robust ? small_list(tid) : 0;
	thread = list - small_robust;
	if (!list || small_read(&at, thread + small_at, sizeof(at)) < sizeof(at))
		return false;
	range = (struct ktr__stack_range){ at.low + at.guard, at.low + at.bytes };
	/* The C library keeps it at the upper end of the stack. */
	return thread >= at.low && thread < range.high && ktr__small_is(&range);
}
