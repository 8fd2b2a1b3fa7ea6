/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs count on getting the lowest descriptor that is free, after close(0) for one, and some look at all of
 * those that they were started with. So the session's is closed where that can be: the lock that it holds stays
 * with a mapping (session_join.c), memory is got through another, and the file is opened anew by its name where
 * that is needed. A process that has given up its rights may not do that; one that `ktr run` has started has
 * somebody who removes the session, so it does not have to.
 *
 * Otherwise it gets a high number. A table of descriptors is as long as its highest number wants, so that is
 * bounded: 1,024 of them take 8 KiB of the kernel.
 *
 * A child's is opened anew by libktr's handler of fork, under the lowest number. Ours is told to pthread_atfork(3)
 * after that one, so it runs after it.
 */
#include "ktr/agent/descriptor.h"

#include "ktr/record/own.h"
#include "ktr/session/session_again.h"
#include "ktr/session/table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTOR_HIGH  1000 /* the lowest number that we take, */
#define DESCRIPTOR_ROOM  24   /* or so many below the limit, where that is lower */
#define DESCRIPTOR_LEAST 64   /* below that numbers are scarce: it stays where it is */

static void descriptor_up(void)
{
	int least = DESCRIPTOR_HIGH, fd;
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < DESCRIPTOR_HIGH + DESCRIPTOR_ROOM)
		least = (int)limit.rlim_cur - DESCRIPTOR_ROOM;
	fd = least < DESCRIPTOR_LEAST || ktr__own.fd >= least
		     ? -1
		     : fcntl(ktr__own.fd, F_DUPFD_CLOEXEC, least);
	if (fd < 0)
		return;
	close(ktr__own.fd);
	ktr__own.fd = fd;
}

static void descriptor_hide(void)
{
	int saved = errno;

	if (!ktr__session_fd_ours(&ktr__own)) {
		/* the host has closed it */
	} else if (ktr__own.lock && ktr__populate(ktr__own.map, 0) == 0 &&
		   ktr__session_attended(ktr__own.path)) {
		close(ktr__own.fd);
		ktr__own.fd = -1;
	} else {
		descriptor_up();
	}
	errno = saved;
}

void ktr__descriptor_start(void)
{
	descriptor_hide();
	pthread_atfork(NULL, NULL, descriptor_hide);
}
