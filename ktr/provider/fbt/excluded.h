/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that firing a probe calls itself: a program may have some of the C library's by their names, which the
 * recorder then calls, too. Their probes would record the recorder.
 */
#ifndef KTR_FBT_EXCLUDED_H
#define KTR_FBT_EXCLUDED_H

#include <stdbool.h>
#include <stdint.h>

/* What `ktr probe list -v` says of them. */
#define KTR__FBT_EXCLUDED "excluded: the recorder calls it"
#define KTR__FBT_NO_RETURN "excluded: it returns twice, or asks where it was called; its entry can be probed"

bool ktr__fbt_excluded_name(const char *symbol); /* a global symbol's */
bool ktr__fbt_excluded_return(const char *symbol); /* any symbol's: of what returns twice, or asks who called it */
/* None of those that the recorder calls itself is the program's own, but for calloc(3). */
bool ktr__fbt_excluded_are_libc(void);
bool ktr__fbt_excluded_at(uintptr_t address); /* where a stripped program does not tell its name */

#endif
