/* SPDX-License-Identifier: BSD-2-Clause */
/* What entries of DWARF say, whatever its version: each call follows abstract origins and specifications. */
#ifndef ANALYZE_DWARF_DIE_H
#define ANALYZE_DWARF_DIE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdint.h>

/* The text of an attribute, or NULL. */
const char *ktr__die_text(Dwarf_Die *die, unsigned attribute);

/* A number, or what it is where there is none; a signed one of a fixed width keeps its sign. */
uint64_t ktr__die_number(Dwarf_Die *die, unsigned attribute, uint64_t otherwise);

int ktr__die_flag(Dwarf_Die *die, unsigned attribute);

/* What an attribute refers to. to or NULL. */
Dwarf_Die *ktr__die_refers(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to);

/* The path of the source file that it is declared in, or NULL. */
const char *ktr__die_file(Dwarf_Die *die);

/*
 * The first of its children, and the one after one. 1, or 0 after the last. They only go forward, so a damaged file
 * ends them, too.
 */
int ktr__die_child(Dwarf_Die *die, Dwarf_Die *child);
int ktr__die_next(Dwarf_Die *die);

#endif
