/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes an image: texts and types that are the same become one. What is the same is found by a hash of 64 bits and
 * then compared; where two that differ share one, the later is stored each time, which costs room only.
 */
#include "analyze/types/types_build.h"

#include "conf/kit/array.h"
#include "conf/kit/hash.h"
#include "writer/format/crc32c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int types_build_fail(struct ktr__types_build *build, int error)
{
	if (!build->error)
		build->error = error;
	return error;
}

static size_t types_build_bytes(const struct ktr__types_build *build)
{
	const struct ktr__types_head *head = &build->head;

	return sizeof(*head) + head->n_functions * sizeof(*build->function) + head->n_types * sizeof(*build->type) +
	       head->n_members * sizeof(*build->member) + head->n_strings;
}

/* Room for one more of so many bytes, in an array that has n. 0 or -errno. */
static int types_build_room(struct ktr__types_build *build, void *array, uint32_t *room, uint32_t last, size_t size,
			    size_t more)
{
	if (build->error)
		return build->error;
	if (types_build_bytes(build) + more > KTR__TYPES_MAX)
		return types_build_fail(build, -EFBIG);
	return ktr__array_grow(array, room, last, size) ? types_build_fail(build, -ENOMEM) : 0;
}

void ktr__types_build_begin(struct ktr__types_build *build)
{
	static const struct ktr__types_type none;

	memset(build, 0, sizeof(*build));
	if (types_build_room(build, &build->strings, &build->string_room, 0, 1, 1) == 0)
		build->strings[build->head.n_strings++] = '\0';
	ktr__types_build_type(build, &none, 0, NULL);
}

void ktr__types_build_free(struct ktr__types_build *build)
{
	free(build->function);
	free(build->type);
	free(build->member);
	free(build->strings);
	ktr__word_map_free(&build->string_map);
	ktr__word_map_free(&build->type_map);
}

uint32_t ktr__types_build_text(struct ktr__types_build *build, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;
	uint32_t *at;

	if (n <= 1)
		return 0;
	if (n > KTR__TYPES_MAX) {
		types_build_fail(build, -EFBIG);
		return 0;
	}
	at = ktr__word_map_at(&build->string_map, ktr__hash_bytes(0, text, n));
	if (!at) {
		types_build_fail(build, -ENOMEM);
		return 0;
	}
	if (*at && strcmp(build->strings + *at, text) == 0)
		return *at;
	if (types_build_room(build, &build->strings, &build->string_room, build->head.n_strings + (uint32_t)n, 1,
			     n))
		return 0;
	memcpy(build->strings + build->head.n_strings, text, n);
	*at = build->head.n_strings;
	build->head.n_strings += (uint32_t)n;
	return *at;
}

uint32_t ktr__types_build_type(struct ktr__types_build *build, const struct ktr__types_type *type, uint64_t key,
			       int *is_new)
{
	uint32_t *at;

	if (!is_new)
		key = ktr__hash_bytes(1, (const char *)type, sizeof(*type));
	else
		*is_new = 0;
	at = ktr__word_map_at(&build->type_map, key);
	if (!at) {
		types_build_fail(build, -ENOMEM);
		return 0;
	}
	/* The number that the table has is one more, since 0 is void's. */
	if (*at && (is_new ? build->type[*at - 1].name == type->name && build->type[*at - 1].kind == type->kind
			   : memcmp(&build->type[*at - 1], type, sizeof(*type)) == 0))
		return *at - 1;
	if (types_build_room(build, &build->type, &build->type_room, build->head.n_types, sizeof(*type),
			     sizeof(*type)))
		return 0;
	build->type[build->head.n_types] = *type;
	*at = ++build->head.n_types;
	if (is_new)
		*is_new = 1;
	return *at - 1;
}

void ktr__types_build_member(struct ktr__types_build *build, const struct ktr__types_member *member)
{
	if (types_build_room(build, &build->member, &build->member_room, build->head.n_members, sizeof(*member),
			     sizeof(*member)) == 0)
		build->member[build->head.n_members++] = *member;
}

void ktr__types_build_function(struct ktr__types_build *build, const struct ktr__types_function *function)
{
	if (types_build_room(build, &build->function, &build->function_room, build->head.n_functions,
			     sizeof(*function), sizeof(*function)) == 0)
		build->function[build->head.n_functions++] = *function;
}

/* ---- the end ---- */

static int types_build_order(const void *a, const void *b)
{
	const struct ktr__types_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if ((x->flags & KTR__TYPES_ALIAS) != (y->flags & KTR__TYPES_ALIAS))
		return x->flags & KTR__TYPES_ALIAS ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Structs that are only declared find the one of their name whose members are known. */
static void types_build_declared(struct ktr__types_build *build)
{
	struct ktr__word_map known = { 0 };

	for (uint32_t i = 1; i < build->head.n_types; i++) {
		const struct ktr__types_type *type = &build->type[i];
		int whole = type->kind >= KTR__TYPES_STRUCT && !(type->flags & KTR__TYPES_DECLARED) && type->name;
		uint32_t *at = whole ? ktr__word_map_at(&known, type->name) : NULL;

		if (whole && !at)
			types_build_fail(build, -ENOMEM);
		else if (whole && !*at)
			*at = i;
	}
	for (uint32_t i = 1; i < build->head.n_types; i++) {
		struct ktr__types_type *type = &build->type[i];

		if (type->flags & KTR__TYPES_DECLARED)
			type->other = ktr__word_map_get(&known, type->name);
	}
	ktr__word_map_free(&known);
}

/* The struct or class that an array, a typedef or the like is made of; 0: none. */
static uint32_t types_build_inner(const struct ktr__types_build *build, uint32_t type)
{
	for (unsigned i = 0; i < KTR__TYPES_DEPTH; i++) {
		const struct ktr__types_type *t = &build->type[type];

		if (t->kind >= KTR__TYPES_STRUCT && t->kind <= KTR__TYPES_UNION)
			return type;
		if (t->kind < KTR__TYPES_CONST || t->kind > KTR__TYPES_ARRAY)
			return 0;
		type = t->target;
	}
	return 0;
}

/* What has a member that is passed by reference is so itself; levels of that until nothing changes. */
static void types_build_references(struct ktr__types_build *build)
{
	unsigned round = 0, changed = 1;

	for (; changed && round < KTR__TYPES_DEPTH; round++) {
		changed = 0;
		for (uint32_t i = 1; i < build->head.n_types; i++) {
			struct ktr__types_type *type = &build->type[i];

			if (type->kind < KTR__TYPES_STRUCT || type->kind > KTR__TYPES_UNION ||
			    (type->flags & (KTR__TYPES_BY_REFERENCE | KTR__TYPES_BY_VALUE)))
				continue;
			for (uint32_t k = 0; k < type->n_members; k++) {
				uint32_t inner = types_build_inner(build, build->member[type->first + k].type);

				if (build->type[inner].flags & KTR__TYPES_BY_REFERENCE) {
					type->flags |= KTR__TYPES_BY_REFERENCE;
					changed = 1;
				}
			}
		}
	}
}

int ktr__types_build_end(struct ktr__types_build *build, void **bytes, size_t *n_bytes)
{
	struct ktr__types_head *head = &build->head;
	char *to;

	*bytes = NULL;
	types_build_declared(build);
	if (build->error)
		return build->error;
	types_build_references(build);
	if (head->n_functions)
		qsort(build->function, head->n_functions, sizeof(*build->function), types_build_order);
	*n_bytes = types_build_bytes(build);
	*bytes = to = malloc(*n_bytes);
	if (!to)
		return -ENOMEM;
	memcpy(head->magic, KTR__TYPES_MAGIC, sizeof(head->magic));
	head->version = KTR__TYPES_VERSION;
	head->crc = 0;
	to = mempcpy(to, head, sizeof(*head));
	if (head->n_functions)
		to = mempcpy(to, build->function, head->n_functions * sizeof(*build->function));
	to = mempcpy(to, build->type, head->n_types * sizeof(*build->type));
	if (head->n_members)
		to = mempcpy(to, build->member, head->n_members * sizeof(*build->member));
	memcpy(to, build->strings, head->n_strings);
	head->crc = ktr__crc32c(0, *bytes, *n_bytes);
	memcpy(*bytes, head, sizeof(*head));
	return 0;
}
