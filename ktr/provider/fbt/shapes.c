/* SPDX-License-Identifier: BSD-2-Clause */
/* What it is taken out of may be anybody's file: what comes of it is bounded, and copied. */
#include "ktr/provider/fbt/shapes.h"

#include "ktr/provider/types/type_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES_ENUM_MAX 4096 /* names; of an enum with more the number is recorded */
#define SHAPES_TYPE_MAX 80   /* [bytes] */

/* ---- where a value is ---- */

/* [words] of what the trampoline has pushed, by DWARF's numbers: rax rdx rcx rbx rsi rdi rbp rsp r8 r9. */
static const int8_t shapes_word[] = { -2, -6, -5, 0, -7, -8, 0, 0, -4, -3 };

#define SHAPES_VECTORS -15 /* [words] xmm0 to xmm2, below the words */
#define SHAPES_RETURNED -7 /* [words] xmm0 when it has returned; there rax is the first word below, then rdx */

bool ktr__fbt_shape_place(const struct ktr__types_place *place, bool is_result, struct ktr__fbt_value *value)
{
	unsigned reg = place->reg[0];

	if (place->kind == KTR__PLACE_MEMORY && place->offset % 8 == 0 && place->offset < 4096 && !is_result) {
		value->at = (int32_t)(place->offset / 8);
		return true;
	}
	if (place->kind != KTR__PLACE_REGISTER || place->n != 1)
		return false;
	if (is_result) {
		value->at = reg == KTR__PLACE_XMM0 ? SHAPES_RETURNED : reg == 0 ? -1 : -2;
		return reg <= 1 || reg == KTR__PLACE_XMM0;
	}
	if (reg < sizeof(shapes_word)) {
		value->at = shapes_word[reg];
		return value->at != 0;
	}
	if (reg < KTR__PLACE_XMM0 || reg > KTR__PLACE_XMM0 + 7)
		return false;
	reg -= KTR__PLACE_XMM0;
	value->at = SHAPES_VECTORS + 2 * (int32_t)(reg < 3 ? reg : 0);
	value->vector = (uint8_t)(reg < 3 ? 0 : reg);
	return true;
}

/* ---- what it is ---- */

static int shapes_by_value(const void *a, const void *b)
{
	const struct ktr__fbt_name *one = a, *two = b;

	return (one->value > two->value) - (one->value < two->value);
}

static uint64_t shapes_low(uint64_t value, unsigned n_bytes)
{
	return n_bytes < 8 ? value & ((1ull << 8 * n_bytes) - 1) : value;
}

/* Texts behind the rows, in one piece. NULL: there are too many, or there is no memory. */
static const struct ktr__fbt_names *shapes_names(const struct ktr__types *types, const struct ktr__types_type *t)
{
	const struct ktr__types_member *member = &types->member[t->first];
	size_t n_bytes = sizeof(struct ktr__fbt_names) + t->n_members * sizeof(struct ktr__fbt_name);
	size_t n_text = 0;
	struct ktr__fbt_names *names;
	char *text;

	if (!t->n_members || t->n_members > SHAPES_ENUM_MAX)
		return NULL;
	for (uint32_t i = 0; i < t->n_members; i++)
		n_text += strnlen(ktr__types_text(types, member[i].name), KTR__FBT_TEXT) + 1;
	names = malloc(n_bytes + n_text);
	if (!names)
		return NULL;
	text = (char *)names + n_bytes;
	names->n = t->n_members;
	for (uint32_t i = 0; i < t->n_members; i++) {
		size_t n = strnlen(ktr__types_text(types, member[i].name), KTR__FBT_TEXT);

		names->row[i] = (struct ktr__fbt_name){ shapes_low(member[i].value, (unsigned)t->size), text };
		memcpy(text, ktr__types_text(types, member[i].name), n);
		text[n] = '\0';
		text += n + 1;
	}
	qsort(names->row, names->n, sizeof(names->row[0]), shapes_by_value);
	return names;
}

bool ktr__fbt_shape_is_text(const struct ktr__types *types, uint32_t type)
{
	const struct ktr__types_type *t = ktr__types_bare(types, type);

	return t->kind == KTR__TYPES_BASE && t->encoding == KTR__TYPES_CHAR && t->size == 1 &&
	       strcmp(ktr__types_text(types, t->name), "char") == 0;
}

static uint8_t shapes_integer(unsigned n_bytes, bool is_signed)
{
	switch (n_bytes) {
	case 1:
		return is_signed ? KTR_ARG_I8 : KTR_ARG_U8;
	case 2:
		return is_signed ? KTR_ARG_I16 : KTR_ARG_U16;
	case 4:
		return is_signed ? KTR_ARG_I32 : KTR_ARG_U32;
	default:
		return is_signed ? KTR_ARG_I64 : KTR_ARG_U64;
	}
}

static void shapes_set(struct ktr__fbt_value *value, enum ktr__fbt_shape shape, uint8_t type)
{
	value->shape = (uint8_t)shape;
	value->type = type;
}

/* How it is printed; NULL: it is none that can be recorded. */
static const char *shapes_base(const struct ktr__types *types, const struct ktr__types_type *t,
			      struct ktr__fbt_value *value)
{
	bool is_signed = t->encoding == KTR__TYPES_SIGNED || t->encoding == KTR__TYPES_CHAR;

	switch (t->encoding) {
	case KTR__TYPES_FLOAT:
		shapes_set(value, KTR__FBT_FLOAT, KTR_ARG_F64);
		return t->size == 4 ? "%.7g" : t->size == 8 ? "%.15g" : NULL;
	case KTR__TYPES_SIGNED:
	case KTR__TYPES_UNSIGNED:
	case KTR__TYPES_CHAR:
	case KTR__TYPES_UCHAR:
	case KTR__TYPES_BOOL:
		shapes_set(value, is_signed ? KTR__FBT_SIGNED : KTR__FBT_UNSIGNED,
			    shapes_integer((unsigned)t->size, is_signed));
		if (t->encoding == KTR__TYPES_CHAR && strcmp(ktr__types_text(types, t->name), "char") == 0)
			return "'%c'";
		return is_signed ? "%jd" : "%ju";
	default:
		return NULL;
	}
}

const char *ktr__fbt_shape(const struct ktr__types *types, uint32_t type, struct ktr__fbt_value *value)
{
	const struct ktr__types_type *t = ktr__types_bare(types, type);
	bool is_signed = t->encoding == KTR__TYPES_SIGNED || t->encoding == KTR__TYPES_CHAR;

	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return NULL;
	value->n_bytes = (uint8_t)t->size;
	switch (t->kind) {
	case KTR__TYPES_BASE:
		return shapes_base(types, t, value);
	case KTR__TYPES_ENUM:
		value->names = shapes_names(types, t);
		shapes_set(value, value->names ? KTR__FBT_ENUM : is_signed ? KTR__FBT_SIGNED : KTR__FBT_UNSIGNED,
			    value->names ? (uint8_t)KTR_ARG_STR : shapes_integer(value->n_bytes, is_signed));
		return value->names ? "%s" : is_signed ? "%jd" : "%ju";
	case KTR__TYPES_POINTER:
		if (ktr__fbt_shape_is_text(types, t->target)) {
			shapes_set(value, KTR__FBT_STRING, KTR_ARG_STR);
			return "\"%s\"";
		}
		/* fall through */
	case KTR__TYPES_REFERENCE:
	case KTR__TYPES_RVALUE:
	case KTR__TYPES_MEMBER_POINTER:
		shapes_set(value, KTR__FBT_UNSIGNED, KTR_ARG_PTR);
		return t->size == 8 ? "%p" : NULL;
	default:
		return NULL;
	}
}

/* ---- its texts ---- */

/* A name of the source, in which a format and a list of names find nothing of their own. */
char *ktr__fbt_shape_name(const char *name, unsigned number)
{
	char text[KTR__FBT_NAME + 1];
	size_t n = 0;

	for (; name[n] && n < KTR__FBT_NAME; n++)
		text[n] = (char)(isalnum((unsigned char)name[n]) ? name[n] : '_');
	text[n] = '\0';
	if (!n)
		snprintf(text, sizeof(text), "arg%u", number);
	return strdup(text);
}

char *ktr__fbt_shape_type(const struct ktr__types *types, uint32_t type, uint32_t language)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		return NULL;
	ktr__type_declare(to, types, type, "", (enum ktr__types_language)language);
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	if (n > SHAPES_TYPE_MAX)
		text[SHAPES_TYPE_MAX] = '\0';
	for (char *at = text; *at; at++)
		if (iscntrl((unsigned char)*at))
			*at = '?';
	return text;
}

void ktr__fbt_shape_free(struct ktr__fbt_value *value)
{
	free((void *)(uintptr_t)value->names);
	free((void *)(uintptr_t)value->load);
}

static bool shapes_same_names(const struct ktr__fbt_names *one, const struct ktr__fbt_names *two)
{
	bool same = !one == !two && (!one || one->n == two->n);

	for (uint32_t i = 0; same && one && i < one->n; i++)
		same = one->row[i].value == two->row[i].value && strcmp(one->row[i].name, two->row[i].name) == 0;
	return same;
}

static bool shapes_same_load(const struct ktr__fbt_load *one, const struct ktr__fbt_load *two)
{
	bool same = !one == !two;

	if (!same || !one)
		return same;
	same = one->n == two->n && one->n_bytes == two->n_bytes && one->shift == two->shift &&
	       one->n_bits == two->n_bits && one->is_signed == two->is_signed;
	for (unsigned i = 0; same && i < one->n; i++)
		same = one->offset[i] == two->offset[i];
	return same;
}

bool ktr__fbt_shape_same(const struct ktr__fbt_value *one, const struct ktr__fbt_value *two)
{
	return one->at == two->at && one->vector == two->vector && one->n_bytes == two->n_bytes &&
	       one->shape == two->shape && one->type == two->type && one->n_text == two->n_text &&
	       one->is_whole == two->is_whole && shapes_same_names(one->names, two->names) &&
	       shapes_same_load(one->load, two->load);
}

/*
 * clang leaves out arguments of static functions, those behind moving up, without a word in the name. Where one may
 * be left out, of the others those count of which is said where they are.
 */
bool ktr__fbt_shape_passed(const struct ktr__types *types, const struct ktr__types_function *function, uint32_t i)
{
	const struct ktr__types_member *arg = &types->member[function->first];
	bool changed = false;

	if (!(function->flags & KTR__TYPES_LOCAL))
		return true;
	for (uint32_t k = 0; k < function->n_args; k++)
		changed |= arg[k].value == KTR__TYPES_AT_NOWHERE;
	return !changed || (arg[i].value != KTR__TYPES_AT_NOWHERE && arg[i].value != KTR__TYPES_AT_UNSAID);
}

/* f.isra.0 */
bool ktr__fbt_shape_returns(const struct ktr__types *types, const struct ktr__types_function *function)
{
	return !(function->flags & KTR__TYPES_CLONE) || !strstr(ktr__types_text(types, function->symbol), ".isra");
}
