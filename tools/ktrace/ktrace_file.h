/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that ktrace writes, as FreeBSD's opens it. */
#ifndef TOOLS_KTRACE_FILE_H
#define TOOLS_KTRACE_FILE_H

/*
 * append 0: what is called so is removed, and a new file made that nobody else may read; a link is not followed.
 * 1: a regular file of our own is gone on with, a new one made where none is. The file, open for appending, or -1
 * after a complaint.
 */
int ktrace_file_open(const char *command, const char *path, int append);

#endif
