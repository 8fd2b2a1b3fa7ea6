/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread and its stack as text. */
#ifndef TOOLS_STACKS_TEXT_H
#define TOOLS_STACKS_TEXT_H

#include "analyze/live/live_take.h"

#include <stdio.h>

/* "sleeping in poll(0, 0, -1) [do_poll]" */
void stacks_text_what(FILE *to, struct ktr__live *live, const struct ktr__live_taken *thread);

/* "4711 (worker): sleeping in poll(0, 0, -1) [do_poll]" and a line for each frame. */
void stacks_text(FILE *to, struct ktr__live *live, const struct ktr__live_taken *thread);

#endif
