/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and structs as JSON. */
#include "tools/types/types_json.h"

#include "analyze/symbols/demangle.h"
#include "ktr/provider/types/places.h"
#include "ktr/provider/types/type_text.h"
#include "conf/kit/utf8.h"
#include "tools/types/types_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *types_json_text(const char *text)
{
	size_t n = strlen(text);
	char *clean = malloc(3 * n + 1);
	json_t *string;

	if (!clean)
		return NULL;
	n = ktr__utf8_repair(clean, text, n);
	string = json_stringn(clean, n);
	free(clean);
	return string;
}

static void types_json_set_text(json_t *to, const char *name, const char *text)
{
	json_object_set_new(to, name, types_json_text(text));
}

static void types_json_set_number(json_t *to, const char *name, uint64_t number)
{
	json_object_set_new(to, name, json_integer((json_int_t)number));
}

/* What somebody prints into a stream. */
static void types_json_set_printed(json_t *to, const char *name, FILE *from, char **text)
{
	if (fclose(from) == 0)
		types_json_set_text(to, name, *text);
	free(*text);
}

static void types_json_set_type(json_t *to, const struct ktr__types *types, uint32_t type, uint32_t language)
{
	uint32_t inner = types_text_struct_of(types, type);
	int is_typedef;
	char *text = NULL;
	size_t n;
	FILE *memory = open_memstream(&text, &n);

	if (memory) {
		ktr__type_declare(memory, types, type, "", language);
		types_json_set_printed(to, "type", memory, &text);
	}
	memory = open_memstream(&text, &n);
	if (memory) {
		ktr__type_resolved(memory, types, type, language);
		types_json_set_printed(to, "resolved", memory, &text);
	}
	types_json_set_number(to, "size", types->type[type].size);
	types_json_set_text(to, "encoding", ktr__type_encoding(types, type));
	if (inner)
		types_json_set_text(to, "struct", types_text_name(types, &types->type[inner], &is_typedef));
}

static void types_json_set_place(json_t *to, const struct ktr__types_place *place)
{
	char text[KTR__PLACE_TEXT];
	json_t *registers = json_array();

	types_json_set_text(to, "class", ktr__place_class(place, text));
	for (unsigned i = 0; place->kind != KTR__PLACE_X87 && i < place->n; i++)
		json_array_append_new(registers, json_string(ktr__place_register(place->reg[i])));
	json_object_set_new(to, "registers", registers);
	if (place->kind == KTR__PLACE_MEMORY || (place->kind == KTR__PLACE_INDIRECT && !place->n))
		types_json_set_number(to, "stack_offset", place->offset);
}

/* Names and values of an enum, so that who records needs nothing else. */
static void types_json_set_values(json_t *to, const struct ktr__types *types, uint32_t type)
{
	const struct ktr__types_type *t = ktr__types_bare(types, type);
	json_t *values;

	if (t->kind != KTR__TYPES_ENUM)
		return;
	values = json_object();
	for (uint32_t i = 0; i < t->n_members; i++) {
		const struct ktr__types_member *m = &types->member[t->first + i];

		json_object_set_new(values, ktr__types_text(types, m->name), json_integer((json_int_t)m->value));
	}
	json_object_set_new(to, "values", values);
}

json_t *types_json_head(const struct ktr__types *types, const char *program)
{
	json_t *head = json_object();
	char id[2 * KTR__TYPES_ID_MAX + 1] = "";

	for (unsigned i = 0; i < types->head->n_id; i++)
		snprintf(id + 2 * (size_t)i, 3, "%02x", types->head->id[i]);
	types_json_set_text(head, "schema", "ktr-types-1");
	types_json_set_text(head, "program", program);
	types_json_set_text(head, "build_id", id);
	json_object_set_new(head, "dwarf", json_boolean(types->head->flags & KTR__TYPES_HAS_DWARF));
	json_object_set_new(head, "partial", json_boolean(types->head->flags & KTR__TYPES_PARTIAL));
	return head;
}

static void types_json_set_args(json_t *to, const struct ktr__types *types, const struct ktr__types_function *f)
{
	struct ktr__types_place result, *place = calloc(f->n_args + 1, sizeof(*place));
	json_t *args = json_array(), *one;

	if (!place) {
		json_decref(args);
		return;
	}
	ktr__places(types, f, &result, place);
	for (uint32_t i = 0; i < f->n_args; i++) {
		const struct ktr__types_member *m = &types->member[f->first + i];

		one = json_object();
		types_json_set_text(one, "name", ktr__types_text(types, m->name));
		types_json_set_type(one, types, m->type, f->language);
		types_json_set_place(one, &place[i]);
		types_json_set_values(one, types, m->type);
		if (m->flags & KTR__TYPES_ARTIFICIAL)
			json_object_set_new(one, "artificial", json_true());
		json_array_append_new(args, one);
	}
	json_object_set_new(to, "args", args);
	one = json_object();
	types_json_set_type(one, types, f->result, f->language);
	types_json_set_place(one, &result);
	types_json_set_values(one, types, f->result);
	json_object_set_new(to, "result", one);
	free(place);
}

json_t *types_json_function(const struct ktr__types *types, const struct ktr__types_function *function)
{
	static const char *const languages[] = { "C", "C++", "Rust", "other" };
	const struct ktr__types_function *f = function;
	char demangled[KTR__DEMANGLE_MAX], *text = NULL;
	json_t *to = json_object();
	size_t n;
	FILE *memory;

	types_json_set_text(to, "name", ktr__types_text(types, f->name));
	types_json_set_text(to, "linkage", ktr__types_text(types, f->linkage ? f->linkage : f->name));
	types_json_set_text(to, "demangled",
			    ktr__demangle(ktr__types_text(types, f->linkage ? f->linkage : f->name),
					  KTR__DEMANGLE_WHOLE, demangled));
	if (f->symbol)
		types_json_set_text(to, "symbol", ktr__types_text(types, f->symbol));
	types_json_set_number(to, "address", f->address);
	types_json_set_number(to, "size", f->size);
	if (f->file) {
		types_json_set_text(to, "file", ktr__types_text(types, f->file));
		types_json_set_number(to, "line", f->line);
	}
	json_object_set_new(to, "alias", json_boolean(f->flags & KTR__TYPES_ALIAS));
	json_object_set_new(to, "typed", json_boolean(!(f->flags & KTR__TYPES_UNTYPED)));
	if (f->flags & KTR__TYPES_UNTYPED)
		return to;
	types_json_set_text(to, "language", languages[f->language < 4 ? f->language : 3]);
	json_object_set_new(to, "local", json_boolean(f->flags & KTR__TYPES_LOCAL));
	json_object_set_new(to, "variadic", json_boolean(f->flags & KTR__TYPES_VARIADIC));
	json_object_set_new(to, "prototyped", json_boolean(!(f->flags & KTR__TYPES_UNPROTOTYPED)));
	memory = open_memstream(&text, &n);
	if (memory) {
		ktr__type_prototype(memory, types, f);
		types_json_set_printed(to, "prototype", memory, &text);
	}
	types_json_set_args(to, types, f);
	return to;
}

json_t *types_json_struct(const struct ktr__types *types, const struct ktr__types_type *type)
{
	static const char *const kinds[] = { "struct", "class", "union", "enum" };
	json_t *to = json_object(), *members = json_array();
	int is_typedef;

	types_json_set_text(to, "name", types_text_name(types, type, &is_typedef));
	types_json_set_text(to, "kind", kinds[type->kind - KTR__TYPES_STRUCT]);
	types_json_set_number(to, "size", type->size);
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct ktr__types_member *m = &types->member[type->first + i];
		json_t *one = json_object();

		types_json_set_text(one, "name", ktr__types_text(types, m->name));
		if (type->kind == KTR__TYPES_ENUM) {
			types_json_set_number(one, "value", m->value);
		} else {
			types_json_set_number(one, "offset", m->value / 8);
			types_json_set_type(one, types, m->type, type->language);
		}
		if (m->bits) {
			types_json_set_number(one, "bit_offset", m->value % 8);
			types_json_set_number(one, "bits", m->bits);
		}
		if (m->flags & KTR__TYPES_INHERITED)
			json_object_set_new(one, "base", json_true());
		json_array_append_new(members, one);
	}
	json_object_set_new(to, "members", members);
	return to;
}
