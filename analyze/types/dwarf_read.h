/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a binary, with what was split off it, into an image of types. */
#ifndef ANALYZE_DWARF_READ_H
#define ANALYZE_DWARF_READ_H

#include "ktr/provider/types/types.h"

#include <ktr/error.h>

/*
 * path: of an ELF file. *bytes becomes the image, owned, of malloc(3). 0, or -errno with err filled: -ENOEXEC for
 * what is no ELF file, or has neither debugging information nor symbols; -ENOTSUP in a build without libdw.
 */
int ktr__dwarf_read(const char *path, void **bytes, size_t *n_bytes, struct ktr_error *err);

/*
 * The build-id of a file, or what stands for it (elf_file.h). n becomes its length, at most KTR__TYPES_ID_MAX. 0 or
 * -errno with err filled.
 */
int ktr__dwarf_build_id(const char *path, uint8_t id[KTR__TYPES_ID_MAX], uint16_t *n, struct ktr_error *err);

#endif
