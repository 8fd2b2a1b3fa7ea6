/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions out of DWARF: the entries that have code. What a copy of an inlined function does not say itself stands
 * in its abstract origin; the list of arguments, too, since a copy may lack those that it does not use.
 */
#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/types/dwarf_functions.h"

#include "analyze/types/dwarf_die.h"
#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DWARF_FUNCTIONS_DEEP 32 /* namespaces, classes, functions and blocks in each other */

struct dwarf_functions {
	struct ktr__dwarf_types *types;
	const struct ktr__dwarf_code *code;
	int only_lines; /* the unit has no types at all: gcc -g1 */
};

/* ---- where an argument is ---- */

/*
 * When the function begins, as far as a list of places says so: a place for the whole function need not hold
 * there.
 */
static uint64_t dwarf_place(Dwarf_Die *arg, Dwarf_Addr entry)
{
	Dwarf_Attribute at;
	Dwarf_Op *op;
	size_t n;

	if (dwarf_attr(arg, DW_AT_const_value, &at) || !dwarf_attr(arg, DW_AT_location, &at))
		return KTR__TYPES_AT_NOWHERE;
	if (dwarf_whatform(&at) == DW_FORM_exprloc ||
	    dwarf_whatform(&at) == DW_FORM_block1 || dwarf_getlocation_addr(&at, entry, &op, &n, 1) != 1)
		return KTR__TYPES_AT_UNSAID;
	if (n == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return KTR__TYPES_AT_REGISTER + op->atom - DW_OP_reg0;
	if (n == 1 && op->atom == DW_OP_regx && op->number < 128)
		return KTR__TYPES_AT_REGISTER + op->number;
	return KTR__TYPES_AT_UNSAID;
}

/* ---- its arguments ---- */

/* What a copy was made of, which with LTO is a copy itself; an entry itself if it is none. */
static Dwarf_Die dwarf_original(Dwarf_Die die)
{
	Dwarf_Die origin;
	Dwarf_Attribute at;

	for (unsigned i = 0; i < 8 && dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &at), &origin) &&
			     origin.addr != die.addr; i++)
		die = origin;
	return die;
}

/* The child of a copy that is an argument of the original; 1 if there is one. */
static int dwarf_copy_of(Dwarf_Die *copy, const Dwarf_Die *original, Dwarf_Die *found)
{
	for (int more = ktr__die_child(copy, found); more; more = ktr__die_next(found))
		if (dwarf_tag(found) == DW_TAG_formal_parameter && dwarf_original(*found).addr == original->addr)
			return 1;
	return 0;
}

/* Does a list of arguments stand below an entry? */
static int dwarf_has_args(Dwarf_Die *die)
{
	Dwarf_Die child;

	for (int more = ktr__die_child(die, &child); more; more = ktr__die_next(&child))
		if (dwarf_tag(&child) == DW_TAG_formal_parameter ||
		    dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			return 1;
	return 0;
}

/* 1 when the argument is one that is passed. */
static int dwarf_arg(struct dwarf_functions *f, Dwarf_Die *die, Dwarf_Die *original, Dwarf_Die *arg,
		     Dwarf_Addr entry, struct ktr__types_member *to)
{
	int is_copy = die->addr != original->addr, artificial = ktr__die_flag(arg, DW_AT_artificial);
	const char *name = ktr__die_text(arg, DW_AT_name);
	Dwarf_Die own = *arg;
	int there = !is_copy || dwarf_copy_of(die, arg, &own);

	/* Constructors and destructors have versions with other hidden arguments; none has this one. */
	if (artificial && ((name && strcmp(name, "__in_chrg") == 0) || !there))
		return 0;
	memset(to, 0, sizeof(*to));
	to->name = ktr__types_build_text(f->types->build, name);
	to->type = ktr__dwarf_type_of(f->types, arg);
	to->flags = artificial ? KTR__TYPES_ARTIFICIAL : 0;
	to->value = there ? dwarf_place(&own, entry) : KTR__TYPES_AT_NOWHERE;
	return 1;
}

static void dwarf_args(struct dwarf_functions *f, Dwarf_Die *die, Dwarf_Addr entry, struct ktr__types_function *to)
{
	Dwarf_Die original = dwarf_original(*die), child;
	struct ktr__types_member *arg = NULL;
	uint32_t room = 0, n = 0;

	if (!dwarf_has_args(&original))
		original = *die;
	for (int more = ktr__die_child(&original, &child); more; more = ktr__die_next(&child)) {
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			to->flags |= KTR__TYPES_VARIADIC;
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (ktr__array_grow(&arg, &room, n, sizeof(*arg))) {
			f->types->build->error = -ENOMEM;
			break;
		}
		n += (uint32_t)dwarf_arg(f, die, &original, &child, entry, &arg[n]);
	}
	to->first = f->types->build->head.n_members;
	for (uint32_t i = 0; i < n; i++)
		ktr__types_build_member(f->types->build, &arg[i]);
	to->n_args = n;
	free(arg);
}

/* ---- functions ---- */

/* Where its code begins, and how much of it lies there. Of code in two parts (hot and cold) the first is meant. */
static int dwarf_range(Dwarf_Die *die, const struct ktr__dwarf_code *code, Dwarf_Addr *begin, uint32_t *size)
{
	Dwarf_Addr base, end;

	if (dwarf_ranges(die, 0, &base, begin, &end) <= 0 || *begin >= end)
		return 0;
	*size = end - *begin > UINT32_MAX ? UINT32_MAX : (uint32_t)(end - *begin);
	for (unsigned i = 0; i < code->n; i++)
		if (*begin + code->bias >= code->low[i] && *begin + code->bias < code->high[i])
			return 1;
	return 0;
}

/* A constructor or destructor, by its name: the last part is that of its class. */
static int dwarf_is_bare(const char *name)
{
	const char *last = ktr__types_last(name), *before;
	size_t n = strcspn(last, "<"), n_class = (size_t)(last - name);
	char class_name[512];

	if (n_class < 3 || n_class >= sizeof(class_name))
		return 0;
	memcpy(class_name, name, n_class - 2);
	class_name[n_class - 2] = '\0';
	before = ktr__types_last(class_name);
	return *last == '~' || (strncmp(before, last, n) == 0 && (before[n] == '\0' || before[n] == '<'));
}

static void dwarf_function(struct dwarf_functions *f, Dwarf_Die *die)
{
	struct ktr__types_function to = { .language = f->types->language };
	struct ktr__types_build *build = f->types->build;
	const char *linkage = ktr__die_text(die, DW_AT_linkage_name), *file;
	Dwarf_Addr begin;
	int line = 0;

	if (!dwarf_range(die, f->code, &begin, &to.size))
		return;
	to.name = ktr__dwarf_name(f->types, die);
	linkage = linkage ? linkage : ktr__die_text(die, DW_AT_MIPS_linkage_name);
	if (!to.name)
		to.name = ktr__types_build_text(build, linkage);
	if (!to.name)
		return;
	to.address = begin + f->code->bias;
	to.linkage = ktr__types_build_text(build, linkage);
	file = ktr__die_file(die);
	to.file = ktr__types_build_text(build, file);
	if (file && dwarf_decl_line(die, &line) == 0 && line > 0)
		to.line = (uint32_t)line;
	to.result = ktr__dwarf_type_of(f->types, die);
	if (f->only_lines && !ktr__die_flag(die, DW_AT_prototyped))
		to.flags |= KTR__TYPES_UNTYPED;
	else if (to.language == KTR__TYPES_C && !ktr__die_flag(die, DW_AT_prototyped))
		to.flags |= KTR__TYPES_UNPROTOTYPED;
	if (!ktr__die_flag(die, DW_AT_external))
		to.flags |= KTR__TYPES_LOCAL;
	if (to.language == KTR__TYPES_CXX && !to.result && !build->error && dwarf_is_bare(build->strings + to.name))
		to.flags |= KTR__TYPES_BARE;
	dwarf_args(f, die, begin, &to);
	ktr__types_build_function(build, &to);
}

static void dwarf_functions_in(struct dwarf_functions *f, Dwarf_Die *in, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DWARF_FUNCTIONS_DEEP || !ktr__die_child(in, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			dwarf_function(f, &die);
			dwarf_functions_in(f, &die, depth + 1);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_interface_type:
			ktr__dwarf_type(f->types, &die);
			dwarf_functions_in(f, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
			dwarf_functions_in(f, &die, depth + 1);
			break;
		case DW_TAG_enumeration_type:
		case DW_TAG_typedef:
			ktr__dwarf_type(f->types, &die);
			break;
		default:
			break;
		}
	} while (ktr__die_next(&die));
}

/* Nothing but functions, namespaces and variables: it was compiled for the lines only. */
static int dwarf_only_lines(Dwarf_Die *unit)
{
	Dwarf_Die die;

	for (int more = ktr__die_child(unit, &die); more; more = ktr__die_next(&die))
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (dwarf_has_args(&die))
				return 0;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_variable:
			break;
		default:
			return 0;
		}
	return 1;
}

void ktr__dwarf_functions(struct ktr__dwarf_types *types, Dwarf_Die *unit, const struct ktr__dwarf_code *code)
{
	struct dwarf_functions f = { types, code, dwarf_only_lines(unit) };

	dwarf_functions_in(&f, unit, 0);
}

#endif
