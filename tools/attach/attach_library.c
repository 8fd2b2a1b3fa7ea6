/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/attach/attach_library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int attach_library(char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n < 0 ? 0 : n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	snprintf(path, size, "%s/../lib/" ATTACH_LIBRARY, self);
	if (access(path, R_OK) != 0)
		snprintf(path, size, ATTACH_LIBRARY);
	return 0;
}
