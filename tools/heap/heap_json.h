/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_HEAP_JSON_H
#define TOOLS_HEAP_JSON_H

#include "tools/heap/heap_view.h"

#include <stdio.h>

/* 0, -ENOMEM, or -EIO: it cannot be written there. */
int heap_json(const struct heap_view *view, FILE *to);

#endif
