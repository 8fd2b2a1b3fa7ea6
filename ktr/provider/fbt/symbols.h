/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of functions, out of the symbol tables of the file that they were loaded from. */
#ifndef KTR_FBT_SYMBOLS_H
#define KTR_FBT_SYMBOLS_H

#include <stdint.h>

/* address: as in the file, to which the object's base is added. binding: STB_* of elf.h. */
typedef void ktr__fbt_symbol_fn(void *context, const char *name, uint64_t address, unsigned binding);

/*
 * Calls back for each function of .symtab, or of .dynsym where that has been stripped off. Names are valid
 * during the call. 0, or -errno: the file cannot be read, -ENOEXEC: it is no ELF file of this machine.
 */
int ktr__fbt_symbols(const char *path, ktr__fbt_symbol_fn *call, void *context);

#endif
