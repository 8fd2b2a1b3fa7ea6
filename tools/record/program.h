/* SPDX-License-Identifier: BSD-2-Clause */
/* What the file of a program tells before it runs, or after it has left no trace. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include <limits.h>
#include <stddef.h>

enum program_kind {
	PROGRAM_NONE,    /* not found, or may not be read */
	PROGRAM_OTHER,   /* a script */
	PROGRAM_FOREIGN, /* an ELF file that libktr is not in */
	PROGRAM_RAISED, /* libktr is in it, and ignores the environment: set-user-id and the like */
	PROGRAM_LINKED, /* libktr is in it, or it names the shared library */
};

/* Looks for a program as execvp(3) does. path, of PATH_MAX bytes, is where it was found. */
enum program_kind program_look(const char *word, char *path);

/* Would it run with privileges that who executes it has not? 1 or 0. */
int program_raised(const char *path);

/* Do the bytes stand anywhere in the file? 1 or 0. */
int program_contains(const char *path, const void *bytes, size_t n);

#endif
