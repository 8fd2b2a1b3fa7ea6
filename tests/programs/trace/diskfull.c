/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For diskfull.sh: events, while writes into files of a trace fail.
 *
 *	diskfull ERROR STEP...
 *
 * ERROR: ENOSPC, EDQUOT, EFBIG, EIO, or EFBIG-limit, which is the kernel's own. A STEP is a number of events,
 * "fail" and "work" for what happens to writes from now on, "flush" (all is written), "stuck" (it cannot be),
 * "reads" (waits for a line of standard input).
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failing, error;

/* The library is linked statically, and calls this one. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	char link[64], path[4096];
	ssize_t length;

	if (__atomic_load_n(&failing, __ATOMIC_RELAXED)) {
		snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
		length = readlink(link, path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
		if (strstr(path, "/trace")) {
			errno = error;
			return -1;
		}
	}
	return syscall(SYS_pwrite64, fd, bytes, n, offset);
}

static void limit(rlim_t bytes)
{
	struct rlimit rlimit;

	getrlimit(RLIMIT_FSIZE, &rlimit);
	rlimit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &rlimit);
}

static void fail(const char *how)
{
	static const struct {
		const char *name;
		int code;
	} errors[] = { { "ENOSPC", ENOSPC }, { "EDQUOT", EDQUOT }, { "EFBIG", EFBIG }, { "EIO", EIO } };

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, how) == 0)
			error = errors[i].code;
	if (!error)
		limit(1024); /* less than the stream has, and more than what is said */
	else
		__atomic_store_n(&failing, 1, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	int n = 0, rc;
	cpu_set_t cpu;

	/* All events in one stream: another one would have room still. */
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 2; i < argc; i++) {
		const char *step = argv[i];

		if (strcmp(step, "fail") == 0) {
			fail(argv[1]);
		} else if (strcmp(step, "work") == 0) {
			__atomic_store_n(&failing, 0, __ATOMIC_RELAXED);
			if (!error)
				limit(RLIM_INFINITY);
		} else if (strcmp(step, "flush") == 0 || strcmp(step, "stuck") == 0) {
			rc = ktr_flush();
			if (!rc != (step[0] == 'f'))
				printf("%s: %d\n", step, rc);
		} else if (strcmp(step, "reads") == 0) {
			puts("reads");
			for (int c = 0; c != EOF && c != '\n'; c = getchar())
				;
		} else {
			for (int to = n + atoi(step); n < to; n++)
				CTR1(KTR_GEN, "event %d", n);
		}
	}
	return 0;
}
