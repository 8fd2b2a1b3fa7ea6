/* SPDX-License-Identifier: BSD-2-Clause */
/* Structures that a program gave or got, in kdump's lines. */
#ifndef TOOLS_KDUMP_STRUCT_H
#define TOOLS_KDUMP_STRUCT_H

#include "tools/bsd/kdump.h"

#include <stddef.h>

/* A record STRUCT: a name, NUL, the structure. */
void kdump_struct(const struct kdump_format *format, const char *bytes, size_t n);

/* A record STRUCT_ARRAY: the size of an element, a name, NUL, the elements. */
void kdump_struct_array(const struct kdump_format *format, const char *bytes, size_t n);

#endif
