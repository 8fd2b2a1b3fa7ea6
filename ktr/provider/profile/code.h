/* SPDX-License-Identifier: BSD-2-Clause */
/* Code that is in no file: what a program makes as it runs. */
#ifndef KTR_PROFILE_CODE_H
#define KTR_PROFILE_CODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * As of the last look: may what lies there be executed, or is it addresses beside such memory that are reserved for
 * more of it? Of objects that the loader knows, too. Async-signal-safe.
 */
bool ktr__code_has(uint64_t pc);

/*
 * Gives the session a row for each region of memory that may be executed and is of no file, called "[jit]", and for
 * the page of a jitdump, by which it can be found. Those that have one are left out. One thread at a time.
 */
void ktr__code_look(void);

#endif
