/* SPDX-License-Identifier: BSD-2-Clause */
/* A stack in one line: "leak < parse < main < ...". */
#ifndef TOOLS_STACK_LINE_H
#define TOOLS_STACK_LINE_H

#include "analyze/stats/stacks.h"
#include "analyze/symbols/symbols.h"

#include <stdio.h>

#define STACK_LINE_NAME 256 /* [bytes] of a frame's name */

/* The function of a frame, clean, or its address. symbols may be NULL. Returns text. */
const char *stack_line_frame(struct ktr__symbols *symbols, const struct ktr__framed *stack, uint32_t i,
			     char text[STACK_LINE_NAME]);

/*
 * So many frames (0: all), innermost first; "?" where there is none. No newline. exact: of which of its frames the
 * place in the function stands there, too; NULL: of none.
 */
void stack_line(struct ktr__symbols *symbols, const struct ktr__framed *stack, uint64_t depth,
		const unsigned char *exact, FILE *to);

#endif
