/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace holds what programs read and write, passwords, too: it is for its owner alone. */
#include "tools/ktrace/ktrace_file.h"

#include "tools/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KTRACE_FILE_FLAGS (O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

static int ktrace_file_check(const char *command, const char *path, int fd)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return fail(command, "%s: %s", path, strerror(errno));
	if (stat.st_uid != getuid())
		return fail(command, "refuse to append to %s not owned by you", path);
	if (!S_ISREG(stat.st_mode))
		return fail(command, "%s not regular file", path);
	return 0;
}

int ktrace_file_open(const char *command, const char *path, int append)
{
	int fd;

	if (!append && unlink(path) < 0 && errno != ENOENT) {
		fail(command, "%s: %s", path, strerror(errno));
		return -1;
	}
	fd = open(path, KTRACE_FILE_FLAGS | (append ? 0 : O_EXCL), 0600);
	if (fd < 0) {
		fail(command, "%s: %s", path, strerror(errno));
		return -1;
	}
	if (append && ktrace_file_check(command, path, fd)) {
		close(fd);
		return -1;
	}
	return fd;
}
