/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and structs as text. Names come out of the binary: all goes through print_visible(). */
#include "tools/types/types_text.h"

#include "analyze/symbols/demangle.h"
#include "ktr/provider/types/places.h"
#include "ktr/provider/types/type_text.h"
#include "tools/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Prints what a function writes to a stream of memory. */
struct types_text {
	FILE *to;
	char *text;
	size_t n;
};

static int types_text_begin(struct types_text *t)
{
	t->text = NULL;
	t->to = open_memstream(&t->text, &t->n);
	return t->to ? 0 : -1;
}

/* The tabs are ours. */
static int types_text_end(struct types_text *t)
{
	int rc = fclose(t->to);
	char *rest = t->text, *piece;

	while (rc == 0 && (piece = strsep(&rest, "\t")) != NULL) {
		print_visible(stdout, piece);
		if (rest)
			putchar('\t');
	}
	free(t->text);
	return rc ? -1 : 0;
}

/* ---- functions ---- */

static void types_text_value(FILE *to, const struct ktr__types *types, const struct ktr__types_function *f,
			     const char *name, uint32_t type, const struct ktr__types_place *place)
{
	char text[KTR__PLACE_TEXT];
	const char *where = ktr__place_text(place, text);
	char *declared = NULL;
	size_t n;
	FILE *memory = open_memstream(&declared, &n);

	if (!memory)
		return;
	ktr__type_declare(memory, types, type, "", f->language);
	if (fclose(memory) == 0)
		fprintf(to, "    %-12s %-10s %-28s %4" PRIu64 "  %s\n", name, *where ? where : "-", declared,
			types->type[type].size, ktr__type_encoding(types, type));
	free(declared);
}

static int types_text_places(FILE *to, const struct ktr__types *types, const struct ktr__types_function *f)
{
	struct ktr__types_place result, *arg = calloc(f->n_args + 1, sizeof(*arg));

	if (!arg)
		return -1;
	ktr__places(types, f, &result, arg);
	for (uint32_t i = 0; i < f->n_args; i++) {
		const struct ktr__types_member *m = &types->member[f->first + i];
		const char *name = ktr__types_text(types, m->name);

		types_text_value(to, types, f, *name ? name : "?", m->type, &arg[i]);
	}
	if (f->result)
		types_text_value(to, types, f, "returns", f->result, &result);
	free(arg);
	return 0;
}

static int types_text_details(FILE *to, const struct ktr__types *types, const struct ktr__types_function *f)
{
	const char *file = ktr__types_text(types, f->file), *linkage = ktr__types_text(types, f->linkage);
	char demangled[KTR__DEMANGLE_MAX];

	fprintf(to, "    at 0x%" PRIx64 ", %" PRIu32 " bytes", f->address, f->size);
	if (*file)
		fprintf(to, ", %s:%" PRIu32, file, f->line);
	fprintf(to, "%s%s\n", f->flags & KTR__TYPES_VARIADIC ? ", variadic" : "",
		f->flags & KTR__TYPES_UNPROTOTYPED ? ", unprototyped" : "");
	if (*linkage && strcmp(linkage, ktr__types_text(types, f->name)) != 0)
		fprintf(to, "    linkage %s: %s\n", linkage,
			ktr__demangle(linkage, KTR__DEMANGLE_WHOLE, demangled));
	if (f->symbol)
		fprintf(to, "    symbol %s\n", ktr__types_text(types, f->symbol));
	return f->flags & KTR__TYPES_UNTYPED ? 0 : types_text_places(to, types, f);
}

int types_text_function(const struct ktr__types *types, const struct ktr__types_function *function, int verbose)
{
	char demangled[KTR__DEMANGLE_MAX];
	struct types_text t;
	int rc = types_text_begin(&t);

	if (rc)
		return rc;
	if (function->flags & KTR__TYPES_UNTYPED)
		fprintf(t.to, "%s /* without types */\n",
			ktr__demangle(ktr__types_text(types, function->name), KTR__DEMANGLE_WHOLE, demangled));
	else {
		ktr__type_prototype(t.to, types, function);
		fputs(";\n", t.to);
	}
	if (verbose)
		rc = types_text_details(t.to, types, function);
	return types_text_end(&t) | rc;
}

/* ---- structs ---- */

uint32_t types_text_struct_of(const struct ktr__types *types, uint32_t type)
{
	for (unsigned i = 0; i < KTR__TYPES_DEPTH; i++) {
		const struct ktr__types_type *t = ktr__types_bare(types, type);

		if (t->kind >= KTR__TYPES_STRUCT)
			return t->n_members ? (uint32_t)(t - types->type) : 0;
		if (t->kind < KTR__TYPES_POINTER || t->kind > KTR__TYPES_RVALUE)
			return 0;
		type = t->target;
	}
	return 0;
}

static const char *types_text_keyword(uint32_t kind)
{
	return kind == KTR__TYPES_UNION	  ? "union"
	       : kind == KTR__TYPES_CLASS ? "class"
	       : kind == KTR__TYPES_ENUM  ? "enum"
					  : "struct";
}

/* Where offsets begin, behind the semicolon, and all within each other. */
#define TYPES_TEXT_COLUMN 63u
#define TYPES_TEXT_DEEP   6u

struct types_text_sum {
	uint64_t end; /* [bits] of the members so far */
	uint64_t holes, bytes;
};

/* What lies between a member and the one before it, as far as that is whole bytes. */
static void types_text_hole(FILE *to, struct types_text_sum *sum, uint64_t at, const char *tabs)
{
	uint64_t from = (sum->end + 7) / 8, hole = at / 8 > from ? at / 8 - from : 0;

	if (!hole)
		return;
	fprintf(to, "%s/* %" PRIu64 " byte%s hole */\n", tabs, hole, hole == 1 ? "" : "s");
	sum->holes++;
	sum->bytes += hole;
}

static void types_text_members(FILE *to, const struct ktr__types *types, const struct ktr__types_type *type,
			       uint64_t base, unsigned depth, struct types_text_sum *sum);

/* A struct without a name is shown whole where it stands. */
static int types_text_is_inner(const struct ktr__types *types, const struct ktr__types_member *m, unsigned depth)
{
	const struct ktr__types_type *t = &types->type[m->type];

	return depth < TYPES_TEXT_DEEP && t->kind >= KTR__TYPES_STRUCT && t->kind <= KTR__TYPES_UNION && !t->name &&
	       !(t->flags & KTR__TYPES_DECLARED);
}

static void types_text_inner(FILE *to, const struct ktr__types *types, const struct ktr__types_member *m,
			     uint64_t base,
			     unsigned depth, const char *tabs)
{
	const struct ktr__types_type *t = &types->type[m->type];
	struct types_text_sum sum = { .end = base + m->value };
	const char *name = ktr__types_text(types, m->name);
	size_t n = strlen(name) + 1 + (*name != '\0'), wide = TYPES_TEXT_COLUMN - 8 * strlen(tabs);

	fprintf(to, "%s%s {\n", tabs, types_text_keyword(t->kind));
	types_text_members(to, types, t, base + m->value, depth + 1, &sum);
	fprintf(to, "%s}%s%s;%*s/* %5" PRIu64 " %5" PRIu64 " */\n", tabs, *name ? " " : "", name,
		n < wide ? (int)(wide - n) : 1, "", (base + m->value) / 8, t->size);
}

static void types_text_member(FILE *to, const struct ktr__types *types, const struct ktr__types_type *type,
			      const struct ktr__types_member *m, uint64_t at, const char *tabs)
{
	const char *name = ktr__types_text(types, m->name);
	size_t n, wide = TYPES_TEXT_COLUMN - 8 * strlen(tabs);
	char *declared = NULL;
	FILE *memory = open_memstream(&declared, &n);

	if (!memory)
		return;
	if (m->flags & KTR__TYPES_INHERITED)
		fprintf(memory, "/* %s */ ", m->flags & KTR__TYPES_VIRTUAL ? "virtual base" : "base");
	ktr__type_declare(memory, types, m->type, name, type->language);
	if (m->bits)
		fprintf(memory, ":%" PRIu32, m->bits);
	if (fclose(memory) == 0) {
		fprintf(to, "%s%s;%*s", tabs, declared, n < wide ? (int)(wide - n) : 1, "");
		if (m->bits)
			fprintf(to, "/* %5" PRIu64 ":%2" PRIu64 " %2" PRIu64 " */\n", at / 8, at % 8,
				types->type[m->type].size);
		else
			fprintf(to, "/* %5" PRIu64 " %5" PRIu64 " */\n", at / 8, types->type[m->type].size);
	}
	free(declared);
}

static void types_text_members(FILE *to, const struct ktr__types *types, const struct ktr__types_type *type,
			       uint64_t base, unsigned depth, struct types_text_sum *sum)
{
	static const char tabs[TYPES_TEXT_DEEP + 2] = "\t\t\t\t\t\t\t";
	const char *in = tabs + (TYPES_TEXT_DEEP - depth);

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct ktr__types_member *m = &types->member[type->first + i];
		uint64_t at = base + m->value, bits = m->bits ? m->bits : types->type[m->type].size * 8;

		if (m->flags & KTR__TYPES_VIRTUAL) {
			types_text_member(to, types, type, m, at, in);
			continue;
		}
		if (type->kind != KTR__TYPES_UNION)
			types_text_hole(to, sum, at, in);
		if (types_text_is_inner(types, m, depth))
			types_text_inner(to, types, m, base, depth, in);
		else
			types_text_member(to, types, type, m, at, in);
		if (at + bits > sum->end)
			sum->end = at + bits;
	}
}

static void types_text_enum(FILE *to, const struct ktr__types *types, const struct ktr__types_type *type)
{
	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct ktr__types_member *m = &types->member[type->first + i];

		fprintf(to, "\t%s = %" PRId64 ",\n", ktr__types_text(types, m->name), (int64_t)m->value);
	}
	fprintf(to, "\n\t/* size: %" PRIu64 ", values: %" PRIu32 " */\n", type->size, type->n_members);
}

const char *types_text_name(const struct ktr__types *types, const struct ktr__types_type *type, int *is_typedef)
{
	*is_typedef = 0;
	for (uint32_t i = 1; !type->name && i < types->head->n_types; i++)
		if (types->type[i].kind == KTR__TYPES_TYPEDEF && &types->type[types->type[i].target] == type) {
			*is_typedef = 1;
			return ktr__types_text(types, types->type[i].name);
		}
	return ktr__types_text(types, type->name);
}

int types_text_struct(const struct ktr__types *types, const struct ktr__types_type *type)
{
	struct types_text_sum sum = { 0 };
	int is_typedef;
	const char *name = types_text_name(types, type, &is_typedef);
	uint64_t used;
	struct types_text t;

	if (types_text_begin(&t))
		return -1;
	fprintf(t.to, "%s%s%s%s {\n", is_typedef ? "typedef " : "", types_text_keyword(type->kind),
		is_typedef || !*name ? "" : " ", is_typedef ? "" : name);
	if (type->kind == KTR__TYPES_ENUM) {
		types_text_enum(t.to, types, type);
		fprintf(t.to, "}%s%s;\n", is_typedef ? " " : "", is_typedef ? name : "");
		return types_text_end(&t);
	}
	types_text_members(t.to, types, type, 0, 0, &sum);
	fprintf(t.to, "\n\t/* size: %" PRIu64 ", members: %" PRIu32, type->size, type->n_members);
	if (sum.holes)
		fprintf(t.to, ", holes: %" PRIu64 ", sum holes: %" PRIu64, sum.holes, sum.bytes);
	used = (sum.end + 7) / 8;
	if (type->kind != KTR__TYPES_UNION && type->size > used)
		fprintf(t.to, ", padding: %" PRIu64, type->size - used);
	fprintf(t.to, " */\n}%s%s;\n", is_typedef ? " " : "", is_typedef ? name : "");
	return types_text_end(&t);
}
