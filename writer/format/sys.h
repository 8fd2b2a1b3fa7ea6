/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls through which traces are written, as a table, so that tests can make each fail.
 * Each member behaves as the call of its name (man 2), but returns -errno instead of setting errno.
 */
#ifndef WRITER_SYS_H
#define WRITER_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct ktr__sys {
	int (*openat)(int dir_fd, const char *name, int flags, mode_t mode);
	int (*close)(int fd);
	ssize_t (*pwrite)(int fd, const void *bytes, size_t n, off_t offset);
	int (*ftruncate)(int fd, off_t length);
	int (*fstat)(int fd, struct stat *st);
	int (*mkdirat)(int dir_fd, const char *name, mode_t mode);
	int (*rename_new)(int dir_fd, const char *from, const char *to); /* -EEXIST: never replaces */
	/* Each gets the other's name, at once; -EINVAL or -ENOSYS where that cannot be. */
	int (*exchange)(int dir_fd, const char *one, const char *other);
	int (*unlinkat)(int dir_fd, const char *name, int flags);
	/* Removes a file of any size, but lets another thread wait until its memory and blocks are free. */
	int (*unlink_later)(int dir_fd, const char *name);
	/*
	 * What was written to [from, to) is not read soon: has it written back and its memory freed, as far as it
	 * is clean by then, by another thread. One such call at a time; a further one meanwhile does nothing.
	 */
	void (*forget)(int fd, uint64_t from, uint64_t to);
	/* [1/1000] of the file system that are free for us; -errno */
	int (*free_permille)(int fd);
};

extern const struct ktr__sys ktr__sys;

#endif
