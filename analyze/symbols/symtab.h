/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions and variables of one executable or shared object on disk, by address.
 */
#ifndef ANALYZE_SYMTAB_H
#define ANALYZE_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct ktr__symtab;

/*
 * Reads the symbols of the file at an absolute path, provided that it is the one with this
 * build-id (as in struct ktr_module_row). *out is owned and keeps nothing open. 0, or -errno with
 * *out NULL: -ESTALE for another binary, -ENOEXEC for what is no ELF file or has no symbols,
 * -EINVAL for what is no regular file, -EFBIG for a file that is too large or for more than
 * limit [bytes] of symbols, -ENOTSUP in a build without libdw.
 */
int ktr__symtab_open(const char *path, const uint8_t *build_id, size_t n_build_id, size_t limit,
		     struct ktr__symtab **out);
void ktr__symtab_close(struct ktr__symtab *symtab);

/* [bytes] of memory it uses. */
size_t ktr__symtab_bytes(const struct ktr__symtab *symtab);

/* Does an address lie in what the file has mapped? Addresses are the object's own. */
int ktr__symtab_holds(const struct ktr__symtab *symtab, uint64_t address);

/*
 * The symbol that an address lies in, and how far behind its beginning; NULL when there is none.
 * Borrowed until close. Names come out of the file: any bytes. "": a function that has no symbol begins there, by
 * the tables for unwinding.
 */
const char *ktr__symtab_find(const struct ktr__symtab *symtab, uint64_t address, uint64_t *offset);

#endif
