/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of the session for objects that were loaded after the process began, by which addresses lead to files. */
#ifndef KTR_MODULES_H
#define KTR_MODULES_H

#include "ktr/record/module.h"

#include <limits.h>
#include <stdint.h>

/*
 * The path of a file that the process has opened just now: one that is relative begins in the folder that it is in,
 * which may be another one later. What is no path stays as it is.
 */
void ktr__modules_path(const char *path, char whole[PATH_MAX]);

/*
 * The row of this process's that tells of an object which is mapped, or was until now; made where there is none, or
 * where another object has been told of at its place since: of the rows that hold an address the last one counts.
 * Its path is made whole. 0: there is no session, or no room in it. By one thread at a time.
 */
uint32_t ktr__modules_row(const struct ktr__object *object);

/* That of each object that is loaded. Likewise. */
void ktr__modules_all(void);

#endif
