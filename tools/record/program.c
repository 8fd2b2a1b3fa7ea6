/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks for strings in a program's file, piece by piece. A string that is not there says little about a
 * program that loads libraries; what is concluded from it is worded so.
 */
#include "tools/record/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PROGRAM_PIECE 65536 /* [bytes] read at a time */
#define PROGRAM_WORD  256   /* [bytes] what is looked for is shorter */

static int program_is(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int program_find(const char *word, char *path)
{
	const char *dirs = getenv("PATH");
	size_t n;

	if (strchr(word, '/')) {
		snprintf(path, PATH_MAX, "%s", word);
		return program_is(path);
	}
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; *dirs; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		snprintf(path, PATH_MAX, "%.*s/%s", n ? (int)n : 1, n ? dirs : ".", word);
		if (program_is(path))
			return 1;
	}
	return 0;
}

int program_contains(const char *path, const void *bytes, size_t n)
{
	char piece[PROGRAM_PIECE + PROGRAM_WORD];
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = 0;
	size_t kept = 0;
	ssize_t got;

	if (fd < 0 || n > PROGRAM_WORD)
		got = 0;
	else
		got = read(fd, piece, PROGRAM_PIECE);
	while (got > 0 && !found) {
		size_t all = kept + (size_t)got;

		found = memmem(piece, all, bytes, n) != NULL;
		/* The end of this piece may be the beginning of a match. */
		kept = all < n - 1 ? all : n - 1;
		memmove(piece, piece + all - kept, kept);
		got = read(fd, piece + kept, PROGRAM_PIECE);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

int program_raised(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return 0;
	return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	       (st.st_mode & S_ISGID && st.st_gid != getegid()) ||
	       (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

enum program_kind program_look(const char *word, char *path)
{
	static const char knob[] = "debug.ktr.mask", library[] = "libktr.so";
	char magic[SELFMAG] = "";
	int fd, elf;

	if (!program_find(word, path))
		return PROGRAM_NONE;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return PROGRAM_NONE;
	elf = read(fd, magic, sizeof(magic)) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
	close(fd);
	if (!elf)
		return PROGRAM_OTHER;
	if (!program_contains(path, knob, sizeof(knob)) &&
	    !program_contains(path, library, sizeof(library) - 1))
		return PROGRAM_FOREIGN;
	return program_raised(path) ? PROGRAM_RAISED : PROGRAM_LINKED;
}
