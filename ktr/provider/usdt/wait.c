/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A handler that comes while such a call waits runs with the call's mask, and would die at a trap if SIGTRAP were
 * in it. So the kernel is given one without it. They are points of cancellation, as the C library's are: while a
 * thread is in the kernel it can be cancelled at any time.
 */
#include "ktr/provider/usdt/wait.h"

#include "ktr/arch/ask.h"
#include "ktr/provider/usdt/trap.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/* A call: its arguments, and the mask that is one of them. */
struct wait_call {
	long number;
	long argument[6];
	const sigset_t *mask; /* of the program; NULL: none */
	uint64_t set; /* for the kernel */
};

static void wait_mask(struct wait_call *call, const sigset_t *mask, int at)
{
	call->mask = mask;
	if (!mask)
		return;
	memcpy(&call->set, mask, sizeof(call->set));
	call->set &= ~KTR__USDT_TRAP_BIT;
	call->argument[at] = (long)(uintptr_t)&call->set;
}

/* What was put off because the thread blocks SIGTRAP comes if it does not for the time of the call. */
static int wait_in(const struct wait_call *call)
{
	bool was = ktr__usdt_trap_blocked;
	int type;
	long got;

	if (call->mask)
		ktr__usdt_trap_blocked = sigismember(call->mask, SIGTRAP) == 1;
	if (was && !ktr__usdt_trap_blocked && ktr__usdt_trap_unblocked()) {
		got = -EINTR;
	} else {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
		got = ktr__ask(call->number, call->argument[0], call->argument[1], call->argument[2],
			       call->argument[3], call->argument[4], call->argument[5]);
		pthread_setcanceltype(type, NULL);
	}
	ktr__usdt_trap_blocked = was;
	if (got >= 0)
		return (int)got;
	errno = (int)-got;
	return -1;
}

static int wait_sigsuspend(const sigset_t *mask)
{
	struct wait_call call = { .number = SYS_rt_sigsuspend, .argument = { 0, 8 } };

	wait_mask(&call, mask, 0);
	return wait_in(&call);
}

/* The kernel writes what is left of the time; the C library has it do so elsewhere. */
static int wait_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
	struct timespec left = time ? *time : (struct timespec){ 0, 0 };
	struct wait_call call = { .number = SYS_ppoll,
				  .argument = { (long)(uintptr_t)fds, (long)n,
						time ? (long)(uintptr_t)&left : 0, 0, 8 } };

	wait_mask(&call, mask, 3);
	return wait_in(&call);
}

static int wait_pselect(int n, fd_set *in, fd_set *out, fd_set *error, const struct timespec *time,
			const sigset_t *mask)
{
	struct timespec left = time ? *time : (struct timespec){ 0, 0 };
	struct wait_call call = { .number = SYS_pselect6,
				  .argument = { n, (long)(uintptr_t)in, (long)(uintptr_t)out,
						(long)(uintptr_t)error, time ? (long)(uintptr_t)&left : 0 } };
	uint64_t both[2] = { 0, 8 };

	wait_mask(&call, mask, 5);
	both[0] = (uint64_t)call.argument[5];
	call.argument[5] = (long)(uintptr_t)both;
	return wait_in(&call);
}

static int wait_epoll_pwait(int fd, struct epoll_event *events, int max, int ms, const sigset_t *mask)
{
	struct wait_call call = { .number = SYS_epoll_pwait,
				  .argument = { fd, (long)(uintptr_t)events, max, ms, 0, 8 } };

	wait_mask(&call, mask, 4);
	return wait_in(&call);
}

static int wait_epoll_pwait2(int fd, struct epoll_event *events, int max, const struct timespec *time,
			     const sigset_t *mask)
{
	struct wait_call call = { .number = SYS_epoll_pwait2,
				  .argument = { fd, (long)(uintptr_t)events, max, (long)(uintptr_t)time, 0, 8 } };

	wait_mask(&call, mask, 4);
	return wait_in(&call);
}

struct ktr__usdt_lead ktr__usdt_waits[KTR__USDT_WAITS] = {
	{ .name = "sigsuspend", .instead = (void (*)(void))wait_sigsuspend },
	{ .name = "ppoll", .instead = (void (*)(void))wait_ppoll },
	{ .name = "pselect", .instead = (void (*)(void))wait_pselect },
	{ .name = "epoll_pwait", .instead = (void (*)(void))wait_epoll_pwait },
	{ .name = "epoll_pwait2", .instead = (void (*)(void))wait_epoll_pwait2 },
};
