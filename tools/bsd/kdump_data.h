/* SPDX-License-Identifier: BSD-2-Clause */
/* Data that a program has read or written, in kdump's lines. */
#ifndef TOOLS_KDUMP_DATA_H
#define TOOLS_KDUMP_DATA_H

#include "tools/bsd/kdump.h"

#include <stddef.h>

/* As text, or as hexadecimal where a byte is none of text. */
void kdump_data(const struct kdump_format *format, const char *bytes, size_t n);

#endif
