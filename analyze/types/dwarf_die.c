/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes and children of DWARF's entries. */
#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/types/dwarf_die.h"

const char *ktr__die_text(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute at;

	return dwarf_formstring(dwarf_attr_integrate(die, attribute, &at));
}

uint64_t ktr__die_number(Dwarf_Die *die, unsigned attribute, uint64_t otherwise)
{
	Dwarf_Attribute at;
	Dwarf_Sword is_signed;
	Dwarf_Word number;

	if (!dwarf_attr_integrate(die, attribute, &at))
		return otherwise;
	if (dwarf_whatform(&at) == DW_FORM_sdata || dwarf_whatform(&at) == DW_FORM_implicit_const)
		return dwarf_formsdata(&at, &is_signed) ? otherwise : (uint64_t)is_signed;
	return dwarf_formudata(&at, &number) ? otherwise : number;
}

int ktr__die_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute at;
	bool flag = false;

	return dwarf_attr_integrate(die, attribute, &at) && dwarf_formflag(&at, &flag) == 0 && flag;
}

Dwarf_Die *ktr__die_refers(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
	Dwarf_Attribute at;

	return dwarf_formref_die(dwarf_attr_integrate(die, attribute, &at), to);
}

/* As dwarf_decl_file(), which in elfutils 0.188 ends the program where a unit has no lines, as split ones do. */
const char *ktr__die_file(Dwarf_Die *die)
{
	Dwarf_Attribute at;
	Dwarf_Files *files;
	Dwarf_Word idx;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &at) || dwarf_formudata(&at, &idx) ||
	    dwarf_cu_info(at.cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL) || dwarf_getsrcfiles(&unit, &files,
												 &n) ||
	    idx >= n)
		return NULL;
	return dwarf_filesrc(files, idx, NULL, NULL);
}

int ktr__die_child(Dwarf_Die *die, Dwarf_Die *child)
{
	return dwarf_child(die, child) == 0;
}

int ktr__die_next(Dwarf_Die *die)
{
	const char *at = die->addr;

	return dwarf_siblingof(die, die) == 0 && (const char *)die->addr > at;
}

#endif
