/* SPDX-License-Identifier: BSD-2-Clause */
/* Types as C and C++ write them, and gdb prints them. */
#ifndef KTR_TYPE_TEXT_H
#define KTR_TYPE_TEXT_H

#include "ktr/provider/types/types.h"

#include <stdio.h>

/*
 * Declares a name, which may be "", to be of a type: "int (*name)(const char *)". Any bytes. language: of who
 * asks; in C a struct is written with that word.
 */
void ktr__type_declare(FILE *to, const struct ktr__types *types, uint32_t type, const char *name,
		       enum ktr__types_language language);

/* The same without the typedefs that it begins with: what `ptype` of gdb shows, but for members. */
void ktr__type_resolved(FILE *to, const struct ktr__types *types, uint32_t type, enum ktr__types_language language);

/* "int ns::parse(struct parser *p, const char *text)"; of methods without `this`, of which const stays, behind. */
void ktr__type_prototype(FILE *to, const struct ktr__types *types, const struct ktr__types_function *function);

/*
 * What an argument is read as: "signed", "unsigned", "char", "bool", "float", "complex", "decimal", "string",
 * "pointer", "reference", "enum", "struct", "union", "class", "array", "function", "void" or "unknown".
 */
const char *ktr__type_encoding(const struct ktr__types *types, uint32_t type);

#endif
