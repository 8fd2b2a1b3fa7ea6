/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written may be of a mapping without write access: the kernel lets a tracer, who has stopped a thread. */
#include "tools/attach/inject_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int inject_memory_open(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int inject_memory_read(int fd, uint64_t at, void *to, size_t n)
{
	return at < INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

int inject_memory_write(int fd, uint64_t at, const void *from, size_t n)
{
	return at < INT64_MAX && pwrite(fd, from, n, (off_t)at) == (ssize_t)n;
}
