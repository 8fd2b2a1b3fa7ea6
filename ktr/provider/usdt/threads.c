/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's mask is in /proc. That which it had before it began to wait in sigsuspend(2) and the like is nowhere
 * before it is back, so such a thread is one that may block SIGTRAP.
 */
#include "ktr/provider/usdt/threads.h"

#include "ktr/provider/usdt/args.h"
#include "ktr/provider/usdt/trap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_TRIES 100 /* [ms] in which a call that blocks all signals for a moment is over */

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

static const char *threads_read(const char *thread, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/%s", thread, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

/* A line of its status; 0: it has none. */
static uint64_t threads_status(const char *thread, const char *name, int base)
{
	char text[4096];
	const char *at = strstr(threads_read(thread, "status", text, sizeof(text)), name);

	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

unsigned ktr__usdt_threads_tracer(void)
{
	char self[24];

	snprintf(self, sizeof(self), "%d", (int)getpid());
	return (unsigned)threads_status(self, "\nTracerPid:", 10);
}

/* In which call does it wait with a mask of its own? NULL: in none. */
static const char *threads_waits(const char *thread)
{
	static const struct {
		long number;
		const char *name;
		int mask; /* which argument is the mask, or leads to it; -1: there always is one */
	} calls[] = {
		{ SYS_rt_sigsuspend, "sigsuspend", -1 }, { SYS_ppoll, "ppoll", 3 },
		{ SYS_epoll_pwait, "epoll_pwait", 4 },	 { SYS_epoll_pwait2, "epoll_pwait2", 4 },
		{ SYS_pselect6, "pselect", 5 },
	};
	char text[256], *at;
	uint64_t argument[6], mask;
	long number;

	threads_read(thread, "syscall", text, sizeof(text));
	number = strtol(text, &at, 10);
	if (at == text)
		return NULL; /* it runs */
	for (int i = 0; i < 6; i++)
		argument[i] = strtoull(at, &at, 16);
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].number != number)
			continue;
		mask = calls[i].mask < 0 ? 1 : argument[calls[i].mask];
		if (number == SYS_pselect6 && mask && ktr__usdt_copy(&mask, mask, sizeof(mask)) != sizeof(mask))
			mask = 0;
		return mask ? calls[i].name : NULL;
	}
	return NULL;
}

/* 0, 1 or an error. Threads of ours block all signals, and come to no probe. */
static int threads_one(const char *thread, struct ktr_error *why)
{
	const struct timespec nap = { 0, 1000000 };
	char name[32];
	const char *call = NULL;
	bool blocks = true;

	threads_read(thread, "comm", name, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	if (strncmp(name, "ktr-", 4) == 0)
		return 0;
	for (int i = 0; i < THREADS_TRIES && (blocks || call); i++) {
		if (i)
			nanosleep(&nap, NULL);
		blocks = threads_status(thread, "\nSigBlk:", 16) & KTR__USDT_TRAP_BIT;
		call = blocks ? NULL : threads_waits(thread);
	}
	if (blocks)
		return ktr_error_set(why, EBUSY,
				     "its thread %s (%s) blocks SIGTRAP, a trap would kill it; "
				     "a program that is started with the probe on is kept from that",
				     thread, name);
	if (call)
		return ktr_error_set(why, EBUSY,
				     "its thread %s (%s) waits in %s(), after which it may block SIGTRAP, and a trap "
				     "would kill it; a program that is started with the probe on is kept from that",
				     thread, name, call);
	return 0;
}

int ktr__usdt_threads_may(struct ktr_error *why)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *at;
	int code = 0;

	if (!dir)
		return ktr_error_set(why, ENOENT, "there is no /proc that would tell whether a thread blocks SIGTRAP");
	while (!code && (at = readdir(dir)) != NULL)
		if (*at->d_name != '.' && strtol(at->d_name, NULL, 10) != gettid())
			code = threads_one(at->d_name, why);
	closedir(dir);
	return code;
}
