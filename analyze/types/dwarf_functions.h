/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of DWARF, as they get into an image. */
#ifndef ANALYZE_DWARF_FUNCTIONS_H
#define ANALYZE_DWARF_FUNCTIONS_H

#include "analyze/types/dwarf_types.h"

#define KTR__DWARF_SEGMENTS 16

/* Where code is mapped, by the object's own addresses, which are DWARF's and bias. */
struct ktr__dwarf_code {
	uint64_t low[KTR__DWARF_SEGMENTS], high[KTR__DWARF_SEGMENTS], bias;
	unsigned n;
};

/* Reads the functions of a unit that have code of their own, and the types that it defines. */
void ktr__dwarf_functions(struct ktr__dwarf_types *types, Dwarf_Die *unit, const struct ktr__dwarf_code *code);

#endif
