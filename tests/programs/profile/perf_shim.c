/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded behind the agent: of perf_event_open(2) for another thread's, that many succeed, PERF_SHIM, and
 * all others fail with EMFILE; "once": those alone fail whose period is a random one, of a thread that begins;
 * "steady": all others. "late": each is asked for only when the thread has ended; "found": likewise, and a thread
 * begins, for the profiler, when one has been asked for it by another thread. "crowd": all fail, when there are 150
 * threads. "slow": each is had only when the thread has run for 20 ms; "end": and then not at all for 150 ms.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAPS  20000 /* of 1 ms */
#define CROWD 150
#define SLOW_NS 20000000
#define STILL	150 /* naps */

static pid_t asked; /* whom an event was asked for last. Atomic */

static long shim_call(long number, const long *arg)
{
	register long r10 __asm__("r10") = arg[3];
	register long r8 __asm__("r8") = arg[4];
	register long r9 __asm__("r9") = arg[5];
	long code;

	__asm__ volatile("syscall"
			 : "=a"(code)
			 : "a"(number), "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return code;
}

static int shim_is(const char *what)
{
	const char *how = getenv("PERF_SHIM");

	return how && strcmp(how, what) == 0;
}

static void shim_nap(void)
{
	const struct timespec nap = { 0, 1000000 };

	nanosleep(&nap, NULL);
}

static int shim_n_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int shim_refuses(const struct perf_event_attr *attr, pid_t tid)
{
	static int n;
	const char *how = getenv("PERF_SHIM");

	if (!how || !tid || strcmp(how, "late") == 0 || strcmp(how, "found") == 0 ||
	    strcmp(how, "slow") == 0 || strcmp(how, "end") == 0)
		return 0;
	for (int i = 0; strcmp(how, "crowd") == 0 && i < NAPS && shim_n_threads() < CROWD; i++)
		shim_nap();
	if (strcmp(how, "once") == 0 || strcmp(how, "steady") == 0)
		return (attr->sample_period == (1000000000 + 997 / 2) / 997) == (*how == 's');
	return __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) >= atoi(how);
}

/* [ns] UINT64_MAX: it is there no more. */
static uint64_t shim_ran(pid_t tid)
{
	struct timespec ran;

	if (clock_gettime((clockid_t)(~(unsigned)tid << 3 | 6), &ran))
		return UINT64_MAX;
	return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}

static void shim_waits_for_end(pid_t tid)
{
	uint64_t ran = 0;

	for (int still = 0; still < STILL; still++) {
		uint64_t now = shim_ran(tid);

		if (now == UINT64_MAX)
			break;
		if (now != ran || now < SLOW_NS)
			still = 0;
		ran = now;
		shim_nap();
	}
}

/* Until the thread is there no more; but the main thread. */
static void shim_waits(pid_t tid)
{
	for (int i = 0; tid && tid != getpid() && shim_is("slow") && i < NAPS && shim_ran(tid) < SLOW_NS; i++)
		shim_nap();
	if (tid && tid != getpid() && shim_is("end"))
		shim_waits_for_end(tid);
	if (!tid || tid == getpid() || !(shim_is("late") || shim_is("found")))
		return;
	__atomic_store_n(&asked, tid, __ATOMIC_RELEASE);
	for (int i = 0; i < NAPS && tgkill(getpid(), tid, 0) == 0; i++)
		shim_nap();
}

/* What the profiler does first in a thread that begins. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
	static __thread int again;
	int (*real)(pthread_key_t, const void *) =
		(int (*)(pthread_key_t, const void *))(uintptr_t)dlsym(RTLD_NEXT, "pthread_setspecific");
	pid_t tid = gettid();

	if (tid != getpid() && shim_is("found") && !again++)
		for (int i = 0; i < NAPS && __atomic_load_n(&asked, __ATOMIC_ACQUIRE) != tid; i++)
			shim_nap();
	return real(key, value);
}

long syscall(long number, ...)
{
	long arg[6], code;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open)
		shim_waits((pid_t)arg[1]);
	if (number == SYS_perf_event_open && shim_refuses((const struct perf_event_attr *)arg[0], (pid_t)arg[1]))
		code = -EMFILE;
	else
		code = shim_call(number, arg);
	if (code < 0 && code > -4096) {
		errno = (int)-code;
		return -1;
	}
	return code;
}
