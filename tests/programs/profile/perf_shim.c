/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be preloaded behind the agent: of perf_event_open(2) for another thread's, that many succeed, PERF_SHIM, and
 * all others fail with EMFILE; "once": those alone fail whose period is a random one, of a thread that begins;
 * "steady": all others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static int shim_refuses(const struct perf_event_attr *attr, pid_t tid)
{
	static int n;
	const char *how = getenv("PERF_SHIM");

	if (!how || !tid)
		return 0;
	if (strcmp(how, "once") == 0 || strcmp(how, "steady") == 0)
		return (attr->sample_period == (1000000000 + 997 / 2) / 997) == (*how == 's');
	return __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) >= atoi(how);
}

long syscall(long number, ...)
{
	long arg[6], code;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
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
