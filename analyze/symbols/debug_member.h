/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of variables, by debug information. */
#ifndef ANALYZE_DEBUG_MEMBER_H
#define ANALYZE_DEBUG_MEMBER_H

#include "analyze/symbols/debug_lines.h"

/*
 * What lies so many bytes behind the beginning of a variable, whose address is the object's own: "[7].lock", by its
 * type, as far as the lock or the number that is there. Into text; 0 where that is not known, or is the variable
 * itself.
 */
int ktr__debug_member(struct ktr__debug_lines *lines, uint64_t variable, uint64_t offset, char *text, size_t size);

#endif
