/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.ktr.alq_crash: when the program is about to die of a fault or of abort(3), the writer first takes
 * what has been recorded, so that the trace is whole without `ktr salvage`. Off unless asked for.
 */
#ifndef WRITER_CRASH_H
#define WRITER_CRASH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * For the writer's thread, at its start and in each round: puts handlers in front of the program's, or takes
 * them away. Looks four times a second, so that it finds handlers that the program installs later.
 */
void ktr__crash_look(bool on);

/* The program waits for a round that takes everything: a number to give to ktr__crash_taken(), or 0. */
uint32_t ktr__crash_asked(void);
void ktr__crash_taken(uint32_t asked);

#endif
