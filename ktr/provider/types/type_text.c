/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A declaration in C is a base, and around the name what makes pointers, arrays and functions of it: written from
 * the inside out. Before the name come stars and open brackets, behind it the dimensions and arguments.
 */
#include "ktr/provider/types/type_text.h"

#include <stdlib.h>

struct type_text {
	FILE *to;
	const struct ktr__types *types;
	enum ktr__types_language language;
	unsigned steps; /* of a damaged image, which may be without end */
};

#define TYPE_TEXT_STEPS 4096u

static const struct ktr__types_type *type_text_at(const struct type_text *t, uint32_t type)
{
	return &t->types->type[type];
}

static int type_text_ends(struct type_text *t)
{
	return ++t->steps > TYPE_TEXT_STEPS;
}

/* Does a number stand for const and the like? They are written before the base, or behind a star. */
static int type_text_qualifies(uint32_t kind)
{
	return kind >= KTR__TYPES_CONST && kind <= KTR__TYPES_ATOMIC;
}

/* Takes off what qualifies a type; which of them there were becomes bits of *found. */
static uint32_t type_text_unqualified(struct type_text *t, uint32_t type, unsigned *found)
{
	while (type_text_qualifies(type_text_at(t, type)->kind) && !type_text_ends(t)) {
		*found |= 1u << (type_text_at(t, type)->kind - KTR__TYPES_CONST);
		type = type_text_at(t, type)->target;
	}
	return type;
}

static void type_text_qualifiers(struct type_text *t, unsigned found, const char *before, const char *behind)
{
	const char *const words[] = { "const", "volatile",
				     t->language == KTR__TYPES_CXX ? "__restrict__" : "restrict",
				      "_Atomic" };
	int is_first = 1;

	for (unsigned i = 0; i < 4; i++)
		if (found & 1u << i) {
			fprintf(t->to, "%s%s%s", is_first ? before : *behind ? "" : " ", words[i], behind);
			is_first = 0;
		}
}

/* What is declared by something around the name. */
static int type_text_is_around(const struct ktr__types_type *type)
{
	return (type->kind >= KTR__TYPES_POINTER && type->kind <= KTR__TYPES_MEMBER_POINTER && !type->name) ||
	       type->kind == KTR__TYPES_ARRAY || type->kind == KTR__TYPES_FUNCTION;
}

static const char *type_text_keyword(uint32_t kind)
{
	return kind == KTR__TYPES_STRUCT  ? "struct"
	       : kind == KTR__TYPES_CLASS ? "class"
	       : kind == KTR__TYPES_UNION ? "union"
					  : "enum";
}

static void type_text_base(struct type_text *t, uint32_t number)
{
	unsigned found = 0;
	uint32_t bare = type_text_unqualified(t, number, &found);
	const struct ktr__types_type *type = type_text_at(t, bare);
	const char *name = ktr__types_text(t->types, type->name);

	/* const of an array is that of its elements. */
	while (type_text_is_around(type) && !type_text_ends(t)) {
		bare = type_text_unqualified(t, type->target, &found);
		type = type_text_at(t, bare);
		name = ktr__types_text(t->types, type->name);
	}
	type_text_qualifiers(t, found, "", " ");
	if (type->kind == KTR__TYPES_VOID)
		fputs("void", t->to);
	else if (type->kind < KTR__TYPES_STRUCT)
		fputs(*name ? name : "?", t->to);
	else if (!*name)
		fprintf(t->to, "%s {...}", type_text_keyword(type->kind));
	else if (t->language == KTR__TYPES_C || t->language == KTR__TYPES_OTHER)
		fprintf(t->to, "%s %s", type_text_keyword(type->kind), name);
	else
		fputs(name, t->to);
}

/* The type that the base of a declaration is, with its qualifiers. */
static uint32_t type_text_innermost(struct type_text *t, uint32_t number)
{
	for (;;) {
		unsigned found = 0;
		uint32_t bare = type_text_unqualified(t, number, &found);
		const struct ktr__types_type *type = type_text_at(t, bare);

		if (!type_text_is_around(type) || type_text_ends(t))
			return number;
		/* Qualifiers of an array pass to its elements. */
		if (found && type->kind == KTR__TYPES_ARRAY && !type_text_is_around(type_text_at(t, type->target)))
			return number;
		number = type->target;
	}
}

/* What stands before the name. in_pointer: the one around it is a pointer or reference. */
static void type_text_before(struct type_text *t, uint32_t number, int in_pointer, int space)
{
	unsigned found = 0;
	uint32_t bare = type_text_unqualified(t, number, &found);
	const struct ktr__types_type *type = type_text_at(t, bare);

	if (!type_text_is_around(type) || type_text_ends(t))
		return;
	switch (type->kind) {
	case KTR__TYPES_ARRAY:
	case KTR__TYPES_FUNCTION:
		type_text_before(t, type->target, 0, 0);
		if (in_pointer)
			putc('(', t->to);
		return;
	case KTR__TYPES_MEMBER_POINTER:
		type_text_before(t, type->target, 1, 0);
		fprintf(t->to, "%s::*", ktr__types_text(t->types, type_text_at(t, type->other)->name));
		break;
	default:
		type_text_before(t, type->target, 1, type->kind == KTR__TYPES_POINTER);
		fputs(type->kind == KTR__TYPES_POINTER ? "*" : type->kind == KTR__TYPES_REFERENCE ? "&" : "&&",
		      t->to);
	}
	type_text_qualifiers(t, found, " ", "");
	if (found && space)
		putc(' ', t->to);
}

static void type_text_declare(struct type_text *t, uint32_t type, const char *name);

static void type_text_args(struct type_text *t, const struct ktr__types_type *type)
{
	uint32_t n = 0;

	putc('(', t->to);
	for (uint32_t i = 0; i < type->n_members && !type_text_ends(t); i++, n++) {
		const struct ktr__types_member *member = &t->types->member[type->first + i];
		uint32_t arg = member->type;
		unsigned found = 0;

		/* C++ leaves out const of the argument itself. */
		if (t->language == KTR__TYPES_CXX && !(member->flags & KTR__TYPES_ARTIFICIAL))
			arg = type_text_unqualified(t, arg, &found);
		fputs(n ? ", " : "", t->to);
		type_text_declare(t, arg, "");
	}
	if (type->flags & KTR__TYPES_VARIADIC)
		fputs(n ? ", ..." : "...", t->to);
	else if (!n && !(type->flags & KTR__TYPES_UNPROTOTYPED))
		fputs("void", t->to);
	putc(')', t->to);
}

/* What stands behind the name. */
static void type_text_behind(struct type_text *t, uint32_t number, int in_pointer)
{
	unsigned found = 0;
	uint32_t bare = type_text_unqualified(t, number, &found);
	const struct ktr__types_type *type = type_text_at(t, bare);

	if (!type_text_is_around(type) || type_text_ends(t))
		return;
	switch (type->kind) {
	case KTR__TYPES_ARRAY:
		if (in_pointer)
			putc(')', t->to);
		if (type->flags & KTR__TYPES_VECTOR)
			fprintf(t->to, " __attribute__ ((vector_size(%llu)))", (unsigned long long)type->count);
		else if (type->count == UINT64_MAX)
			fputs("[]", t->to);
		else
			fprintf(t->to, "[%llu]", (unsigned long long)type->count);
		type_text_behind(t, type->target, 0);
		return;
	case KTR__TYPES_FUNCTION:
		if (in_pointer)
			putc(')', t->to);
		type_text_args(t, type);
		type_text_behind(t, type->target, 0);
		return;
	default:
		type_text_behind(t, type->target, 1);
	}
}

static void type_text_declare(struct type_text *t, uint32_t type, const char *name)
{
	uint32_t base = type_text_innermost(t, type);
	unsigned found = 0;
	const struct ktr__types_type *bare = type_text_at(t, type_text_unqualified(t, type, &found));
	int around = type_text_is_around(bare);

	type_text_base(t, base);
	if (*name || (around && !(bare->flags & KTR__TYPES_VECTOR)))
		putc(' ', t->to);
	type_text_before(t, type, 0, *name != '\0');
	fputs(name, t->to);
	type_text_behind(t, type, 0);
}

void ktr__type_declare(FILE *to, const struct ktr__types *types, uint32_t type, const char *name,
		       enum ktr__types_language language)
{
	struct type_text t = { to, types, language, 0 };

	type_text_declare(&t, type, name);
}

void ktr__type_resolved(FILE *to, const struct ktr__types *types, uint32_t type, enum ktr__types_language language)
{
	struct type_text t = { to, types, language, 0 };
	unsigned found = 0;

	while (!type_text_ends(&t)) {
		type = type_text_unqualified(&t, type, &found);
		if (types->type[type].kind != KTR__TYPES_TYPEDEF)
			break;
		type = types->type[type].target;
	}
	/* What qualified the typedef qualifies what it stands for, on the side where that is written. */
	if (!type_text_is_around(&types->type[type]))
		type_text_qualifiers(&t, found, "", " ");
	type_text_declare(&t, type, "");
	if (type_text_is_around(&types->type[type]) && types->type[type].kind < KTR__TYPES_CONST)
		type_text_qualifiers(&t, found, " ", "");
}

/* ---- prototypes ---- */

/* this is const, volatile or both: a method of such objects. */
static void type_text_this(struct type_text *t, uint32_t type)
{
	unsigned found = 0;
	const struct ktr__types_type *pointer = type_text_at(t, type_text_unqualified(t, type, &found));

	found = 0;
	if (pointer->kind == KTR__TYPES_POINTER)
		type_text_unqualified(t, pointer->target, &found);
	type_text_qualifiers(t, found, " ", "");
}

static void type_text_arguments(FILE *to, struct type_text *t, const struct ktr__types_function *f)
{
	const struct ktr__types_member *arg = &t->types->member[f->first];
	const char *between = "";

	putc('(', to);
	for (uint32_t i = 0; i < f->n_args; i++) {
		if (arg[i].flags & KTR__TYPES_ARTIFICIAL)
			continue;
		fputs(between, to);
		between = ", ";
		t->steps = 0;
		type_text_declare(t, arg[i].type, ktr__types_text(t->types, arg[i].name));
	}
	if (f->flags & KTR__TYPES_VARIADIC)
		fprintf(to, "%s...", between);
	else if (!*between && f->language == KTR__TYPES_C && !(f->flags & KTR__TYPES_UNPROTOTYPED))
		fputs("void", to);
	putc(')', to);
	if (f->language == KTR__TYPES_CXX && f->n_args && (arg[0].flags & KTR__TYPES_ARTIFICIAL))
		type_text_this(t, arg[0].type);
}

void ktr__type_prototype(FILE *to, const struct ktr__types *types, const struct ktr__types_function *function)
{
	struct type_text t = { to, types, function->language, 0 };
	const char *name = ktr__types_text(types, function->name);
	char *whole = NULL;
	size_t n;
	FILE *text;

	if (function->flags & KTR__TYPES_UNTYPED) {
		fprintf(to, "%s", name);
		return;
	}
	text = open_memstream(&whole, &n);
	if (!text)
		return;
	fputs(name, text);
	t.to = text;
	type_text_arguments(text, &t, function);
	t.to = to;
	t.steps = 0;
	if (fclose(text) == 0 && (function->flags & KTR__TYPES_BARE))
		fputs(whole, to);
	else if (whole)
		type_text_declare(&t, function->result, whole);
	free(whole);
}

/* ---- encodings ---- */

const char *ktr__type_encoding(const struct ktr__types *types, uint32_t type)
{
	static const char *const base[] = { "unknown", "signed", "unsigned", "char",   "unsigned char",
					    "bool",    "float",	 "complex",  "decimal" };
	const struct ktr__types_type *t = ktr__types_bare(types, type), *target;

	switch (t->kind) {
	case KTR__TYPES_VOID:
		return "void";
	case KTR__TYPES_BASE:
		return t->encoding < sizeof(base) / sizeof(base[0]) ? base[t->encoding] : "unknown";
	case KTR__TYPES_POINTER:
		target = ktr__types_bare(types, t->target);
		return target->kind == KTR__TYPES_BASE && target->encoding == KTR__TYPES_CHAR && target->size == 1
			       ? "string"
			       : "pointer";
	case KTR__TYPES_REFERENCE:
	case KTR__TYPES_RVALUE:
		return "reference";
	case KTR__TYPES_MEMBER_POINTER:
		return "pointer";
	case KTR__TYPES_ARRAY:
		return "array";
	case KTR__TYPES_FUNCTION:
		return "function";
	case KTR__TYPES_STRUCT:
	case KTR__TYPES_CLASS:
	case KTR__TYPES_UNION:
	case KTR__TYPES_ENUM:
		return type_text_keyword(t->kind);
	default:
		return "unknown";
	}
}
