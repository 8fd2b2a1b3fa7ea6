/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of DWARF, as they get into an image. */
#ifndef ANALYZE_DWARF_TYPES_H
#define ANALYZE_DWARF_TYPES_H

#include "analyze/types/types_build.h"

#include <elfutils/libdw.h>

struct ktr__dwarf_types {
	struct ktr__types_build *build;
	struct ktr__word_map scope; /* of entries in namespaces and classes: the name of these, "a::b::" */
	struct ktr__word_map seen;  /* of entries: type + 1 */
	uint32_t language;          /* of the unit that is read */
	struct ktr__dwarf_wanted {
		Dwarf_Die die;
		uint32_t type;
		uint32_t language;
	} *wanted; /* structs and the like whose members are to be read; owned */
	uint32_t n_wanted, wanted_room;
};

/* Remembers which namespace or class each entry of a unit stands in. */
void ktr__dwarf_scopes(struct ktr__dwarf_types *types, Dwarf_Die *unit);

/* a::b::name of an entry, without arguments; 0: it has none. */
uint32_t ktr__dwarf_name(struct ktr__dwarf_types *types, Dwarf_Die *die);

/* The type that an entry is, and the one that its DW_AT_type says (void without). */
uint32_t ktr__dwarf_type(struct ktr__dwarf_types *types, Dwarf_Die *die);
uint32_t ktr__dwarf_type_of(struct ktr__dwarf_types *types, Dwarf_Die *die);

/* Reads the members of all that were met. */
void ktr__dwarf_members(struct ktr__dwarf_types *types);

enum ktr__types_language ktr__dwarf_language(Dwarf_Die *unit);

void ktr__dwarf_types_free(struct ktr__dwarf_types *types);

#endif
