/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls for which older C libraries have no function: glibc got them with 2.28 to 2.34, musl 1.2.3 has
 * none. Each returns what the function would, with errno set; ENOSYS where the kernel does not know it.
 */
#ifndef KTR_LIBC_H
#define KTR_LIBC_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The numbers below are those of every architecture; headers from before Linux 5.10 lack some. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static inline int ktr__tgkill(pid_t process, pid_t thread, int number)
{
	return (int)syscall(SYS_tgkill, process, thread, number);
}

/* A signal that this thread is handling comes once more, from whom and for what it came. */
static inline void ktr__signal_again(int number, void *info)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info);
}

/* Like renameat(2), but replaces nothing: EEXIST. EINVAL where the file system cannot do so. */
static inline int ktr__rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 1u /* RENAME_NOREPLACE */);
}

/* Like renameat(2), but each gets the other's name. EINVAL where the file system cannot do so. */
static inline int ktr__rename_exchange(int one_dir, const char *one, int other_dir, const char *other)
{
	return (int)syscall(SYS_renameat2, one_dir, one, other_dir, other, 2u /* RENAME_EXCHANGE */);
}

/* The calling thread gets a table of descriptors of its own, an empty one. */
static inline int ktr__close_unshared(void)
{
	return (int)syscall(SYS_close_range, 0u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */);
}

static inline int ktr__pidfd_open(pid_t process)
{
	return (int)syscall(SYS_pidfd_open, process, 0);
}

static inline int ktr__pidfd_getfd(int pid_fd, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, pid_fd, fd, 0);
}

#endif
