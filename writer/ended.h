/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes and threads that have ended, however they did. */
#ifndef WRITER_ENDED_H
#define WRITER_ENDED_H

#include <stdbool.h>
#include <stdint.h>

struct ktr__drain;

/* Takes over who is gone, and what threads are called, if it is time to look; last: in the end. */
void ktr__ended_look(struct ktr__drain *drain, uint64_t now, bool last);

#endif
