/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the source, and functions that were inlined, of one executable or shared object, by its debug
 * information.
 */
#ifndef ANALYZE_DEBUG_LINES_H
#define ANALYZE_DEBUG_LINES_H

#include <stddef.h>
#include <stdint.h>

#define KTR__DEBUG_LINES 16 /* functions within each other at one place; outer ones are left out */

struct ktr__debug_line {
	const char *function; /* that was inlined there, as it was linked; NULL: the one that has the code */
	const char *file;     /* NULL: not known */
	unsigned line;	      /* 0: not known */
};

struct ktr__debug_lines;

/*
 * Of the file at an absolute path, or of what was split off it, provided that it is the one with this build-id. It
 * is read when first asked for, and stays in memory. *out is owned. 0, or -errno as ktr__symtab_open() has it.
 */
int ktr__debug_lines_open(const char *path, const uint8_t *build_id, size_t n_build_id,
			  struct ktr__debug_lines **out);
void ktr__debug_lines_close(struct ktr__debug_lines *lines);

/* [bytes] Of the copy of its file. */
size_t ktr__debug_lines_bytes(const struct ktr__debug_lines *lines);

/*
 * What an address of the object's own is in, the innermost first; the last one has no function, and is where the
 * others were inlined. How many; 0: nothing is known. Strings are borrowed until close: any bytes.
 * To be asked once for each address: names may take memory each time.
 */
unsigned ktr__debug_lines_at(struct ktr__debug_lines *lines, uint64_t address,
			     struct ktr__debug_line line[KTR__DEBUG_LINES]);

#endif
