/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a thread stood in line for a CPU is the second number of /proc/self/task/TID/schedstat, as the kernel's
 * scheduler/sched-stats.rst has it. Threads of other processes, who have process-shared locks, are not there: of
 * them nothing is said.
 */
#include "ktr/provider/lock/inversion.h"

#include "ktr/record/own.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INVERSION_IDLE	   (-40) /* below the lowest nice */
#define INVERSION_REALTIME 100
#define INVERSION_DEADLINE 200

/* tid 0: the calling thread. */
static int32_t inversion_priority(uint32_t tid)
{
	struct sched_param param = { 0 };
	int policy = sched_getscheduler((pid_t)tid);

	switch (policy & ~SCHED_RESET_ON_FORK) {
	case SCHED_FIFO:
	case SCHED_RR:
		sched_getparam((pid_t)tid, &param);
		return INVERSION_REALTIME + param.sched_priority;
	case SCHED_IDLE:
		return INVERSION_IDLE;
	case SCHED_OTHER:
	case SCHED_BATCH:
		return -getpriority(PRIO_PROCESS, tid);
	default:
		return INVERSION_DEADLINE;
	}
}

/* By system calls, as open(3) and read(3) are points of cancellation. false: there is no such thread here. */
static bool inversion_delay(uint32_t tid, uint64_t *ns)
{
	char text[128];
	long fd, n;

	snprintf(text, sizeof(text), "/proc/self/task/%u/schedstat", tid);
	fd = syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%*u %lu", ns) == 1;
}

void ktr__inversion_begin(struct ktr__inversion *inversion, uint32_t owner)
{
	int saved = errno;

	*inversion = (struct ktr__inversion){ .owner = 0 };
	if (!owner || ktr__own.sealed)
		return;
	inversion->mine = inversion_priority(0);
	inversion->its = inversion_priority(owner);
	if (inversion->mine > inversion->its && inversion_delay(owner, &inversion->delay_ns))
		inversion->owner = owner;
	errno = saved;
}

bool ktr__inversion_end(const struct ktr__inversion *inversion, uint64_t *ns)
{
	int saved = errno;
	bool known = inversion_delay(inversion->owner, ns) && *ns >= inversion->delay_ns;

	errno = saved;
	*ns -= known ? inversion->delay_ns : 0;
	return known;
}
