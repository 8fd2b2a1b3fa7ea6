/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session goes in the last of the exit handlers. After it come those of the C library, which write what streams
 * have left, and the kernel takes back memory, of which a large process has some tenths of a second's work.
 */
#include "tools/attach/attach_ended.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ENDED_WAIT_MS 1000

/* Before Linux 5.3 there is nothing to wait on. */
static int ended_look(pid_t pid, int ms)
{
	const struct timespec nap = { 0, 1000000 };

	while (kill(pid, 0) == 0 || errno != ESRCH) {
		if (ms-- <= 0)
			return 0;
		nanosleep(&nap, NULL);
	}
	return 1;
}

int attach_has_ended(pid_t pid, int rc)
{
	int ms = rc == -ENOENT || rc == -ENXIO || rc == -ESRCH ? ENDED_WAIT_MS : 0, n;
	struct pollfd process = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	if (process.fd < 0)
		return errno == ESRCH || ended_look(pid, ms);
	n = poll(&process, 1, ms);
	close(process.fd);
	return n > 0;
}
