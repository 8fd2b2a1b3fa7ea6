/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of programs, on its way to a terminal. */
#ifndef TOOLS_KDUMP_TEXT_H
#define TOOLS_KDUMP_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* As it is, but for what moves a cursor or breaks the line: \xNN. */
void kdump_text(FILE *out, const char *text, size_t n);

#endif
