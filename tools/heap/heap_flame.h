/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph of who has memory: a picture, a page, or lines, as the file's name says. */
#ifndef TOOLS_HEAP_FLAME_H
#define TOOLS_HEAP_FLAME_H

#include "tools/heap/heap_view.h"

#include <ktr/error.h>
#include <ktr/reader.h>

/* Is it a name of one of these? */
int heap_flame_is(const char *path);

/* Of view->by, or what is in use at the end. 0, -ENOMEM, or -errno with err filled. */
int heap_flame(const struct heap_view *view, const struct ktr_reader *reader, const char *command, const char *path,
	       struct ktr_error *err);

#endif
