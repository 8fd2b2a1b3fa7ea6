/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loader.conf out of a file: what kind of file it is, and its text in pieces.
 *
 * A file is judged by what fstat(2) says of the open descriptor, so that it cannot be exchanged
 * for another in between. It passes through one buffer of the size of the longest line; the rest
 * of a longer one is skipped after it has been reported. Nothing is allocated or mapped: a file
 * that somebody cuts short meanwhile is a short read.
 */
#include "conf/loader_file.h"

#include "conf/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A file passing through. */
struct loader_file {
	struct ktr_loader *loader;
	struct ktr_error *err;
	int first;    /* -errno of the first error, or 0 */
	int skipping; /* within a line that is too long */
	size_t length;
	size_t total;
	char buffer[KTR_LOADER_LINE_BYTES];
};

static void loader_file_take(struct loader_file *in, int at_end)
{
	size_t used;
	char *newline;

	if (in->skipping) {
		newline = memchr(in->buffer, '\n', in->length);
		in->skipping = !newline;
		used = newline ? (size_t)(newline - in->buffer) + 1 : in->length;
	} else {
		used = ktr__loader_lines(in->loader, in->buffer, in->length, at_end, &in->first,
					 in->err);
		if (!used && in->length == sizeof(in->buffer)) {
			used = ktr__loader_lines(in->loader, in->buffer, in->length, 1, &in->first,
						 in->err);
			in->skipping = 1;
		}
	}
	in->length = used > in->length ? SIZE_MAX : in->length - used;
	if (in->length != SIZE_MAX)
		memmove(in->buffer, in->buffer + used, in->length);
}

static ssize_t loader_file_read(struct loader_file *in, int fd)
{
	ssize_t n;

	do
		n = read(fd, in->buffer + in->length, sizeof(in->buffer) - in->length);
	while (n < 0 && errno == EINTR);
	return n;
}

static int loader_file_pass(struct loader_file *in, int fd, struct ktr_error *bad)
{
	const char *path = in->loader->file;
	ssize_t n;

	do {
		n = loader_file_read(in, fd);
		if (n < 0)
			return ktr_error_at(bad, path, 0, 0, errno, "cannot be read: %m");
		in->length += (size_t)n;
		in->total += (size_t)n;
		if (in->total > KTR_LOADER_FILE_BYTES)
			return ktr_error_at(bad, path, 0, 0, EFBIG, "has grown too large");
		loader_file_take(in, n == 0);
	} while (n > 0 && in->length != SIZE_MAX);
	return in->first;
}

/* Is this a file that settings are read from? 0 or -errno with the reason in bad. */
static int loader_file_check(const char *path, int fd, unsigned flags, struct ktr_error *bad)
{
	const char *what;
	struct stat st;
	int code = EINVAL;

	if (fstat(fd, &st) < 0)
		return ktr_error_at(bad, path, 0, 0, errno, "cannot be read: %m");
	if (S_ISDIR(st.st_mode)) {
		code = EISDIR;
		what = "is a directory, not a file";
	} else if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) { /* null(4) */
		return 0;
	} else if (!S_ISREG(st.st_mode)) {
		what = "is not a regular file";
	} else if (st.st_size > KTR_LOADER_FILE_BYTES) {
		return ktr_error_at(bad, path, 0, 0, EFBIG,
				    "is too large: %lld bytes, %d are allowed",
				    (long long)st.st_size, KTR_LOADER_FILE_BYTES);
	} else if ((flags & KTR__LOADER_GUARDED) && (st.st_mode & S_IWOTH)) {
		code = EPERM;
		what = "is not read: everybody may write to it (chmod o-w)";
	} else {
		return 0;
	}
	return ktr_error_at(bad, path, 0, 0, code, "%s", what);
}

/* Not there, or in a directory that is somebody else's business (HOME=/root after su). */
static int loader_file_is_absent(const char *path)
{
	int code = errno;
	struct stat st;
	int absent = code == ENOENT || code == ENOTDIR || (code == EACCES && lstat(path, &st) < 0);

	errno = code;
	return absent;
}

int ktr__loader_read(struct ktr_loader *loader, const char *path, unsigned flags,
		     struct ktr_error *err)
{
	struct loader_file in;
	struct ktr_error bad;
	int fd, rc;

	memset(&in, 0, offsetof(struct loader_file, buffer));
	in.loader = loader;
	in.err = err;
	loader->file = path;
	loader->line = 0;
	ktr_error_clear(&bad);
	/* O_NONBLOCK: the opening of a FIFO without writer would wait for one. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		if ((flags & KTR__LOADER_OPTIONAL) && loader_file_is_absent(path))
			return 1;
		ktr_error_at(&bad, path, 0, 0, errno, "cannot be opened: %m");
		return ktr__loader_fail(loader, &bad, err);
	}
	rc = loader_file_check(path, fd, flags, &bad);
	if (!rc)
		rc = loader_file_pass(&in, fd, &bad);
	close(fd);
	if (bad.code) {
		rc = ktr__loader_fail(loader, &bad, err);
		rc = in.first ? in.first : rc;
	}
	return rc;
}

int ktr_loader_file(struct ktr_loader *loader, const char *path, struct ktr_error *err)
{
	return ktr__loader_read(loader, path, 0, err);
}
