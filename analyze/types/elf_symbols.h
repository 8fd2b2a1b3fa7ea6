/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of functions, as they get into an image. */
#ifndef ANALYZE_ELF_SYMBOLS_H
#define ANALYZE_ELF_SYMBOLS_H

#include "analyze/types/types_build.h"

#include <elfutils/libdwfl.h>

/*
 * Adds what a module's symbols tell, after DWARF's functions: the symbol of a function that is called otherwise,
 * other names of one, and those that are known by their symbols alone. bias: of the module's addresses.
 */
void ktr__elf_symbols(struct ktr__types_build *build, Dwfl_Module *module, uint64_t bias);

#endif
