/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call with a time that a stop has ended is made again with what is left of it: of the call that was looked at,
 * not of one like it that the thread is in by then. How long it has waited is made up here.
 */
#include "tests/unit/suite.h"

#include "ktr/provider/syscall/tracee_memory.h"
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

/* Once the child sleeps in its call; since when cannot be told while others take our place on its CPU. */
static void stop_await(pid_t pid, long call, struct ktr__tracee_wait *wait)
{
	uint64_t begun = ktr__tracee_wait_now();

	do
		ktr__tracee_wait_look("/proc", pid, pid, wait);
	while ((wait->call != call || wait->rank != KTR__RANK_TIMED || !wait->began_ns) &&
	       ktr__tracee_wait_now() - begun < BOUND_NS);
	CU_ASSERT_EQUAL(wait->call, call);
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

/*
 * Stops it, as if it had been looked at in a call that began EARLIER, or so much before, with this argument, if it
 * is not 0, and this time: for how many ms it waits then.
 */
static uint64_t stop_after(pid_t pid, long call, uint64_t argument, uint64_t time_ns, uint64_t earlier_ns)
{
	struct ktr__tracee_stop stop = { .pid = pid, .tid = pid };
	int is_ms, i = ktr__tracee_wait_timeout(call, &is_ms);
	struct timespec time = { 0, 0 };

	stop_await(pid, call, &stop.wait);
	stop_libc(&stop);
	stop.wait.began_ns = ktr__tracee_wait_now() - EARLIER;
	stop.wait.least_ns = stop.wait.began_ns - earlier_ns;
	stop.wait.args[i] = argument ? argument : stop.wait.args[i];
	stop.wait.time_ns = time_ns ? time_ns : stop.wait.time_ns;
	CU_ASSERT_EQUAL_FATAL(ktr__tracee_stop(&stop), 0);
	CU_ASSERT_NOT_EQUAL(stop.wait.began_ns, 0);
	ktr__tracee_go(&stop, (uint64_t)(uintptr_t)&stop_left);
	stop_await(pid, call, &stop.wait);
	if (is_ms)
		return (uint32_t)stop.wait.args[i];
	CU_ASSERT_EQUAL(stop.wait.args[i], (uint64_t)(uintptr_t)&stop_left);
	CU_ASSERT_EQUAL(ktr__tracee_read(pid, stop.wait.args[i], &time, sizeof(time)), sizeof(time));
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* 0 where the kernel does not tell since when a thread waits, or the test is of no such C library. */
static int stop_can(void)
{
	struct ktr__tracee_stop stop = { 0 };

	stop_libc(&stop);
	return access("/proc/self/sched", R_OK) == 0 && stop.libc;
}

static int stop_is_less(uint64_t ms)
{
	return ms <= WHOLE_MS - EARLIER / 1000000 && ms > WHOLE_MS - (EARLIER + BOUND_NS) / 1000000;
}

static void stop_times(long call, uint64_t other)
{
	pid_t pid = stop_can() ? stop_child(call) : 0;
	uint64_t ms;

	if (!pid)
		return;
	/* The one before was another, or may have been over by then. */
	CU_ASSERT_EQUAL(stop_after(pid, call, other, 8000000000ull, 0), WHOLE_MS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pid = stop_child(call);
	CU_ASSERT_EQUAL(stop_after(pid, call, 0, 0, WHOLE_MS * 1000000ull), WHOLE_MS);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* It is the same; and once we have set its time it cannot be another. */
	pid = stop_child(call);
	ms = stop_after(pid, call, 0, 0, 0);
	CU_ASSERT(stop_is_less(ms));
	CU_ASSERT(stop_is_less(stop_after(pid, call, 0, 0, WHOLE_MS * 1000000ull) + EARLIER / 1000000));
	CU_ASSERT(stop_after(pid, call, other, 8000000000ull, 0) > ms - 3 * EARLIER / 1000000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_time_in_ms_is_that_of_its_own_call(void)
{
	stop_times(SYS_epoll_wait, 8000);
}

static void a_timespec_is_that_of_its_own_call(void)
{
	stop_times(SYS_rt_sigtimedwait, 1);
}

/* The kernel says EPERM of it, as of one that it forbids. */
static void a_zombie_has_ended(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	CU_ASSERT_EQUAL(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	CU_ASSERT_EQUAL(ktr__tracee_seize(pid, 0), -ESRCH);
	waitpid(pid, NULL, 0);
	CU_ASSERT_EQUAL(ktr__tracee_seize(pid, 0), -ESRCH);
}

static uint64_t stop_number(pid_t pid, const char *name)
{
	uint64_t n = 0;

	ktr__tracee_status(pid, name, 10, &n);
	return n;
}

/*
 * A child that does not stop: it waits for its own child, of vfork(2), which ends when whoever asks it to stop has
 * looked in vain for some time. Only from then on it stood.
 */
static void who_does_not_stop_yet_does_not_stand(void)
{
	struct ktr__tracee_stop stop = { .pid = 0 };
	pid_t tester = getpid(), pid, helper;
	static int ends[2];
	int rc;

	CU_ASSERT_EQUAL(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		char byte;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (vfork() == 0) {
			if (read(ends[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
		for (;;)
			pause();
	}
	helper = fork();
	if (!helper) {
		uint64_t had;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (stop_number(pid, "TracerPid:") != (uint64_t)tester)
			;
		had = stop_number(tester, "voluntary_ctxt_switches:");
		while (stop_number(tester, "voluntary_ctxt_switches:") < had + 10)
			;
		_exit(write(ends[1], "", 1) != 1);
	}
	stop.pid = stop.tid = pid;
	do
		ktr__tracee_wait_look("/proc", pid, pid, &stop.wait);
	while (stop.wait.call != SYS_vfork);
	rc = ktr__tracee_stop(&stop);
	CU_ASSERT_EQUAL(rc, 0);
	CU_ASSERT(stop.ran_ns > stop.asked_ns + 100000);
	ktr__tracee_go(&stop, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kill(helper, SIGKILL);
	waitpid(helper, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

SUITE(tracee_stop, TEST(who_does_not_stop_yet_does_not_stand), TEST(a_zombie_has_ended),
      TEST(a_time_in_ms_is_that_of_its_own_call), TEST(a_timespec_is_that_of_its_own_call));

#else

static void stops_are_for_x86_64(void)
{
}

SUITE(tracee_stop, TEST(stops_are_for_x86_64));

#endif
