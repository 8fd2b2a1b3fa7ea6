/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache's file of an object is read once for all functions that are asked for together. It may be anybody's
 * file: loading has checked its numbers, and what is taken out of it here is bounded, copied, and of its texts only
 * what can stand in a format.
 */
#include "ktr/provider/fbt/typed.h"

#include "ktr/provider/types/places.h"
#include "ktr/provider/types/type_text.h"
#include "ktr/provider/types/types_file.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPED_ARGS_MAX 256  /* a function with more is left as it is */
#define TYPED_ENUM_MAX 4096 /* names; of an enum with more the number is recorded */
#define TYPED_NAME_MAX 40   /* [bytes] */
#define TYPED_TYPE_MAX 80   /* [bytes] */

/* ---- the image of an object ---- */

struct typed_id {
	uintptr_t base;
	uint8_t *id;
	uint16_t n;
};

static uint16_t typed_note(const uint8_t *at, size_t n_bytes, uint8_t id[KTR__TYPES_ID_MAX])
{
	while (n_bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
		size_t n_name = ((size_t)note->n_namesz + 3) & ~(size_t)3;
		size_t n_desc = ((size_t)note->n_descsz + 3) & ~(size_t)3;

		if (n_name > n_bytes - sizeof(*note) || n_desc > n_bytes - sizeof(*note) - n_name)
			return 0;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0 &&
		    note->n_descsz && note->n_descsz <= KTR__TYPES_ID_MAX) {
			memcpy(id, at + sizeof(*note) + n_name, note->n_descsz);
			return (uint16_t)note->n_descsz;
		}
		at += sizeof(*note) + n_name + n_desc;
		n_bytes -= sizeof(*note) + n_name + n_desc;
	}
	return 0;
}

static int typed_notes(struct dl_phdr_info *info, size_t size, void *context)
{
	struct typed_id *found = context;

	(void)size;
	if (info->dlpi_addr != found->base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !found->n; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE)
			found->n = typed_note((const uint8_t *)(info->dlpi_addr + part->p_vaddr), part->p_memsz,
					      found->id);
	}
	return 1;
}

/* How many bytes; 0: it has none. */
static uint16_t typed_build_id(uintptr_t base, uint8_t id[KTR__TYPES_ID_MAX])
{
	struct typed_id found = { base, id, 0 };

	dl_iterate_phdr(typed_notes, &found);
	return found.n;
}

static const struct ktr__types *typed_load(struct ktr__fbt_types *types, const struct ktr__fbt_object *object)
{
	const struct ktr__fbt_module *module = __atomic_load_n(&object->module, __ATOMIC_ACQUIRE);
	uint8_t id[KTR__TYPES_ID_MAX];
	uint16_t n;

	if (!module || types->module == module)
		return module ? types->image : NULL;
	ktr__fbt_types_free(types);
	types->module = module;
	n = typed_build_id(object->base, id);
	if (n)
		types->image = ktr__types_file_read(id, n);
	return types->image;
}

void ktr__fbt_types_free(struct ktr__fbt_types *types)
{
	ktr__types_free(types->image);
	*types = (struct ktr__fbt_types){ NULL, NULL };
}

/* ---- where a value is ---- */

/* [words] of what the trampoline has pushed, by DWARF's numbers: rax rdx rcx rbx rsi rdi rbp rsp r8 r9. */
static const int8_t typed_word[] = { -2, -6, -5, 0, -7, -8, 0, 0, -4, -3 };

#define TYPED_VECTORS -15 /* [words] xmm0 to xmm2, below the words */
#define TYPED_RETURNED -7 /* [words] xmm0 when it has returned; there rax is the first word below, then rdx */

static bool typed_place(const struct ktr__types_place *place, bool is_result, struct ktr__fbt_value *value)
{
	unsigned reg = place->reg[0];

	if (place->kind == KTR__PLACE_MEMORY && place->offset % 8 == 0 && place->offset < 4096 && !is_result) {
		value->at = (int32_t)(place->offset / 8);
		return true;
	}
	if (place->kind != KTR__PLACE_REGISTER || place->n != 1)
		return false;
	if (is_result) {
		value->at = reg == KTR__PLACE_XMM0 ? TYPED_RETURNED : reg == 0 ? -1 : -2;
		return reg <= 1 || reg == KTR__PLACE_XMM0;
	}
	if (reg < sizeof(typed_word)) {
		value->at = typed_word[reg];
		return value->at != 0;
	}
	if (reg < KTR__PLACE_XMM0 || reg > KTR__PLACE_XMM0 + 7)
		return false;
	reg -= KTR__PLACE_XMM0;
	value->at = TYPED_VECTORS + 2 * (int32_t)(reg < 3 ? reg : 0);
	value->vector = (uint8_t)(reg < 3 ? 0 : reg);
	return true;
}

/* ---- what it is ---- */

static int typed_by_value(const void *a, const void *b)
{
	const struct ktr__fbt_name *one = a, *two = b;

	return (one->value > two->value) - (one->value < two->value);
}

static uint64_t typed_low(uint64_t value, unsigned n_bytes)
{
	return n_bytes < 8 ? value & ((1ull << 8 * n_bytes) - 1) : value;
}

/* Texts behind the rows, in one piece. NULL: there are too many, or there is no memory. */
static const struct ktr__fbt_names *typed_names(const struct ktr__types *types, const struct ktr__types_type *t)
{
	const struct ktr__types_member *member = &types->member[t->first];
	size_t n_bytes = sizeof(struct ktr__fbt_names) + t->n_members * sizeof(struct ktr__fbt_name);
	size_t n_text = 0;
	struct ktr__fbt_names *names;
	char *text;

	if (!t->n_members || t->n_members > TYPED_ENUM_MAX)
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

		names->row[i] = (struct ktr__fbt_name){ typed_low(member[i].value, (unsigned)t->size), text };
		memcpy(text, ktr__types_text(types, member[i].name), n);
		text[n] = '\0';
		text += n + 1;
	}
	qsort(names->row, names->n, sizeof(names->row[0]), typed_by_value);
	return names;
}

static bool typed_is_text(const struct ktr__types *types, const struct ktr__types_type *pointer)
{
	const struct ktr__types_type *t = ktr__types_bare(types, pointer->target);

	return t->kind == KTR__TYPES_BASE && t->encoding == KTR__TYPES_CHAR && t->size == 1 &&
	       strcmp(ktr__types_text(types, t->name), "char") == 0;
}

static uint8_t typed_integer(unsigned n_bytes, bool is_signed)
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

static void typed_shape(struct ktr__fbt_value *value, enum ktr__fbt_shape shape, uint8_t type)
{
	value->shape = (uint8_t)shape;
	value->type = type;
}

/* How it is printed; NULL: it is none that can be recorded. */
static const char *typed_base(const struct ktr__types *types, const struct ktr__types_type *t,
			      struct ktr__fbt_value *value)
{
	bool is_signed = t->encoding == KTR__TYPES_SIGNED || t->encoding == KTR__TYPES_CHAR;

	switch (t->encoding) {
	case KTR__TYPES_FLOAT:
		typed_shape(value, KTR__FBT_FLOAT, KTR_ARG_F64);
		return t->size == 4 ? "%.7g" : t->size == 8 ? "%.15g" : NULL;
	case KTR__TYPES_SIGNED:
	case KTR__TYPES_UNSIGNED:
	case KTR__TYPES_CHAR:
	case KTR__TYPES_UCHAR:
	case KTR__TYPES_BOOL:
		typed_shape(value, is_signed ? KTR__FBT_SIGNED : KTR__FBT_UNSIGNED,
			    typed_integer((unsigned)t->size, is_signed));
		if (t->encoding == KTR__TYPES_CHAR && strcmp(ktr__types_text(types, t->name), "char") == 0)
			return "'%c'";
		return is_signed ? "%jd" : "%ju";
	default:
		return NULL;
	}
}

static const char *typed_what(const struct ktr__types *types, uint32_t type, struct ktr__fbt_value *value)
{
	const struct ktr__types_type *t = ktr__types_bare(types, type);
	bool is_signed = t->encoding == KTR__TYPES_SIGNED || t->encoding == KTR__TYPES_CHAR;

	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return NULL;
	value->n_bytes = (uint8_t)t->size;
	switch (t->kind) {
	case KTR__TYPES_BASE:
		return typed_base(types, t, value);
	case KTR__TYPES_ENUM:
		value->names = typed_names(types, t);
		typed_shape(value, value->names ? KTR__FBT_ENUM : is_signed ? KTR__FBT_SIGNED : KTR__FBT_UNSIGNED,
			    value->names ? (uint8_t)KTR_ARG_STR : typed_integer(value->n_bytes, is_signed));
		return value->names ? "%s" : is_signed ? "%jd" : "%ju";
	case KTR__TYPES_POINTER:
		if (typed_is_text(types, t)) {
			typed_shape(value, KTR__FBT_STRING, KTR_ARG_STR);
			return "\"%s\"";
		}
		/* fall through */
	case KTR__TYPES_REFERENCE:
	case KTR__TYPES_RVALUE:
	case KTR__TYPES_MEMBER_POINTER:
		typed_shape(value, KTR__FBT_UNSIGNED, KTR_ARG_PTR);
		return t->size == 8 ? "%p" : NULL;
	default:
		return NULL;
	}
}

/* ---- its texts ---- */

/* A name of the source, in which a format and a list of names find nothing of their own. */
static char *typed_name(const char *name, unsigned number)
{
	char text[TYPED_NAME_MAX + 1];
	size_t n = 0;

	for (; name[n] && n < TYPED_NAME_MAX; n++)
		text[n] = (char)(isalnum((unsigned char)name[n]) ? name[n] : '_');
	text[n] = '\0';
	if (!n)
		snprintf(text, sizeof(text), "arg%u", number);
	return strdup(text);
}

static char *typed_type(const struct ktr__types *types, uint32_t type, uint32_t language)
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
	if (n > TYPED_TYPE_MAX)
		text[TYPED_TYPE_MAX] = '\0';
	for (char *at = text; *at; at++)
		if (iscntrl((unsigned char)*at))
			*at = '?';
	return text;
}

/* ---- the plan ---- */

struct typed_plan {
	struct ktr__fbt_typed *typed;
	const struct ktr__types *types;
	const struct ktr__types_function *function;
	FILE *format, *names;
	bool failed; /* no memory */
};

static void typed_free_value(struct ktr__fbt_value *value)
{
	free((void *)(uintptr_t)value->names);
}

/* One that nobody has seen. */
static void typed_free(struct ktr__fbt_typed *typed)
{
	for (unsigned i = 0; i < KTR__FBT_VALUES; i++) {
		free(typed->name[i]);
		free(typed->type[i]);
		typed_free_value(&typed->value[i]);
	}
	typed_free_value(&typed->result);
	free(typed->result_type);
	free(typed->result_format);
	free(typed->names);
	free(typed->format);
	free(typed);
}

/*
 * clang leaves out arguments of static functions, those behind moving up, without a word in the name. Where one may
 * be left out, of the others those count of which is said where they are.
 */
static bool typed_passed(const struct typed_plan *plan, const struct ktr__types_member *m)
{
	const struct ktr__types_member *arg = &plan->types->member[plan->function->first];
	bool changed = false;

	if (!(plan->function->flags & KTR__TYPES_LOCAL))
		return true;
	for (uint32_t i = 0; i < plan->function->n_args; i++)
		changed |= arg[i].value == KTR__TYPES_AT_NOWHERE;
	return !changed || (m->value != KTR__TYPES_AT_NOWHERE && m->value != KTR__TYPES_AT_UNSAID);
}

static void typed_arg(struct typed_plan *plan, uint32_t number, const struct ktr__types_place *place,
		      const char *between)
{
	struct ktr__fbt_typed *typed = plan->typed;
	const struct ktr__types_member *m = &plan->types->member[plan->function->first + number];
	struct ktr__fbt_value value = { .at = 0 };
	char *name = typed_name(ktr__types_text(plan->types, m->name), number + 1);
	const char *conversion = NULL;

	if (typed_passed(plan, m) && typed_place(place, false, &value))
		conversion = typed_what(plan->types, m->type, &value);
	if (!name) {
		plan->failed = true;
		return;
	}
	/* Without a prototype, who calls passes a double. */
	if (plan->function->flags & KTR__TYPES_UNPROTOTYPED && value.shape == KTR__FBT_FLOAT)
		value.n_bytes = 8;
	fprintf(plan->format, "%s%s:%s", between, name, conversion ? conversion : "{...}");
	if (!conversion) {
		free(name);
		return;
	}
	fprintf(plan->names, ",%s", name);
	typed->name[typed->n] = name;
	typed->type[typed->n] = typed_type(plan->types, m->type, plan->function->language);
	typed->value[typed->n] = value;
	plan->failed |= !typed->type[typed->n];
	typed->n++;
}

/* gcc may have left out a result that nobody uses: f.isra.0. */
static bool typed_returns(const struct typed_plan *plan)
{
	const char *symbol = ktr__types_text(plan->types, plan->function->symbol);

	return !(plan->function->flags & KTR__TYPES_CLONE) || !strstr(symbol, ".isra");
}

static void typed_result(struct typed_plan *plan, const struct ktr__types_place *place)
{
	struct ktr__fbt_typed *typed = plan->typed;
	const char *conversion = NULL;

	if (typed_returns(plan) && typed_place(place, true, &typed->result))
		conversion = typed_what(plan->types, plan->function->result, &typed->result);
	if (!conversion)
		return;
	typed->has_result = 1;
	typed->result_format = strdup(conversion);
	typed->result_type = typed_type(plan->types, plan->function->result, plan->function->language);
	plan->failed |= !typed->result_format || !typed->result_type;
}

static void typed_values(struct typed_plan *plan)
{
	struct ktr__types_place result, place[TYPED_ARGS_MAX];
	const char *between = "";

	ktr__places(plan->types, plan->function, &result, place);
	for (uint32_t i = 0; i < plan->function->n_args && !plan->failed; i++) {
		if (plan->typed->n == KTR__FBT_VALUES) {
			fputs(", ...", plan->format);
			break;
		}
		typed_arg(plan, i, &place[i], between);
		between = ", ";
	}
	typed_result(plan, &result);
}

/* Both streams are closed whatever happens: then their texts are whole. */
static void typed_texts(struct typed_plan *plan)
{
	size_t n;

	plan->format = open_memstream(&plan->typed->format, &n);
	plan->names = open_memstream(&plan->typed->names, &n);
	plan->failed = !plan->format || !plan->names;
	if (!plan->failed)
		typed_values(plan);
	if (plan->format && fclose(plan->format))
		plan->failed = true;
	if (plan->names && fclose(plan->names))
		plan->failed = true;
}

static struct ktr__fbt_typed *typed_new(const struct ktr__types *types, const struct ktr__types_function *function)
{
	struct ktr__fbt_typed *typed = aligned_alloc(_Alignof(struct ktr__fbt_typed), sizeof(*typed));
	struct typed_plan plan = { .typed = typed, .types = types, .function = function };

	if (!typed)
		return NULL;
	memset(typed, 0, sizeof(*typed));
	typed->self.probe[KTR__FBT_ENTRY] = typed->self.probe[KTR__FBT_RETURN] = typed->entry = &ktr__fbt_none;
	typed->self.typed = typed;
	typed_texts(&plan);
	if (plan.failed) {
		typed_free(typed);
		return NULL;
	}
	return typed;
}

static bool typed_same_value(const struct ktr__fbt_value *one, const struct ktr__fbt_value *two)
{
	bool same = one->at == two->at && one->vector == two->vector && one->n_bytes == two->n_bytes &&
		    one->shape == two->shape && one->type == two->type && !one->names == !two->names &&
		    (!one->names || one->names->n == two->names->n);

	for (uint32_t i = 0; same && one->names && i < one->names->n; i++)
		same = one->names->row[i].value == two->names->row[i].value &&
		       strcmp(one->names->row[i].name, two->names->row[i].name) == 0;
	return same;
}

static bool typed_same(const struct ktr__fbt_typed *one, const struct ktr__fbt_typed *two)
{
	bool same = one->n == two->n && one->has_result == two->has_result && strcmp(one->names, two->names) == 0 &&
		    strcmp(one->format, two->format) == 0;

	for (unsigned i = 0; same && i < one->n; i++)
		same = typed_same_value(&one->value[i], &two->value[i]);
	return same && (!one->has_result || (typed_same_value(&one->result, &two->result) &&
					     strcmp(one->result_format, two->result_format) == 0));
}

/* Who is in an old one finds it as it was. */
int ktr__fbt_typed_make(struct ktr__fbt_types *types, const struct ktr__fbt_object *object, uint32_t number)
{
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	const struct ktr__types *image = typed_load(types, object);
	uint64_t address = ktr__fbt_object_address(object, number);
	const struct ktr__types_function *f = image ? ktr__types_at(image, address) : NULL;
	struct ktr__fbt_typed *old = function->typed, *typed;

	if (!f || f->address != address || (f->flags & KTR__TYPES_UNTYPED) || f->n_args > TYPED_ARGS_MAX) {
		__atomic_store_n(&function->typed, NULL, __ATOMIC_RELEASE);
		return -ENOENT;
	}
	typed = typed_new(image, f);
	if (!typed)
		return -ENOMEM;
	if (old && typed_same(old, typed)) {
		typed_free(typed);
		return 0;
	}
	typed->function = function;
	__atomic_store_n(&function->typed, typed, __ATOMIC_RELEASE);
	return 0;
}
