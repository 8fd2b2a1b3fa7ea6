/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types out of DWARF. An entry is known by its place in memory, so what several refer to is read once. A struct
 * gets its number first and its members at the end, from a list: so it may contain pointers to itself, and no
 * chain of structs, however long, needs a deep stack. What else may lie within each other is counted.
 *
 * The same struct stands in every unit that includes its header: those of one name, size, place in the source and
 * names of members are taken for one.
 */
#ifndef KTR_HAVE_LIBDW
#define KTR_HAVE_LIBDW 0
#endif

#if KTR_HAVE_LIBDW

#include "analyze/types/dwarf_types.h"

#include "analyze/types/dwarf_base.h"
#include "analyze/types/dwarf_die.h"
#include "analyze/types/dwarf_pass.h"
#include "conf/kit/array.h"
#include "conf/kit/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DWARF_SCOPES_DEEP 32   /* namespaces, classes and functions in each other */
#define DWARF_NAME_MAX    4096 /* [bytes] of a name with its scopes; what is before is left out */

static uint64_t dwarf_key(const Dwarf_Die *die)
{
	return (uintptr_t)die->addr;
}

static uint32_t *dwarf_at(struct ktr__dwarf_types *types, struct ktr__word_map *map, const Dwarf_Die *die)
{
	uint32_t *at = ktr__word_map_at(map, dwarf_key(die));

	if (!at && !types->build->error)
		types->build->error = -ENOMEM;
	return at;
}

enum ktr__types_language ktr__dwarf_language(Dwarf_Die *unit)
{
	switch (ktr__die_number(unit, DW_AT_language, 0)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x002c: /* DW_LANG_C17 */
		return KTR__TYPES_C;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x002b: /* DW_LANG_C_plus_plus_17 */
	case 0x002e: /* DW_LANG_C_plus_plus_20 */
		return KTR__TYPES_CXX;
	case DW_LANG_Rust:
		return KTR__TYPES_RUST;
	default:
		return KTR__TYPES_OTHER;
	}
}

/* ---- names ---- */

static int dwarf_is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_interface_type;
}

static int dwarf_is_place(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

static void dwarf_scope(struct ktr__dwarf_types *types, Dwarf_Die *in, const char *scope, unsigned depth)
{
	char name[DWARF_NAME_MAX];
	Dwarf_Die die;
	uint32_t number = ktr__types_build_text(types->build, scope), *at;

	if (depth > DWARF_SCOPES_DEEP || !ktr__die_child(in, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		const char *own = ktr__die_text(&die, DW_AT_name);

		if (tag == DW_TAG_formal_parameter || tag == DW_TAG_member || tag == DW_TAG_variable)
			continue;
		at = number ? dwarf_at(types, &types->scope, &die) : NULL;
		if (at)
			*at = number;
		if (dwarf_is_place(tag)) {
			dwarf_scope(types, &die, scope, depth + 1);
		} else if (dwarf_is_scope(tag)) {
			own = own ? own : tag == DW_TAG_namespace ? "(anonymous namespace)" : NULL;
			if (snprintf(name, sizeof(name), "%s%s%s", scope, own ? own : "", own ? "::" : "") <
			    (int)sizeof(name))
				dwarf_scope(types, &die, name, depth + 1);
		}
	} while (ktr__die_next(&die));
}

void ktr__dwarf_scopes(struct ktr__dwarf_types *types, Dwarf_Die *unit)
{
	dwarf_scope(types, unit, "", 0);
}

/* The declaration in the class or namespace, of a definition outside. */
static void dwarf_declaration(Dwarf_Die *die)
{
	Dwarf_Die to;

	for (unsigned i = 0; i < 8 && (ktr__die_refers(die, DW_AT_specification, &to) ||
				       ktr__die_refers(die, DW_AT_abstract_origin,
						       &to)) && to.addr != die->addr; i++)
		*die = to;
}

uint32_t ktr__dwarf_name(struct ktr__dwarf_types *types, Dwarf_Die *die)
{
	const char *own = ktr__die_text(die, DW_AT_name);
	Dwarf_Die declared = *die;
	char name[DWARF_NAME_MAX], canonical[DWARF_NAME_MAX];
	uint32_t scope;

	if (!own)
		return 0;
	dwarf_declaration(&declared);
	scope = ktr__word_map_get(&types->scope, dwarf_key(&declared));
	snprintf(name, sizeof(name), "%s%s", scope ? types->build->strings + scope : "", own);
	if (types->language != KTR__TYPES_CXX || !strchr(name, '<'))
		return ktr__types_build_text(types->build, name);
	ktr__base_in_template(name, canonical, sizeof(canonical));
	return ktr__types_build_text(types->build, canonical);
}

/* ---- types ---- */

static uint32_t dwarf_type(struct ktr__dwarf_types *types, Dwarf_Die *die, unsigned depth);

static uint32_t dwarf_type_of(struct ktr__dwarf_types *types, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die type;

	return ktr__die_refers(die, DW_AT_type, &type) ? dwarf_type(types, &type, depth) : 0;
}

static uint32_t dwarf_unknown(struct ktr__dwarf_types *types)
{
	struct ktr__types_type type = { .kind = KTR__TYPES_UNKNOWN };

	return ktr__types_build_type(types->build, &type, 0, NULL);
}

static const struct {
	int tag;
	enum ktr__types_kind kind;
} dwarf_kinds[] = {
	{ DW_TAG_pointer_type, KTR__TYPES_POINTER },
	{ DW_TAG_reference_type, KTR__TYPES_REFERENCE },
	{ DW_TAG_rvalue_reference_type, KTR__TYPES_RVALUE },
	{ DW_TAG_ptr_to_member_type, KTR__TYPES_MEMBER_POINTER },
	{ DW_TAG_const_type, KTR__TYPES_CONST },
	{ DW_TAG_volatile_type, KTR__TYPES_VOLATILE },
	{ DW_TAG_restrict_type, KTR__TYPES_RESTRICT },
	{ DW_TAG_atomic_type, KTR__TYPES_ATOMIC },
	{ DW_TAG_typedef, KTR__TYPES_TYPEDEF },
	{ DW_TAG_template_alias, KTR__TYPES_TYPEDEF },
	{ DW_TAG_structure_type, KTR__TYPES_STRUCT },
	{ DW_TAG_interface_type, KTR__TYPES_CLASS },
	{ DW_TAG_class_type, KTR__TYPES_CLASS },
	{ DW_TAG_union_type, KTR__TYPES_UNION },
	{ DW_TAG_enumeration_type, KTR__TYPES_ENUM },
};

static enum ktr__types_kind dwarf_kind(int tag)
{
	for (size_t i = 0; i < sizeof(dwarf_kinds) / sizeof(dwarf_kinds[0]); i++)
		if (dwarf_kinds[i].tag == tag)
			return dwarf_kinds[i].kind;
	return KTR__TYPES_UNKNOWN;
}

/* Pointers, references, const and the like, typedefs. */
static uint32_t dwarf_on_another(struct ktr__dwarf_types *types, Dwarf_Die *die, enum ktr__types_kind kind,
				 unsigned depth)
{
	struct ktr__types_type type = { .kind = kind, .language = types->language };
	Dwarf_Die in;

	type.target = dwarf_type_of(types, die, depth);
	if (kind == KTR__TYPES_MEMBER_POINTER && ktr__die_refers(die, DW_AT_containing_type, &in))
		type.other = dwarf_type(types, &in, depth);
	if (kind == KTR__TYPES_TYPEDEF)
		type.name = ktr__dwarf_name(types, die);
	/* Pointers of Rust have names: &str, *const u8. */
	else if (kind == KTR__TYPES_POINTER && types->language == KTR__TYPES_RUST)
		type.name = ktr__types_build_text(types->build, ktr__die_text(die, DW_AT_name));
	if (kind == KTR__TYPES_POINTER || kind == KTR__TYPES_REFERENCE || kind == KTR__TYPES_RVALUE)
		type.size = ktr__die_number(die, DW_AT_byte_size, 8);
	else if (kind == KTR__TYPES_MEMBER_POINTER)
		type.size = types->build->type[type.target].kind == KTR__TYPES_FUNCTION ? 16 : 8;
	else
		type.size = types->build->type[type.target].size;
	return ktr__types_build_type(types->build, &type, 0, NULL);
}

static uint32_t dwarf_base(struct ktr__dwarf_types *types, Dwarf_Die *die)
{
	const char *name = ktr__die_text(die, DW_AT_name);
	struct ktr__types_type type = { .kind = KTR__TYPES_BASE, .language = types->language };
	char canonical[256];

	type.size = ktr__die_number(die, DW_AT_byte_size, (ktr__die_number(die, DW_AT_bit_size, 0) + 7) / 8);
	type.encoding = ktr__base_encoding(ktr__die_number(die, DW_AT_encoding, 0));
	if (dwarf_tag(die) == DW_TAG_unspecified_type) {
		type.size = 8;
		type.encoding = KTR__TYPES_NONE;
	}
	ktr__base_name(name ? name : "?", canonical, sizeof(canonical));
	type.name = ktr__types_build_text(types->build, canonical);
	return ktr__types_build_type(types->build, &type, 0, NULL);
}

/* Dimensions come outermost first; each but the last is an array of those after it. */
static uint32_t dwarf_dimensions(struct ktr__dwarf_types *types, Dwarf_Die *range, uint32_t element, uint32_t flags,
				 unsigned depth)
{
	struct ktr__types_type type = { .kind = KTR__TYPES_ARRAY, .flags = flags, .count = UINT64_MAX };
	uint64_t upper = ktr__die_number(range, DW_AT_upper_bound, UINT64_MAX);
	Dwarf_Die next = *range;

	type.count = ktr__die_number(range, DW_AT_count, upper == UINT64_MAX ? UINT64_MAX : upper + 1);
	type.target = element;
	if (depth < KTR__TYPES_DEPTH && ktr__die_next(&next) && dwarf_tag(&next) == DW_TAG_subrange_type)
		type.target = dwarf_dimensions(types, &next, element, flags, depth + 1);
	type.size = types->build->type[type.target].size;
	type.size = type.count == UINT64_MAX ? 0 : type.count * type.size;
	return ktr__types_build_type(types->build, &type, 0, NULL);
}

static uint32_t dwarf_array(struct ktr__dwarf_types *types, Dwarf_Die *die, unsigned depth)
{
	struct ktr__types_type type = { .kind = KTR__TYPES_ARRAY, .count = UINT64_MAX };
	uint32_t flags = ktr__die_flag(die, DW_AT_GNU_vector) ? KTR__TYPES_VECTOR : 0;
	Dwarf_Die range;

	type.target = dwarf_type_of(types, die, depth);
	if (!ktr__die_child(die, &range))
		return ktr__types_build_type(types->build, &type, 0, NULL);
	return dwarf_dimensions(types, &range, type.target, flags, depth);
}

/* `this` of a pointer to a method is constant, as it is in the method, although compilers do not say so. */
static uint32_t dwarf_this(struct ktr__dwarf_types *types, uint32_t type)
{
	struct ktr__types_type constant = { .kind = KTR__TYPES_CONST, .language = types->language, .target = type };

	if (types->language != KTR__TYPES_CXX || types->build->type[type].kind == KTR__TYPES_CONST)
		return type;
	constant.size = types->build->type[type].size;
	return ktr__types_build_type(types->build, &constant, 0, NULL);
}

/* A function's type: its arguments are members, which lie together once they are known. */
static uint32_t dwarf_function(struct ktr__dwarf_types *types, Dwarf_Die *die, unsigned depth)
{
	struct ktr__types_type type = { .kind = KTR__TYPES_FUNCTION, .language = types->language };
	struct ktr__types_member *arg = NULL;
	uint32_t room = 0, n = 0, found;
	uint64_t key = 3;
	Dwarf_Die child;
	int is_new;

	type.target = dwarf_type_of(types, die, depth);
	if (types->language == KTR__TYPES_C && !ktr__die_flag(die, DW_AT_prototyped))
		type.flags |= KTR__TYPES_UNPROTOTYPED;
	for (int more = ktr__die_child(die, &child); more; more = ktr__die_next(&child)) {
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			type.flags |= KTR__TYPES_VARIADIC;
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (ktr__array_grow(&arg, &room, n, sizeof(*arg))) {
			types->build->error = -ENOMEM;
			break;
		}
		arg[n].type = dwarf_type_of(types, &child, depth);
		if (ktr__die_flag(&child, DW_AT_artificial)) {
			arg[n].flags = KTR__TYPES_ARTIFICIAL;
			arg[n].type = dwarf_this(types, arg[n].type);
		}
		n++;
	}
	type.n_members = n;
	key = ktr__hash_bytes(ktr__hash_bytes(key, (const char *)arg, n * sizeof(*arg)), (const char *)&type,
			      sizeof(type));
	type.first = types->build->head.n_members;
	found = ktr__types_build_type(types->build, &type, key, &is_new);
	for (uint32_t i = 0; is_new && i < n; i++)
		ktr__types_build_member(types->build, &arg[i]);
	free(arg);
	return found;
}

/* What tells a struct from all others, but for its being declared in several units. */
static uint64_t dwarf_struct_key(struct ktr__dwarf_types *types, Dwarf_Die *die, const struct ktr__types_type *type)
{
	uint32_t scope = ktr__word_map_get(&types->scope, dwarf_key(die));
	uint64_t key = ktr__hash_bytes(2, (const char *)type, sizeof(*type));
	const char *file = ktr__die_file(die), *name;
	int line = 0, column = 0;
	Dwarf_Die child;

	dwarf_decl_line(die, &line);
	dwarf_decl_column(die, &column);
	key = ktr__hash_word(key, (uint64_t)line << 32 | (uint32_t)column);
	key = ktr__hash_word(key, scope);
	if (file)
		key = ktr__hash_bytes(key, file, strlen(file));
	for (int more = ktr__die_child(die, &child); more; more = ktr__die_next(&child)) {
		name = ktr__die_text(&child, DW_AT_name);
		if (name && dwarf_tag(&child) != DW_TAG_subprogram)
			key = ktr__hash_bytes(key, name, strlen(name));
	}
	return key;
}

static uint32_t dwarf_struct(struct ktr__dwarf_types *types, Dwarf_Die *die, enum ktr__types_kind kind,
			     unsigned depth)
{
	struct ktr__types_type type = { .kind = kind, .language = types->language };
	uint32_t number, n = types->n_wanted;
	int is_new;

	type.name = ktr__dwarf_name(types, die);
	type.size = ktr__die_number(die, DW_AT_byte_size, 0);
	if (ktr__die_flag(die, DW_AT_declaration))
		type.flags |= KTR__TYPES_DECLARED;
	if (kind == KTR__TYPES_ENUM) {
		uint32_t base = dwarf_type_of(types, die, depth);

		/* Without a type of its own it is as large as it needs to be, and its values tell the sign. */
		type.encoding = base ? types->build->type[base].encoding : KTR__TYPES_NONE;
	}
	number = ktr__types_build_type(types->build, &type, dwarf_struct_key(types, die, &type), &is_new);
	if (!is_new || (type.flags & KTR__TYPES_DECLARED))
		return number;
	if (ktr__array_grow(&types->wanted, &types->wanted_room, n, sizeof(*types->wanted)))
		types->build->error = -ENOMEM;
	else
		types->wanted[types->n_wanted++] = (struct ktr__dwarf_wanted){ *die, number, types->language };
	return number;
}

static uint32_t dwarf_make(struct ktr__dwarf_types *types, Dwarf_Die *die, unsigned depth)
{
	int tag = dwarf_tag(die);
	enum ktr__types_kind kind = dwarf_kind(tag);
	Dwarf_Die whole;

	/* A type unit's stand-in names the one that it is. */
	if (kind >= KTR__TYPES_STRUCT && ktr__die_refers(die, DW_AT_signature, &whole) && whole.addr != die->addr)
		return dwarf_type(types, &whole, depth);
	if (kind >= KTR__TYPES_STRUCT)
		return dwarf_struct(types, die, kind, depth);
	if (kind != KTR__TYPES_UNKNOWN)
		return dwarf_on_another(types, die, kind, depth);
	switch (tag) {
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
		return dwarf_base(types, die);
	case DW_TAG_array_type:
		return dwarf_array(types, die, depth);
	case DW_TAG_subroutine_type:
		return dwarf_function(types, die, depth);
	case DW_TAG_subrange_type:
	case DW_TAG_shared_type:
	case DW_TAG_packed_type:
		return dwarf_type_of(types, die, depth);
	default:
		return dwarf_unknown(types);
	}
}

static uint32_t dwarf_type(struct ktr__dwarf_types *types, Dwarf_Die *die, unsigned depth)
{
	uint32_t *at = dwarf_at(types, &types->seen, die), number;

	if (!at || depth > KTR__TYPES_DEPTH)
		return dwarf_unknown(types);
	if (*at)
		return *at - 1;
	/* What is made of itself is void. */
	*at = 1;
	number = dwarf_make(types, die, depth + 1);
	at = dwarf_at(types, &types->seen, die);
	if (at)
		*at = number + 1;
	return number;
}

uint32_t ktr__dwarf_type(struct ktr__dwarf_types *types, Dwarf_Die *die)
{
	return dwarf_type(types, die, 0);
}

uint32_t ktr__dwarf_type_of(struct ktr__dwarf_types *types, Dwarf_Die *die)
{
	return dwarf_type_of(types, die, 0);
}

/* ---- members ---- */

/* [bits] Where a member begins. */
static uint64_t dwarf_offset(Dwarf_Die *die, uint64_t bits)
{
	uint64_t offset = ktr__die_number(die, DW_AT_data_member_location, 0) * 8, size, from_top;
	Dwarf_Attribute at;
	Dwarf_Op *op;
	size_t n;

	/* Older compilers say it as an expression: DW_OP_plus_uconst. */
	if (dwarf_attr_integrate(die, DW_AT_data_member_location, &at) &&
	    dwarf_whatform(&at) != DW_FORM_data1 && dwarf_getlocation(&at, &op, &n) == 0 && n == 1 &&
	    op->atom == DW_OP_plus_uconst)
		offset = op->number * 8;
	offset = ktr__die_number(die, DW_AT_data_bit_offset, offset);
	/* DWARF 3 counts a bit-field from the top of what it is stored in. */
	from_top = bits ? ktr__die_number(die, DW_AT_bit_offset, UINT64_MAX) : UINT64_MAX;
	if (from_top == UINT64_MAX)
		return offset;
	size = ktr__die_number(die, DW_AT_byte_size, 0);
	if (!size) {
		Dwarf_Die type;

		size = ktr__die_refers(die, DW_AT_type, &type) ? ktr__die_number(&type, DW_AT_byte_size, 4) : 4;
	}
	return offset + size * 8 - from_top - bits;
}

/* 1 when the entry is a member, which is filled in. */
static int dwarf_member(struct ktr__dwarf_types *types, Dwarf_Die *die, struct ktr__types_member *member)
{
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_enumerator) {
		member->name = ktr__types_build_text(types->build, ktr__die_text(die, DW_AT_name));
		member->value = ktr__die_number(die, DW_AT_const_value, 0);
		return 1;
	}
	/* Static ones are elsewhere. */
	if ((tag != DW_TAG_member || ktr__die_flag(die, DW_AT_external) || ktr__die_flag(die, DW_AT_declaration)) &&
	    tag != DW_TAG_inheritance)
		return 0;
	member->name = ktr__types_build_text(types->build, ktr__die_text(die, DW_AT_name));
	member->type = ktr__dwarf_type_of(types, die);
	member->bits = (uint32_t)ktr__die_number(die, DW_AT_bit_size, 0);
	member->value = dwarf_offset(die, member->bits);
	if (tag == DW_TAG_inheritance)
		member->flags = KTR__TYPES_INHERITED;
	if (tag == DW_TAG_inheritance && ktr__die_number(die, DW_AT_virtuality, 0))
		member->flags |= KTR__TYPES_VIRTUAL;
	if (ktr__die_flag(die, DW_AT_artificial))
		member->flags |= KTR__TYPES_ARTIFICIAL;
	return 1;
}

static int dwarf_members_order(const void *a, const void *b)
{
	const struct ktr__types_member *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static void dwarf_members_of(struct ktr__dwarf_types *types, struct ktr__dwarf_wanted *wanted)
{
	struct ktr__types_member *member = NULL;
	uint32_t room = 0, n = 0;
	Dwarf_Die child;

	types->language = wanted->language;
	for (int more = ktr__die_child(&wanted->die, &child); more; more = ktr__die_next(&child)) {
		if (ktr__array_grow(&member, &room, n, sizeof(*member))) {
			types->build->error = -ENOMEM;
			break;
		}
		memset(&member[n], 0, sizeof(member[n]));
		n += (uint32_t)dwarf_member(types, &child, &member[n]);
	}
	/* Rust lays members out in an order of its own. */
	if (wanted->language == KTR__TYPES_RUST && types->build->type[wanted->type].kind != KTR__TYPES_ENUM && n)
		qsort(member, n, sizeof(*member), dwarf_members_order);
	types->build->type[wanted->type].first = types->build->head.n_members;
	for (uint32_t i = 0; i < n; i++)
		ktr__types_build_member(types->build, &member[i]);
	if (!types->build->error)
		types->build->type[wanted->type].n_members = n;
	types->build->type[wanted->type].flags |= ktr__pass_flag(types->build, wanted->type, &wanted->die);
	free(member);
}

/* Members that are met meanwhile join the list. */
void ktr__dwarf_members(struct ktr__dwarf_types *types)
{
	while (types->n_wanted && !types->build->error) {
		struct ktr__dwarf_wanted wanted = types->wanted[--types->n_wanted];

		dwarf_members_of(types, &wanted);
	}
}

void ktr__dwarf_types_free(struct ktr__dwarf_types *types)
{
	free(types->wanted);
	ktr__word_map_free(&types->scope);
	ktr__word_map_free(&types->seen);
}

#endif
