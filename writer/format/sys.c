/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of system calls, filled with the real ones. A call that a signal interrupted (only the
 * one that opens a FIFO or a network file system could be: writers block signals) is made again.
 */
#include "writer/format/sys.h"

#include "ktr/session/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SYS_LATER_BYTES (16 << 20) /* a file of which so much is allocated is gone within 3 ms */
#define SYS_STACK	(PTHREAD_STACK_MIN + 16384)

static int sys_openat(int dir_fd, const char *name, int flags, mode_t mode)
{
	int fd;

	do
		fd = openat(dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static int sys_close(int fd)
{
	return close(fd) ? -errno : 0;
}

static ssize_t sys_pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
	ssize_t done = pwrite(fd, bytes, n, offset);

	return done < 0 ? -errno : done;
}

static int sys_ftruncate(int fd, off_t length)
{
	return ftruncate(fd, length) ? -errno : 0;
}

static int sys_fstat(int fd, struct stat *st)
{
	return fstat(fd, st) ? -errno : 0;
}

static int sys_mkdirat(int dir_fd, const char *name, mode_t mode)
{
	return mkdirat(dir_fd, name, mode) ? -errno : 0;
}

static int sys_rename_new(int dir_fd, const char *from, const char *to)
{
	struct stat st;

	if (ktr__rename_new(dir_fd, from, dir_fd, to) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/*
	 * A file system without the flag. A directory still replaces nothing but an empty
	 * directory.
	 */
	if (fstatat(dir_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dir_fd, from, dir_fd, to) ? -errno : 0;
}

static int sys_exchange(int dir_fd, const char *one, const char *other)
{
	return ktr__rename_exchange(dir_fd, one, dir_fd, other) ? -errno : 0;
}

static int sys_unlinkat(int dir_fd, const char *name, int flags)
{
	return unlinkat(dir_fd, name, flags) ? -errno : 0;
}

/* What would make the writer wait while rings are overtaken is done by a thread of its own, for so long. */
static int sys_apart(void *(*run)(void *), void *context)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, SYS_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

static pid_t sys_freeing; /* whose thread is under way that does so when nobody else wants the CPU */

/*
 * With an equal share of the CPU that the writer has it would make that too slow for a ring of high rates, so
 * the writer goes first (tests/bench-writer: ctr0); but where another one still waits for its turn memory would
 * add up, so a second one has a quarter (str16). A little later, for rmdir(2), which comes next, waits while a
 * file that was in the folder is freed.
 */
static void *sys_close_main(void *fd)
{
	const struct timespec moment = { 0, 20000000 };
	pid_t self = getpid();
	int is_first = __atomic_exchange_n(&sys_freeing, self, __ATOMIC_ACQUIRE) != self;
	uint32_t word = 0;

	setpriority(PRIO_PROCESS, 0, is_first ? 19 : 5); /* of this thread alone */
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word, &moment, NULL, 0);
	close((int)(intptr_t)fd);
	if (is_first)
		__atomic_store_n(&sys_freeing, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* The last close of a removed file frees what it had: a tenth of a second and more for 1 GiB. */
static void sys_close_later(int fd)
{
	if (sys_apart(sys_close_main, (void *)(intptr_t)fd))
		close(fd);
}

static int sys_unlink_later(int dir_fd, const char *name)
{
	int fd = sys_openat(dir_fd, name, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;
	int rc = sys_unlinkat(dir_fd, name, 0);

	if (fd < 0)
		return rc;
	if (!rc && fstat(fd, &st) == 0 && st.st_nlink == 0 && st.st_blocks >= SYS_LATER_BYTES / 512)
		sys_close_later(fd);
	else
		close(fd);
	return rc;
}

static struct {
	pid_t busy; /* whose thread is under way */
	int fd;
	off_t from, n;
} sys_forgetting;

/* Starting to write back waits where the disk's queue is full. */
static void *sys_forget_main(void *unused)
{
	posix_fadvise(sys_forgetting.fd, sys_forgetting.from, sys_forgetting.n, POSIX_FADV_DONTNEED);
	close(sys_forgetting.fd);
	__atomic_store_n(&sys_forgetting.busy, 0, __ATOMIC_RELEASE);
	return unused;
}

static void sys_forget(int fd, uint64_t from, uint64_t to)
{
	pid_t self = getpid();

	if (__atomic_exchange_n(&sys_forgetting.busy, self, __ATOMIC_ACQUIRE) == self)
		return;
	sys_forgetting.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	sys_forgetting.from = (off_t)from;
	sys_forgetting.n = (off_t)(to - from);
	if (sys_forgetting.fd >= 0 && sys_apart(sys_forget_main, NULL) == 0)
		return;
	if (sys_forgetting.fd >= 0)
		close(sys_forgetting.fd);
	__atomic_store_n(&sys_forgetting.busy, 0, __ATOMIC_RELEASE);
}

static int sys_free_permille(int fd)
{
	struct statvfs st;

	if (fstatvfs(fd, &st))
		return -errno;
	if (!st.f_blocks)
		return 1000; /* a file system that does not say */
	return (int)(st.f_bavail * 1000 / st.f_blocks);
}

const struct ktr__sys ktr__sys = {
	.openat = sys_openat,
	.close = sys_close,
	.pwrite = sys_pwrite,
	.ftruncate = sys_ftruncate,
	.fstat = sys_fstat,
	.mkdirat = sys_mkdirat,
	.rename_new = sys_rename_new,
	.exchange = sys_exchange,
	.unlinkat = sys_unlinkat,
	.unlink_later = sys_unlink_later,
	.forget = sys_forget,
	.free_permille = sys_free_permille,
};
