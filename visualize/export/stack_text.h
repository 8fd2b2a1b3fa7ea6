/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a CTRSTACK as text. */
#ifndef VISUALIZE_STACK_TEXT_H
#define VISUALIZE_STACK_TEXT_H

#include "analyze/symbols/symbols.h"

#include <ktr/reader.h>

#define KTR__STACK_TEXT 4096 /* [bytes] room for a stack; frames that do not fit are left out */

/*
 * Names of functions, or addresses where symbols (may be NULL) know none, innermost first, with
 * something between them. The length. Any bytes.
 */
size_t ktr__stack_text(const struct ktr_event *event, unsigned arg, struct ktr__symbols *symbols,
		       const char *between, char text[KTR__STACK_TEXT]);

#endif
