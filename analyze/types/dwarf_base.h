/* SPDX-License-Identifier: BSD-2-Clause */
/* Base types: how their numbers are stored, and what they are called in C. */
#ifndef ANALYZE_DWARF_BASE_H
#define ANALYZE_DWARF_BASE_H

#include "ktr/provider/types/types.h"

/* Of a DW_ATE_... */
enum ktr__types_encoding ktr__base_encoding(uint64_t ate);

/* "unsigned long" for gcc's "long unsigned int"; what is no type of C stays. Cut where there is no room. */
void ktr__base_name(const char *name, char *to, size_t size);

/* The same for each one among the arguments of a template. */
void ktr__base_in_template(const char *name, char *to, size_t size);

#endif
