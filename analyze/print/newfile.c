/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that appears complete or not at all. */
#include "analyze/print/newfile.h"

#include "analyze/print/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int newfile_fail(const char *path, int error, struct ktr_error *err)
{
	return ktr_error_at(err, path, 0, 0, error, "cannot be written: %s", strerror(error));
}

/* A new file beside the path. Its descriptor, or -errno. */
static int newfile_beside(struct ktr__newfile *file)
{
	mode_t mask = umask(0);
	int n = snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", file->path), fd, error;
	sigset_t before;

	umask(mask);
	if (n < 0 || (size_t)n >= sizeof(file->temporary))
		return -ENAMETOOLONG;
	ktr__unfinished_hold(&before);
	fd = mkostemp(file->temporary, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		file->unfinished = ktr__unfinished_file(AT_FDCWD, file->temporary);
	ktr__unfinished_let(&before);
	if (fd < 0)
		return -error;
	fchmod(fd, 0666 & ~mask);
	return fd;
}

int ktr__newfile_begin(struct ktr__newfile *file, const char *path, struct ktr_error *err)
{
	struct stat is;
	int fd;

	memset(file, 0, sizeof(*file));
	file->path = path;
	file->unfinished = -1;
	if (strcmp(path, "-") == 0) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		fd = fd < 0 ? -errno : fd;
	} else if (stat(path, &is) == 0 && !S_ISREG(is.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = newfile_beside(file);
		if (fd == -EACCES || fd == -EROFS) {
			/* A file in a folder that is not ours may be. */
			file->temporary[0] = '\0';
			fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
			fd = fd < 0 ? -errno : fd;
		}
	}
	if (fd < 0)
		return newfile_fail(path, -fd, err);
	file->to = fdopen(fd, "w");
	if (file->to != NULL)
		return 0;
	close(fd);
	if (file->temporary[0] != '\0')
		unlink(file->temporary);
	ktr__unfinished_done(file->unfinished);
	return newfile_fail(path, ENOMEM, err);
}

int ktr__newfile_close(struct ktr__newfile *file, int result, struct ktr_error *err)
{
	int error = 0;

	if (file->to == NULL)
		return result;
	if (fflush(file->to) != 0)
		error = errno;
	else if (ferror(file->to))
		error = EIO; /* the reason of an earlier failure is gone */
	if (fclose(file->to) != 0 && error == 0)
		error = errno;
	file->to = NULL;
	return result == 0 && error != 0 ? newfile_fail(file->path, error, err) : result;
}

int ktr__newfile_end(struct ktr__newfile *file, int result, struct ktr_error *err)
{
	result = ktr__newfile_close(file, result, err);
	if (result == 0 && file->temporary[0] != '\0' && rename(file->temporary, file->path) != 0)
		result = newfile_fail(file->path, errno, err);
	if (result != 0 && file->temporary[0] != '\0')
		unlink(file->temporary);
	ktr__unfinished_done(file->unfinished);
	return result;
}
