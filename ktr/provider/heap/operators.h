/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++'s operators new and delete of allocators that have their own: those do not call malloc(3), and stand where
 * libstdc++'s would. What the program and its libraries import of them is led to ours while a probe is on.
 */
#ifndef KTR_HEAP_OPERATORS_H
#define KTR_HEAP_OPERATORS_H

#include <stdbool.h>

/*
 * Are there such operators? Asks the loader, and calls each. Before the others, and not under the registry's lock,
 * as they are. at_start: nothing of the program has run.
 */
void ktr__operators_look(bool at_start);

/* Where there are. What cannot be led is not told of. */
void ktr__operators_lead(void);
void ktr__operators_again(void); /* for what has come since */
void ktr__operators_restore(void);

#endif
