/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the functions of an ELF file begin, by its tables for unwinding: of a stripped one, too. */
#ifndef ANALYZE_ELF_FRAMES_H
#define ANALYZE_ELF_FRAMES_H

#include "analyze/symbols/elf_file.h"

#include <stdint.h>

/*
 * Calls for each, with its address, which is the object's own, in the order of addresses; until one answers with
 * another number than 0, which is returned. 0, too, where there is no such table, or one of another form.
 */
int ktr__elf_frames(const struct ktr__elf_file *file, int (*call)(void *context, uint64_t address), void *context);

#endif
