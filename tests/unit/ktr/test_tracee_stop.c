/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call with a time that a stop has ended is made again with what is left of it: of the call that was looked at,
 * not of one like it that the thread is in by then. How long it has waited is made up here.
 */
#include "tests/unit/suite.h"

#include "ktr/provider/syscall/tracee_stop.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)

#define WHOLE_MS  60000
#define EARLIER	  7000000000ull /* [ns] the one before, whole */
#define BOUND_NS  20000000000ull

static struct timespec stop_whole = { WHOLE_MS / 1000, 0 }, stop_left; /* at one place in parent and child */

static pid_t stop_child(long call)
{
	struct epoll_event event;
	sigset_t set;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = epoll_create1(0);
	for (;;)
		if (call == SYS_epoll_wait)
			epoll_wait(fd, &event, 1, WHOLE_MS);
		else
			sigtimedwait(&set, NULL, &stop_whole);
}

/* The argument of the call once the child sleeps in it. */
static uint64_t stop_argument(pid_t pid, long call, int i)
{
	uint64_t begun = ktr__tracee_wait_now();
	struct ktr__tracee_wait wait;

	do
		ktr__tracee_wait_look("/proc", pid, pid, &wait);
	while ((wait.call != call || wait.rank != KTR__RANK_TIMED) && ktr__tracee_wait_now() - begun < BOUND_NS);
	CU_ASSERT_EQUAL(wait.call, call);
	return wait.args[i];
}

static void stop_libc(struct ktr__tracee_stop *stop)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t begin, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so.6") && sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2) {
			stop->libc = stop->libc ? stop->libc : begin;
			stop->libc_end = end;
		}
	if (maps)
		fclose(maps);
}

/* Stops it, as if it had been looked at in a call that began EARLIER, or so much before: what it waits for. */
static uint64_t stop_after(pid_t pid, long call, int i, const struct ktr__tracee_wait *other, uint64_t earlier_ns)
{
	struct ktr__tracee_stop stop = { .pid = pid, .tid = pid };

	stop_argument(pid, call, i);
	stop_libc(&stop);
	ktr__tracee_wait_look("/proc", pid, pid, &stop.wait);
	stop.wait.began_ns = ktr__tracee_wait_now() - EARLIER;
	stop.wait.least_ns = stop.wait.began_ns - earlier_ns;
	if (other) {
		stop.wait.args[i] = other->args[i];
		stop.wait.time_ns = other->time_ns;
	}
	CU_ASSERT_EQUAL_FATAL(ktr__tracee_stop(&stop), 0);
	CU_ASSERT_NOT_EQUAL(stop.wait.began_ns, 0);
	ktr__tracee_go(&stop, (uint64_t)(uintptr_t)&stop_left);
	return stop_argument(pid, call, i);
}

/* 0 where the kernel does not tell since when a thread waits, or the test is of no such C library. */
static int stop_can(void)
{
	struct ktr__tracee_stop stop = { 0 };

	stop_libc(&stop);
	return access("/proc/self/sched", R_OK) == 0 && stop.libc;
}

static void a_time_in_ms_is_that_of_its_own_call(void)
{
	pid_t pid = stop_can() ? stop_child(SYS_epoll_wait) : 0;
	const struct ktr__tracee_wait other = { .args = { [3] = 8000 }, .time_ns = 8000000000ull };
	uint64_t left;

	if (!pid)
		return;
	CU_ASSERT_EQUAL((int32_t)stop_after(pid, SYS_epoll_wait, 3, &other, 0), WHOLE_MS);
	left = stop_after(pid, SYS_epoll_wait, 3, NULL, 0);
	CU_ASSERT((int32_t)left <= WHOLE_MS - 7000);
	CU_ASSERT((int32_t)left > WHOLE_MS - 7000 - (int32_t)(BOUND_NS / 1000000));
	/* The time may have been over by then. */
	CU_ASSERT((int32_t)stop_after(pid, SYS_epoll_wait, 3, NULL, WHOLE_MS * 1000000ull) == (int32_t)left);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_timespec_is_that_of_its_own_call(void)
{
	pid_t pid = stop_can() ? stop_child(SYS_rt_sigtimedwait) : 0;
	struct ktr__tracee_wait other = { .args = { [2] = (uintptr_t)&stop_whole }, .time_ns = 8000000000ull };

	if (!pid)
		return;
	CU_ASSERT_EQUAL(stop_after(pid, SYS_rt_sigtimedwait, 2, &other, 0), (uintptr_t)&stop_whole);
	other.args[2] = (uintptr_t)&stop_left;
	other.time_ns = WHOLE_MS * 1000000ull;
	CU_ASSERT_EQUAL(stop_after(pid, SYS_rt_sigtimedwait, 2, &other, 0), (uintptr_t)&stop_whole);
	CU_ASSERT_EQUAL(stop_after(pid, SYS_rt_sigtimedwait, 2, NULL, 0), (uintptr_t)&stop_left);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

SUITE(tracee_stop, TEST(a_time_in_ms_is_that_of_its_own_call), TEST(a_timespec_is_that_of_its_own_call));

#else

static void stops_are_for_x86_64(void)
{
}

SUITE(tracee_stop, TEST(stops_are_for_x86_64));

#endif
