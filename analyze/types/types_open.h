/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of a program, out of the cache where it has them: a file for each build-id below
 * $XDG_CACHE_HOME/ktr/types, or ~/.cache/ktr/types, which is an image as it is in memory.
 */
#ifndef ANALYZE_TYPES_OPEN_H
#define ANALYZE_TYPES_OPEN_H

#include "ktr/provider/types/types.h"

#include <ktr/error.h>

/*
 * program: a path, the name of a command in PATH, or a build-id in hexadecimal, whose types are in the cache or
 * below /usr/lib/debug. *out is owned. 0 or -errno with err filled. A cache that cannot be read, is damaged, or
 * cannot be written is no error.
 */
int ktr__types_open(const char *program, struct ktr__types **out, struct ktr_error *err);

/*
 * Sees to it that the types of a program, a path or a command in PATH, are in the cache, where the program itself
 * finds them when it runs. 0, or -errno with err filled: there are none, or they cannot be kept.
 */
int ktr__types_keep(const char *program, struct ktr_error *err);

#endif
