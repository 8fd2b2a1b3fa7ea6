/* SPDX-License-Identifier: BSD-2-Clause */
/* How C++ passes objects of a class. */
#ifndef ANALYZE_DWARF_PASS_H
#define ANALYZE_DWARF_PASS_H

#include "analyze/types/types_build.h"

#include <elfutils/libdw.h>

/* KTR__TYPES_BY_REFERENCE, KTR__TYPES_BY_VALUE where the compiler says so, or 0: as its members are. */
uint32_t ktr__pass_flag(const struct ktr__types_build *build, uint32_t type, Dwarf_Die *die);

#endif
