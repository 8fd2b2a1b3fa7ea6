/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and structs as text, as a header has them. */
#ifndef TOOLS_TYPES_TEXT_H
#define TOOLS_TYPES_TEXT_H

#include "ktr/provider/types/types.h"

/* One line, or several with `verbose`: where it is, and where its arguments are. 0, or -1 without memory. */
int types_text_function(const struct ktr__types *types, const struct ktr__types_function *function, int verbose);

/* A struct, union, class or enum with its members, their offsets and sizes, and the holes between them. */
int types_text_struct(const struct ktr__types *types, const struct ktr__types_type *type);

/* What a struct is called; if it has no name of its own, by the typedef that has it. */
const char *types_text_name(const struct ktr__types *types, const struct ktr__types_type *type, int *is_typedef);

/*
 * The number of the struct, union, class or enum that a type is, or points or refers to; 0: none whose members are
 * known.
 */
uint32_t types_text_struct_of(const struct ktr__types *types, uint32_t type);

#endif
