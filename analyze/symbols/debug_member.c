/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of variables, by their types. Variables are those of files, namespaces and functions that have an address
 * of their own; all units are looked at when the first is asked for.
 */
#include "analyze/symbols/debug_member.h"

#include "analyze/symbols/debug_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if KTR_HAVE_LIBDW

#define MEMBER_DEEP 16 /* structs within each other, and blocks of functions */
#define MEMBER_MOST 10000 /* entries, for one address */

struct debug_variable {
	Dwarf_Addr address; /* the object's own */
	Dwarf_Die die;
};

/* ---- variables ---- */

static int member_address(Dwarf_Die *die, Dwarf_Addr *address)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attribute) || dwarf_getlocation(&attribute, &op, &n) || n != 1)
		return 0;
	if (op[0].atom == DW_OP_addr) {
		*address = op[0].number;
		return 1;
	}
	/* DW_OP_addrx: an index into .debug_addr. */
	return op[0].atom == DW_OP_addrx && dwarf_getlocation_attr(&attribute, op, &attribute) == 0 &&
	       dwarf_formaddr(&attribute, address) == 0;
}

/* Without memory there are fewer. */
static void member_add(struct ktr__debug_lines *lines, Dwarf_Addr address, const Dwarf_Die *die)
{
	if (lines->n_variables == lines->variable_room) {
		size_t more = lines->variable_room ? 2 * lines->variable_room : 256;
		struct debug_variable *grown = realloc(lines->variable, more * sizeof(*grown));

		if (!grown)
			return;
		lines->variable = grown;
		lines->variable_room = more;
	}
	lines->variable[lines->n_variables++] = (struct debug_variable){ address, *die };
}

static int member_has_variables(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_compile_unit || tag == DW_TAG_partial_unit;
}

static void member_within(struct ktr__debug_lines *lines, Dwarf_Die *around, Dwarf_Addr bias, unsigned deep)
{
	Dwarf_Addr address;
	Dwarf_Die die;

	if (deep > MEMBER_DEEP || dwarf_child(around, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_variable && member_address(&die, &address))
			member_add(lines, address + bias - lines->bias, &die);
		else if (member_has_variables(tag))
			member_within(lines, &die, bias, deep + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int member_order(const void *a, const void *b)
{
	const struct debug_variable *one = a, *other = b;

	return one->address < other->address ? -1 : one->address > other->address;
}

static const struct debug_variable *member_variable(struct ktr__debug_lines *lines, Dwarf_Addr address)
{
	const struct debug_variable key = { .address = address };
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	if (!lines->has_variables) {
		lines->has_variables = 1;
		while ((unit = dwfl_module_nextcu(lines->module, unit, &bias)) != NULL)
			member_within(lines, unit, bias, 0);
		if (lines->n_variables)
			qsort(lines->variable, lines->n_variables, sizeof(key), member_order);
	}
	return lines->n_variables ?
		       bsearch(&key, lines->variable, lines->n_variables, sizeof(key), member_order) : NULL;
}

/* ---- types ---- */

/* What is whole, however it is made: the C library's, and the C++ library's. */
static int member_is_lock(const char *name)
{
	static const char *const locks[] = {
		"pthread_mutex_t", "pthread_rwlock_t", "pthread_cond_t", "pthread_spinlock_t", "pthread_barrier_t",
		"sem_t", "mtx_t", "cnd_t", "mutex", "timed_mutex", "recursive_mutex", "recursive_timed_mutex",
		"shared_mutex", "shared_timed_mutex", "condition_variable", "condition_variable_any",
	};

	for (size_t i = 0; name && i < sizeof(locks) / sizeof(locks[0]); i++)
		if (strcmp(name, locks[i]) == 0)
			return 1;
	return 0;
}

/* The type of an entry, without what it is called by and how it may be used. 0: it has none. */
static int member_type(const Dwarf_Die *die, Dwarf_Die *type, int *is_lock)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die;

	for (unsigned i = 0; i < 4 * MEMBER_DEEP; i++) {
		if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attribute), type))
			return 0;
		*is_lock = member_is_lock(dwarf_diename(type));
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
			if (*is_lock)
				return 1;
			/* fall through */
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
			at = *type;
			continue;
		default:
			return 1;
		}
	}
	return 0;
}

static int member_number(Dwarf_Die *die, unsigned which, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, which, &attribute) && dwarf_formudata(&attribute, number) == 0;
}

/* [bytes] 0: it is not told. */
static Dwarf_Word member_size(Dwarf_Die *type)
{
	Dwarf_Word size = 0;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* Does the entry, a member or a base, hold the offset? That is one within it then. */
static int member_holds(Dwarf_Die *die, Dwarf_Word *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word at = 0;
	Dwarf_Die of;

	/* One of the class, or bits. */
	if (dwarf_attr(die, DW_AT_external, &attribute) || dwarf_hasattr_integrate(die, DW_AT_data_bit_offset))
		return 0;
	/* Where a virtual base lies is known in each object alone. */
	if (!member_number(die, DW_AT_data_member_location, &at) &&
	    dwarf_hasattr_integrate(die, DW_AT_data_member_location))
		return 0;
	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &of))
		return 0;
	if (*offset < at || *offset - at >= member_size(&of))
		return 0;
	*offset -= at;
	return 1;
}

/* Adds "[i]" of all dimensions that are told. 0: it lies outside, or they are not. */
static int member_element(Dwarf_Die *type, Dwarf_Word *offset, char *text, size_t size, size_t *n)
{
	Dwarf_Word count[MEMBER_DEEP], each, bound;
	Dwarf_Attribute attribute;
	unsigned n_counts = 0;
	Dwarf_Die of, die;

	if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attribute), &of) || dwarf_child(type, &die))
		return 0;
	each = member_size(&of);
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type || n_counts == MEMBER_DEEP)
			continue;
		count[n_counts] = 0;
		if (!member_number(&die, DW_AT_count, &count[n_counts]) &&
		    member_number(&die, DW_AT_upper_bound, &bound))
			count[n_counts] = bound + 1;
		n_counts++;
	} while (dwarf_siblingof(&die, &die) == 0);
	if (!each || !n_counts)
		return 0;
	for (unsigned i = 1; i < n_counts; i++)
		each *= count[i];
	for (unsigned i = 0; i < n_counts && each; i++) {
		if (*n < size)
			*n += (size_t)snprintf(text + *n, size - *n, "[%llu]", (unsigned long long)(*offset / each));
		*offset %= each;
		each = i + 1 < n_counts && count[i + 1] ? each / count[i + 1] : 0;
	}
	return 1;
}

/*
 * Of a union several members hold the offset, and of a class its empty base and its first member: the way is looked
 * for that ends at a lock, and where there is none, at any one that begins there.
 */
struct member_search {
	char *text;
	size_t size;
	int locks; /* only they will do */
	unsigned left; /* entries that are looked at still: nobody's file keeps us for long */
};

static int member_find(struct member_search *search, const Dwarf_Die *of, Dwarf_Word offset, size_t n,
		       unsigned deep);

static int member_find_in(struct member_search *search, Dwarf_Die *type, Dwarf_Word offset, size_t n, unsigned deep)
{
	Dwarf_Die die;

	if (dwarf_child(type, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);
		Dwarf_Word within = offset;
		size_t more = n;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !member_holds(&die, &within))
			continue;
		if (tag == DW_TAG_member && dwarf_diename(&die) && n < search->size)
			more += (size_t)snprintf(search->text + n, search->size - n, ".%s", dwarf_diename(&die));
		if (member_find(search, &die, within, more, deep + 1))
			return 1;
	} while (search->left && dwarf_siblingof(&die, &die) == 0);
	return 0;
}

/* of: an entry that has a type, and text of its own up to n. */
static int member_find(struct member_search *search, const Dwarf_Die *of, Dwarf_Word offset, size_t n,
		       unsigned deep)
{
	int is_lock = 0;
	Dwarf_Die type;

	if (deep == MEMBER_DEEP || !search->left)
		return 0;
	search->left--;
	if (member_type(of, &type, &is_lock) && !is_lock)
		switch (dwarf_tag(&type)) {
		case DW_TAG_array_type:
			return member_element(&type, &offset, search->text, search->size, &n) &&
			       member_find(search, &type, offset, n, deep + 1);
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			return member_find_in(search, &type, offset, n, deep);
		default:
			break;
		}
	if (offset || !n || n >= search->size || (search->locks && !is_lock))
		return 0;
	search->text[n] = '\0'; /* another way may have been longer */
	return 1;
}

int ktr__debug_member(struct ktr__debug_lines *lines, uint64_t variable, uint64_t offset, char *text, size_t size)
{
	const struct debug_variable *found = member_variable(lines, variable);
	struct member_search search = { text, size, 1, MEMBER_MOST };

	text[0] = '\0';
	if (!found || member_find(&search, &found->die, offset, 0, 0))
		return found != NULL;
	search.locks = 0;
	search.left = MEMBER_MOST;
	return member_find(&search, &found->die, offset, 0, 0);
}

#else

int ktr__debug_member(struct ktr__debug_lines *lines, uint64_t variable, uint64_t offset, char *text, size_t size)
{
	(void)lines, (void)variable, (void)offset, (void)size;
	text[0] = '\0';
	return 0;
}

#endif
