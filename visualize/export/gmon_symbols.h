/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of an ELF file by address and by the names that fbt gives them (ktr/provider/fbt/object.c): out of
 * .symtab, or .dynsym where that has been stripped off, which is where fbt has them from.
 */
#ifndef VISUALIZE_GMON_SYMBOLS_H
#define VISUALIZE_GMON_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct ktr__gmon_symbols;

/* What of the file is mapped to be run. */
struct ktr__gmon_text {
	uint64_t low, high;
	uint64_t entry; /* 0: it has none */
	uint64_t n_bytes; /* of the file, all of which is copied */
	int is_program; /* 1: it can be started, and is none that others load */
};

/*
 * Of the file at a path, of max_bytes at most, provided that it has this build-id. 0 with an owned object in *out,
 * or -errno with NULL there: -ESTALE for another binary, -EFBIG, else as ktr__elf_file_read().
 */
int ktr__gmon_symbols_open(const char *path, const uint8_t *build_id, size_t n_build_id, uint64_t max_bytes,
			   struct ktr__gmon_symbols **out, struct ktr__gmon_text *text);
void ktr__gmon_symbols_free(struct ktr__gmon_symbols *symbols);

/* 1 with the address of the function that is called so, 0: there is none, or several are. */
int ktr__gmon_symbols_find(const struct ktr__gmon_symbols *symbols, const char *name, uint64_t *address);

/* The highest beginning of a function that is not above the address; 0: there is none. */
uint64_t ktr__gmon_symbols_begin(const struct ktr__gmon_symbols *symbols, uint64_t address);

/* The lowest beginning; 0: there is no function. */
uint64_t ktr__gmon_symbols_lowest(const struct ktr__gmon_symbols *symbols);

#endif
