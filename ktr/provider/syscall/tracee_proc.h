/* SPDX-License-Identifier: BSD-2-Clause */
/* Small files of /proc, or of a folder that looks like it. */
#ifndef KTR_TRACEE_PROC_H
#define KTR_TRACEE_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a file's beginning, and ends it with a NUL. Its length, or -errno. */
ssize_t ktr__tracee_text(const char *path, char *to, size_t size);

/* What follows "name:" and blanks in a line of such a text, which is not changed; NULL: there is no such line. */
const char *ktr__tracee_field(const char *text, const char *name);

/*
 * A thread of a process by whose number the kernel shows the process's memory, its maps, its files: the first, or,
 * where that has ended and others go on, one of those. pid itself, if there is none.
 */
pid_t ktr__tracee_living(pid_t pid);

#endif
