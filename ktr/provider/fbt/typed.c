/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache's file of an object is read once for all functions that are asked for together. It may be anybody's
 * file: loading has checked its numbers, and what is taken out of it here is bounded, copied, and of its texts only
 * what can stand in a format.
 */
#include "ktr/provider/fbt/typed.h"

#include "ktr/provider/fbt/args.h"
#include "ktr/provider/fbt/paths.h"
#include "ktr/provider/fbt/shapes.h"

#include "ktr/provider/types/places.h"
#include "ktr/provider/types/types_file.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPED_ARGS_MAX 256  /* a function with more is left as it is */

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

/* ---- the plan ---- */

/* Of the function's entry, and of its return: the format, the names, and the format where a member is unread. */
enum { TYPED_ENTRY, TYPED_RETURN, TYPED_ENDS };
enum { TYPED_FORMAT, TYPED_NAMES, TYPED_UNREAD, TYPED_TEXTS };

struct typed_plan {
	struct ktr__fbt_typed *typed;
	const struct ktr__types *types;
	const struct ktr__types_function *function;
	const struct ktr__fbt_wish *wish;
	struct ktr__fbt_path member[2 * KTR__FBT_VALUES];
	unsigned n_members, n_of[TYPED_ENDS]; /* members */
	FILE *to[TYPED_ENDS][TYPED_TEXTS];
	const char *between[TYPED_ENDS];
	bool failed; /* no memory */
};

/* One that nobody has seen. */
static void typed_free(struct ktr__fbt_typed *typed)
{
	for (unsigned i = 0; i < KTR__FBT_VALUES; i++) {
		free(typed->name[i]);
		free(typed->type[i]);
		ktr__fbt_shape_free(&typed->value[i]);
		ktr__fbt_shape_free(&typed->result[i]);
	}
	free(typed->unread);
	free(typed->result_type);
	free(typed->names);
	free(typed->result_names);
	free(typed->format);
	free(typed->result_format);
	free(typed->unread_format);
	free(typed->unread_result_format);
	free(typed);
}

/* conversion NULL: it is not recorded. The value's memory is taken. */
static void typed_put(struct typed_plan *plan, int end, const char *name, const char *conversion,
		      const struct ktr__fbt_value *value)
{
	struct ktr__fbt_typed *typed = plan->typed;
	bool is_number = conversion && ktr__fbt_is_number(value);

	fprintf(plan->to[end][TYPED_FORMAT], "%s%s:%s", plan->between[end], name, conversion ? conversion : "{...}");
	fprintf(plan->to[end][TYPED_UNREAD], "%s%s:%s", plan->between[end], name,
		is_number ? "%s" : conversion ? conversion : "{...}");
	plan->between[end] = ", ";
	if (!conversion)
		return;
	fprintf(plan->to[end][TYPED_NAMES], ",%s", name);
	if (end == TYPED_ENTRY)
		typed->value[typed->n++] = *value;
	else
		typed->result[typed->n_results++] = *value;
	if (is_number && !typed->unread && !(typed->unread = calloc(1, sizeof(*typed->unread))))
		plan->failed = true;
}

/* ---- members ---- */

static void typed_member(void *context, struct ktr__fbt_path *path)
{
	struct typed_plan *plan = context;
	int end = path->arg < 0 ? TYPED_RETURN : TYPED_ENTRY;

	if (plan->n_of[end] == KTR__FBT_VALUES) {
		ktr__fbt_shape_free(&path->value);
		return;
	}
	plan->n_of[end]++;
	plan->member[plan->n_members++] = *path;
}

static void typed_find_members(struct typed_plan *plan)
{
	for (unsigned i = 0; i < plan->wish->n; i++) {
		unsigned n = plan->n_members;

		ktr__fbt_paths(plan->types, plan->function, plan->wish->member[i], typed_member, plan);
		/* The path's own text is gone; it is what was asked for. */
		for (; n < plan->n_members; n++)
			plan->member[n].text = plan->wish->member[i];
	}
}

/* Of an argument, by its number; -1: of the result. */
static void typed_members(struct typed_plan *plan, int arg)
{
	for (unsigned i = 0; i < plan->n_members; i++) {
		const struct ktr__fbt_path *path = &plan->member[i];

		if (path->arg == arg)
			typed_put(plan, arg < 0 ? TYPED_RETURN : TYPED_ENTRY, path->text, path->conversion,
				  &path->value);
	}
}

/* ---- arguments and result ---- */

static void typed_arg(struct typed_plan *plan, uint32_t number, const struct ktr__types_place *place)
{
	struct ktr__fbt_typed *typed = plan->typed;
	const struct ktr__types_member *m = &plan->types->member[plan->function->first + number];
	struct ktr__fbt_value value = { .at = 0 };
	char *name = ktr__fbt_shape_name(ktr__types_text(plan->types, m->name), number + 1);
	const char *conversion = NULL;
	unsigned n = typed->n;

	if (!name) {
		plan->failed = true;
		return;
	}
	if (ktr__fbt_shape_passed(plan->types, plan->function, number) &&
	    ktr__fbt_shape_place(place, false, &value))
		conversion = ktr__fbt_shape(plan->types, m->type, &value);
	/* Without a prototype, who calls passes a double. */
	if (plan->function->flags & KTR__TYPES_UNPROTOTYPED && value.shape == KTR__FBT_FLOAT)
		value.n_bytes = 8;
	typed_put(plan, TYPED_ENTRY, name, conversion, &value);
	if (!conversion) {
		free(name);
		return;
	}
	typed->name[n] = name;
	typed->type[n] = ktr__fbt_shape_type(plan->types, m->type, plan->function->language);
	plan->failed |= !typed->type[n];
}

static void typed_result(struct typed_plan *plan, const struct ktr__types_place *place)
{
	struct ktr__fbt_value value = { .at = 0 };
	const char *conversion = NULL;

	if (plan->wish->args && plan->n_of[TYPED_RETURN] < KTR__FBT_VALUES &&
	    ktr__fbt_shape_returns(plan->types, plan->function) && ktr__fbt_shape_place(place, true, &value))
		conversion = ktr__fbt_shape(plan->types, plan->function->result, &value);
	if (conversion) {
		typed_put(plan, TYPED_RETURN, "result", conversion, &value);
		plan->typed->result_type = ktr__fbt_shape_type(plan->types, plan->function->result,
							       plan->function->language);
		plan->failed |= !plan->typed->result_type;
	}
	typed_members(plan, -1);
}

/* Members have their room first; each stands behind the argument whose it is. */
static void typed_values(struct typed_plan *plan)
{
	struct ktr__types_place result, place[TYPED_ARGS_MAX];
	unsigned n_rest = KTR__FBT_VALUES - plan->n_of[TYPED_ENTRY];
	bool is_told = !plan->wish->args;

	ktr__places(plan->types, plan->function, &result, place);
	for (uint32_t i = 0; i < plan->function->n_args && !plan->failed; i++) {
		unsigned n = plan->typed->n;

		if (!is_told && !n_rest) {
			fprintf(plan->to[TYPED_ENTRY][TYPED_FORMAT], "%s...", plan->between[TYPED_ENTRY]);
			fprintf(plan->to[TYPED_ENTRY][TYPED_UNREAD], "%s...", plan->between[TYPED_ENTRY]);
			plan->between[TYPED_ENTRY] = ", ";
			is_told = true;
		}
		if (!is_told)
			typed_arg(plan, i, &place[i]);
		n_rest -= plan->typed->n - n;
		typed_members(plan, (int)i);
	}
	typed_result(plan, &result);
}

/* All streams are closed whatever happens: then their texts are whole. */
static void typed_texts(struct typed_plan *plan)
{
	struct ktr__fbt_typed *typed = plan->typed;
	char **const text[TYPED_ENDS][TYPED_TEXTS] = {
		{ &typed->format, &typed->names, &typed->unread_format },
		{ &typed->result_format, &typed->result_names, &typed->unread_result_format },
	};
	size_t n;

	for (int end = 0; end < TYPED_ENDS; end++) {
		plan->between[end] = "";
		for (int i = 0; i < TYPED_TEXTS; i++) {
			plan->to[end][i] = open_memstream(text[end][i], &n);
			plan->failed |= !plan->to[end][i];
		}
	}
	if (!plan->failed)
		typed_values(plan);
	for (int end = 0; end < TYPED_ENDS; end++)
		for (int i = 0; i < TYPED_TEXTS; i++)
			if (plan->to[end][i] && fclose(plan->to[end][i]))
				plan->failed = true;
}

static struct ktr__fbt_typed *typed_new(const struct ktr__types *types, const struct ktr__types_function *function,
					const struct ktr__fbt_wish *wish)
{
	struct ktr__fbt_typed *typed = aligned_alloc(_Alignof(struct ktr__fbt_typed), sizeof(*typed));
	struct typed_plan plan = { .typed = typed, .types = types, .function = function, .wish = wish };

	if (!typed)
		return NULL;
	memset(typed, 0, sizeof(*typed));
	typed->self.probe[KTR__FBT_ENTRY] = typed->self.probe[KTR__FBT_RETURN] = typed->entry = &ktr__fbt_none;
	typed->self.typed = typed;
	typed_find_members(&plan);
	typed_texts(&plan);
	if (plan.failed) {
		typed_free(typed);
		return NULL;
	}
	return typed;
}

static bool typed_same(const struct ktr__fbt_typed *one, const struct ktr__fbt_typed *two)
{
	bool same = one->n == two->n && one->n_results == two->n_results && strcmp(one->names, two->names) == 0 &&
		    strcmp(one->format, two->format) == 0 && strcmp(one->result_names, two->result_names) == 0 &&
		    strcmp(one->result_format, two->result_format) == 0;

	for (unsigned i = 0; same && i < one->n; i++)
		same = ktr__fbt_shape_same(&one->value[i], &two->value[i]);
	for (unsigned i = 0; same && i < one->n_results; i++)
		same = ktr__fbt_shape_same(&one->result[i], &two->result[i]);
	return same;
}

/* ---- of a function ---- */

const struct ktr__types_function *ktr__fbt_typed_function(struct ktr__fbt_types *types,
							  const struct ktr__fbt_object *object, uint32_t number)
{
	const struct ktr__types *image = typed_load(types, object);
	uint64_t address = ktr__fbt_object_address(object, number);
	const struct ktr__types_function *f = image ? ktr__types_at(image, address) : NULL;

	if (!f || f->address != address || f->flags & KTR__TYPES_UNTYPED || f->n_args > TYPED_ARGS_MAX)
		return NULL;
	return f;
}

int ktr__fbt_typed_make(struct ktr__fbt_types *types, const struct ktr__fbt_object *object, uint32_t number,
			const struct ktr__fbt_wish *wish, struct ktr__fbt_typed **out)
{
	const struct ktr__types_function *f = ktr__fbt_typed_function(types, object, number);
	struct ktr__fbt_function *function = ktr__fbt_function(number);
	struct ktr__fbt_typed *typed;

	*out = NULL;
	if (!f)
		return -ENOENT;
	typed = typed_new(types->image, f, wish);
	if (!typed)
		return -ENOMEM;
	for (*out = function->details->typed; *out && !typed_same(*out, typed);)
		*out = (*out)->older;
	if (*out) {
		typed_free(typed);
		return 0;
	}
	typed->function = function;
	typed->older = function->details->typed;
	function->details->typed = *out = typed;
	return 0;
}
