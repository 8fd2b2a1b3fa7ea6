/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over types, from an argument inwards, a name of the path at a time. Types come out of a file, and may be
 * long, deep or closed: all that is looked at is counted.
 */
#include "ktr/provider/fbt/paths.h"

#include "ktr/provider/fbt/shapes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_NAMES	8
#define PATHS_DEEP	16     /* structs without a name, and bases, within each other */
#define PATHS_STEPS	100000 /* members that are looked at */
#define PATHS_ARGS	256
#define PATHS_FAR	(1u << 30) /* [bytes] from a struct's beginning */

struct paths {
	const struct ktr__types *types;
	const struct ktr__types_function *function;
	char copy[4 * KTR__FBT_PATH]; /* of the glob, cut into names */
	const char *name[PATHS_NAMES];
	bool points[PATHS_NAMES]; /* is the name behind an arrow? */
	unsigned n_names, steps;
	struct ktr__fbt_path path;
	struct ktr__fbt_load load;
	char text[KTR__FBT_PATH + 1];
	ktr__fbt_path_found *found;
	void *context;
};

/* Cuts "a->b.c". false: it is none. */
static bool paths_cut(struct paths *p, const char *glob)
{
	char *at = p->copy;

	if (snprintf(p->copy, sizeof(p->copy), "%s", glob) >= (int)sizeof(p->copy))
		return false;
	for (p->n_names = 0; p->n_names < PATHS_NAMES;) {
		size_t n = strcspn(at, ".-");
		bool points = at[n] == '-';

		p->name[p->n_names++] = at;
		if (!n || !at[n])
			return n != 0;
		if (points && at[n + 1] != '>')
			return false;
		p->points[p->n_names % PATHS_NAMES] = points;
		at[n] = '\0';
		at += n + 1 + points;
	}
	return false;
}

/* Appends to the path. false: it is too long. */
static bool paths_text(struct paths *p, const char *between, const char *name)
{
	size_t n = strlen(p->text);

	return snprintf(p->text + n, sizeof(p->text) - n, "%s%s", between, name) < (int)(sizeof(p->text) - n);
}

/* An array: text if it is of char, else its place. */
static const char *paths_array(struct paths *p, const struct ktr__types_type *t, struct ktr__fbt_value *value)
{
	p->load.n_bytes = 0;
	value->n_bytes = 8;
	if (!ktr__fbt_shape_is_text(p->types, t->target) || t->flags & KTR__TYPES_VECTOR) {
		value->shape = KTR__FBT_UNSIGNED;
		value->type = KTR_ARG_PTR;
		return "%p";
	}
	value->shape = KTR__FBT_STRING;
	value->type = KTR_ARG_STR;
	value->is_whole = t->count <= KTR__FBT_TEXT;
	value->n_text = (uint8_t)(t->count && value->is_whole ? t->count : KTR__FBT_TEXT);
	return "\"%s\"";
}

static const char *paths_bits(struct paths *p, const struct ktr__types_member *m, const struct ktr__types_type *t)
{
	unsigned shift = (unsigned)(m->value % 8);

	if (m->bits > 64 || shift + m->bits > 64)
		return NULL;
	p->load.shift = (uint8_t)shift;
	p->load.n_bits = (uint8_t)m->bits;
	p->load.is_signed = t->encoding == KTR__TYPES_SIGNED || t->encoding == KTR__TYPES_CHAR;
	p->load.n_bytes = (uint8_t)((shift + m->bits + 7) / 8);
	return p->path.conversion;
}

/* The path is at its end: m is the member, NULL where it is what a pointer points to. */
static void paths_found(struct paths *p, const struct ktr__types_member *m, uint32_t type)
{
	const struct ktr__types_type *t = ktr__types_bare(p->types, type);
	struct ktr__fbt_value value = p->path.value;
	struct ktr__fbt_path found = p->path;
	struct ktr__fbt_load *load;

	p->load.n_bits = p->load.shift = 0;
	if (t->kind == KTR__TYPES_ARRAY)
		p->path.conversion = paths_array(p, t, &value);
	else
		p->path.conversion = ktr__fbt_shape(p->types, type, &value);
	if (t->kind != KTR__TYPES_ARRAY)
		p->load.n_bytes = value.n_bytes;
	if (p->path.conversion && m && m->bits)
		p->path.conversion = paths_bits(p, m, t);
	load = p->path.conversion ? malloc(sizeof(*load)) : NULL;
	if (!load) {
		ktr__fbt_shape_free(&value);
		return;
	}
	*load = p->load;
	value.load = load;
	found.conversion = p->path.conversion;
	found.value = value;
	found.text = p->text;
	found.type = type;
	p->found(p->context, &found);
}

static void paths_members(struct paths *p, const struct ktr__types_type *t, uint64_t from, unsigned i,
			  unsigned deep);

static bool paths_is_struct(const struct ktr__types_type *t)
{
	return t->kind == KTR__TYPES_STRUCT || t->kind == KTR__TYPES_CLASS || t->kind == KTR__TYPES_UNION;
}

/* A member whose name fits: the end, or through it to the next name. */
static void paths_member(struct paths *p, const struct ktr__types_member *m, uint64_t at, unsigned i)
{
	const struct ktr__types_type *t = ktr__types_bare(p->types, m->type);
	uint8_t n = p->load.n;

	p->load.offset[n - 1] = (uint32_t)at;
	if (i + 1 == p->n_names) {
		paths_found(p, m, m->type);
	} else if (!p->points[i + 1]) {
		if (paths_is_struct(t))
			paths_members(p, t, at, i + 1, 0);
	} else if (t->kind == KTR__TYPES_POINTER && n < KTR__FBT_HOPS) {
		p->load.n++;
		paths_members(p, ktr__types_bare(p->types, t->target), 0, i + 1, 0);
	}
	p->load.n = n;
}

static void paths_members(struct paths *p, const struct ktr__types_type *t, uint64_t from, unsigned i,
			  unsigned deep)
{
	size_t n = strlen(p->text);

	if (!paths_is_struct(t) || deep > PATHS_DEEP)
		return;
	for (uint32_t k = 0; k < t->n_members && ++p->steps < PATHS_STEPS; k++) {
		const struct ktr__types_member *m = &p->types->member[t->first + k];
		uint64_t at = from + m->value / 8;
		char *name;

		if (m->flags & KTR__TYPES_VIRTUAL || at >= PATHS_FAR)
			continue;
		if (!m->name || m->flags & KTR__TYPES_INHERITED) {
			paths_members(p, ktr__types_bare(p->types, m->type), at, i, deep + 1);
			continue;
		}
		name = ktr__fbt_shape_name(ktr__types_text(p->types, m->name), k + 1);
		if (name && fnmatch(p->name[i], name, 0) == 0 && paths_text(p, p->points[i] ? "->" : ".", name))
			paths_member(p, m, at, i);
		p->text[n] = '\0';
		free(name);
	}
}

/* A pointer is followed by an arrow, what is passed by its address by a dot. */
static void paths_base(struct paths *p, const char *name, uint32_t type, const struct ktr__types_place *place,
		       bool is_result)
{
	const struct ktr__types_type *t = ktr__types_bare(p->types, type), *target = t;
	struct ktr__types_place at = *place;
	bool deref = p->n_names == 1, points = t->kind == KTR__TYPES_POINTER;

	if (at.kind == KTR__PLACE_INDIRECT && at.n == 1)
		at.kind = KTR__PLACE_REGISTER;
	else if (points || t->kind == KTR__TYPES_REFERENCE || t->kind == KTR__TYPES_RVALUE)
		target = ktr__types_bare(p->types, t->target);
	else
		return;
	p->path.value = (struct ktr__fbt_value){ .at = 0 };
	p->load = (struct ktr__fbt_load){ .n = 1 };
	p->text[0] = '\0';
	if ((!deref && p->points[1] != points) || !ktr__fbt_shape_place(&at, is_result, &p->path.value))
		return;
	if (!deref && paths_text(p, "", name))
		paths_members(p, target, 0, 1, 0);
	else if (deref && points && !paths_is_struct(target) && !ktr__fbt_shape_is_text(p->types, t->target) &&
		 paths_text(p, "*", name))
		paths_found(p, NULL, t->target);
}

static void paths_arg(struct paths *p, const char *glob, uint32_t number, const struct ktr__types_place *place,
		      bool *is_result)
{
	const struct ktr__types_member *m = &p->types->member[p->function->first + number];
	char *name = ktr__fbt_shape_name(ktr__types_text(p->types, m->name), number + 1);

	p->path.arg = (int)number;
	if (name && fnmatch(glob, name, 0) == 0)
		paths_base(p, name, m->type, place, false);
	*is_result &= !name || strcmp(name, "result") != 0;
	free(name);
}

void ktr__fbt_paths(const struct ktr__types *types, const struct ktr__types_function *function, const char *glob,
		    ktr__fbt_path_found *found, void *context)
{
	struct paths p = { .types = types, .function = function, .found = found, .context = context };
	struct ktr__types_place result, place[PATHS_ARGS];
	bool is_result = true;
	const char *first;

	if (function->n_args > PATHS_ARGS || function->flags & KTR__TYPES_UNTYPED || !paths_cut(&p, glob))
		return;
	first = p.name[0];
	if (p.n_names == 1 && (*first++ != '*' || !*first))
		return;
	ktr__places(types, function, &result, place);
	for (uint32_t i = 0; i < function->n_args; i++)
		if (ktr__fbt_shape_passed(types, function, i))
			paths_arg(&p, first, i, &place[i], &is_result);
	p.path.arg = -1;
	if (is_result && ktr__fbt_shape_returns(types, function) && fnmatch(first, "result", 0) == 0)
		paths_base(&p, "result", function->result, &result, true);
}
