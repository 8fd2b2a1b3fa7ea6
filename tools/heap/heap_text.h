/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TOOLS_HEAP_TEXT_H
#define TOOLS_HEAP_TEXT_H

#include "tools/heap/heap_view.h"

#include <stdio.h>

/* Each 0 or -ENOMEM. */
int heap_tables(const struct heap_view *view, FILE *to);
int heap_folded(const struct heap_view *view, FILE *to); /* a stack in a line, and a number */

#endif
