/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An object that cannot be copied byte by byte is passed by the address of a copy (Itanium C++ ABI, 3.1.1): one
 * with a destructor, a copy or move constructor of its own, virtual functions or virtual bases, or with a member
 * or base of that kind. DWARF 5 says it; for what is older it follows from the declarations.
 */
#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/types/dwarf_pass.h"

#include "analyze/types/dwarf_die.h"

#include <string.h>

/* Is it called as its class is? The class may have arguments of a template. */
static int pass_is_constructor(const char *name, const char *class_name)
{
	size_t n = strlen(name);

	return strncmp(class_name, name, n) == 0 && (class_name[n] == '\0' || class_name[n] == '<');
}

/* Does it take nothing but a reference to its own class? */
static int pass_copies(Dwarf_Die *function, Dwarf_Die *class_die)
{
	Dwarf_Die child, type;
	unsigned n = 0;
	int own = 0;

	for (int more = ktr__die_child(function, &child); more; more = ktr__die_next(&child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || ktr__die_flag(&child, DW_AT_artificial))
			continue;
		if (n++ || !ktr__die_refers(&child, DW_AT_type, &type) ||
		    (dwarf_tag(&type) != DW_TAG_reference_type &&
		     dwarf_tag(&type) != DW_TAG_rvalue_reference_type) ||
		    !ktr__die_refers(&type, DW_AT_type, &type))
			return 0;
		if (dwarf_tag(&type) == DW_TAG_const_type && !ktr__die_refers(&type, DW_AT_type, &type))
			return 0;
		own = type.addr == class_die->addr;
	}
	return own;
}

/* A special member that somebody wrote, other than "= default" in the class. */
static int pass_is_special(Dwarf_Die *function, const char *class_name, Dwarf_Die *class_die)
{
	const char *name = ktr__die_text(function, DW_AT_name);

	if (ktr__die_number(function, DW_AT_virtuality, 0))
		return 1;
	if (!name || ktr__die_flag(function, DW_AT_artificial) ||
	    ktr__die_number(function, DW_AT_defaulted, 0) == 1 ||
	    ktr__die_flag(function, DW_AT_deleted))
		return 0;
	return name[0] == '~' || (pass_is_constructor(name, class_name) && pass_copies(function, class_die));
}

uint32_t ktr__pass_flag(const struct ktr__types_build *build, uint32_t type, Dwarf_Die *die)
{
	const struct ktr__types_type *t = &build->type[type];
	const char *name = ktr__die_text(die, DW_AT_name);
	Dwarf_Die child;

	if (t->language != KTR__TYPES_CXX || t->kind == KTR__TYPES_ENUM)
		return 0;
	switch (ktr__die_number(die, DW_AT_calling_convention, 0)) {
	case DW_CC_pass_by_reference:
		return KTR__TYPES_BY_REFERENCE;
	case DW_CC_pass_by_value:
		return KTR__TYPES_BY_VALUE;
	default:
		break;
	}
	for (int more = ktr__die_child(die, &child); more; more = ktr__die_next(&child)) {
		if (dwarf_tag(&child) == DW_TAG_inheritance && ktr__die_number(&child, DW_AT_virtuality, 0))
			return KTR__TYPES_BY_REFERENCE;
		if (dwarf_tag(&child) == DW_TAG_subprogram && pass_is_special(&child, name ? name : "", die))
			return KTR__TYPES_BY_REFERENCE;
	}
	return 0;
}

#endif
