/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ktr types: the functions of a program as a header would declare them, and its structs, from its debugging
 * information.
 */
#include "analyze/print/json_print.h"
#include "analyze/types/types_open.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/types/types_json.h"
#include "tools/types/types_text.h"

#include <ktr/conf.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct types {
	const char *command, *program;
	int verbose, json, has_types;
	struct option_list structs;
	struct ktr__types *types;
	const struct ktr__types_function **chosen; /* owned, by name */
	uint32_t n_chosen;
	unsigned char *wanted; /* of each type: its struct is to be shown; owned */
};

static const struct option_row types_rows[] = {
	OPTION_FLAG('v', "verbose", struct types, verbose,
		    "where each function is, where its arguments are, and the structs that they point to"),
	OPTION_FLAG('j', "json", struct types, json, "one JSON object"),
	OPTION_LIST(0, "struct", "NAME", struct types, structs,
		    "print a struct, union, class or enum with offsets and sizes; may be repeated, and a pattern"),
};

static const struct options types_options = {
	.operands = "PROGRAM [FUNCTION-GLOB...]",
	.about = "Prints the functions of a program or library with the types of their arguments and results, as a\n"
		 "header would declare them, from its debugging information. PROGRAM is a file, a command in PATH, or a\n"
		 "build-id. What was read once is kept below ~/.cache/ktr.",
	.examples = "ktr types ./server\n"
		    "ktr types -v ./server 'parse_*'\n"
		    "ktr types --struct connection ./server\n"
		    "ktr types --json ./server accept | jq '.functions[].args'\n",
	OPTIONS_ROWS(types_rows),
};

/* ---- which functions ---- */

static const struct ktr__types *types_sorted;

static int types_order(const void *a, const void *b)
{
	const struct ktr__types_function *x = *(const struct ktr__types_function *const *)a;
	const struct ktr__types_function *y = *(const struct ktr__types_function *const *)b;
	int names = strcmp(ktr__types_text(types_sorted, x->name), ktr__types_text(types_sorted, y->name));

	return names ? names : x->address < y->address ? -1 : x->address > y->address;
}

static int types_has_types(const struct ktr__types *types)
{
	for (uint32_t i = 0; i < types->head->n_functions; i++)
		if (!(types->function[i].flags & KTR__TYPES_UNTYPED))
			return 1;
	return 0;
}

/* Without patterns all that have types, each once; where there are no types, all names; for structs alone, none. */
static int types_is_chosen(const struct types *t, const struct ktr__types_function *f, char **glob, int n)
{
	if (!n)
		return !t->structs.n && !(f->flags & KTR__TYPES_ALIAS) &&
		       (!t->has_types || !(f->flags & KTR__TYPES_UNTYPED));
	for (int i = 0; i < n; i++)
		if (ktr__types_matches(t->types, f, glob[i]))
			return 1;
	return 0;
}

static int types_choose(struct types *t, char **glob, int n)
{
	uint32_t n_functions = t->types->head->n_functions;

	t->chosen = calloc((size_t)n_functions + 1, sizeof(*t->chosen));
	t->wanted = calloc(t->types->head->n_types, 1);
	if (!t->chosen || !t->wanted)
		return fail(t->command, "not enough memory");
	for (uint32_t i = 0; i < n_functions; i++)
		if (types_is_chosen(t, &t->types->function[i], glob, n))
			t->chosen[t->n_chosen++] = &t->types->function[i];
	types_sorted = t->types;
	qsort(t->chosen, t->n_chosen, sizeof(*t->chosen), types_order);
	return 0;
}

static int types_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct ktr__types *types = context;

	*value = idx;
	if (idx >= types->head->n_functions)
		return -ENOENT;
	snprintf(name, size, "%s", ktr__types_text(types, types->function[idx].name));
	return 0;
}

static int types_struct_names(void *context, unsigned idx, char *name, size_t size, uint64_t *value)
{
	const struct ktr__types *types = context;

	*value = idx;
	if (idx >= types->head->n_types)
		return -ENOENT;
	if (types->type[idx].kind < KTR__TYPES_STRUCT || !types->type[idx].name)
		return 1;
	snprintf(name, size, "%s", ktr__types_text(types, types->type[idx].name));
	return 0;
}

static int types_unknown(const struct types *t, const char *what, const char *name, ktr_names_fn *names)
{
	char nearest[256];

	if (!strpbrk(name, "*?[") && ktr_nearest(name, names, t->types, nearest, sizeof(nearest)))
		return fail(t->command, "%s: there is no %s \"%s\"; the nearest is \"%s\"", t->program, what, name,
			    nearest);
	return fail(t->command, "%s: there is no %s \"%s\"", t->program, what, name);
}

/* Each pattern has to choose something. 0, or 1 after a complaint. */
static int types_check(const struct types *t, char **glob, int n)
{
	int rc = 0;

	for (int i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < t->n_chosen && !ktr__types_matches(t->types, t->chosen[k], glob[i]))
			k++;
		if (k == t->n_chosen)
			rc = types_unknown(t, "function", glob[i], types_names);
	}
	return rc;
}

/* ---- which structs ---- */

static int types_want_structs(struct types *t)
{
	int rc = 0;

	for (unsigned i = 0; i < t->structs.n; i++) {
		const char *name = t->structs.text[i];
		unsigned n = 0;

		name += strncmp(name, "struct ", 7) == 0 ? 7 : 0;
		for (uint32_t k = 1; k < t->types->head->n_types; k++) {
			const struct ktr__types_type *type = &t->types->type[k];
			uint32_t of = type->kind == KTR__TYPES_TYPEDEF ? types_text_struct_of(t->types, k) : k;

			if (!type->name || type->flags & KTR__TYPES_DECLARED ||
			    (type->kind < KTR__TYPES_STRUCT && type->kind != KTR__TYPES_TYPEDEF) || !of ||
			    fnmatch(name, ktr__types_text(t->types, type->name), 0) != 0)
				continue;
			t->wanted[of] = 1;
			n++;
		}
		if (!n)
			rc = types_unknown(t, "struct", t->structs.text[i], types_struct_names);
	}
	return rc;
}

/* Those that the arguments of the chosen functions are or point to. */
static void types_want_args(struct types *t)
{
	for (uint32_t i = 0; i < t->n_chosen; i++) {
		const struct ktr__types_function *f = t->chosen[i];

		t->wanted[types_text_struct_of(t->types, f->result)] = 1;
		for (uint32_t k = 0; k < f->n_args; k++)
			t->wanted[types_text_struct_of(t->types, t->types->member[f->first + k].type)] = 1;
	}
	t->wanted[0] = 0;
}

/* ---- printing ---- */

static int types_print_json(const struct types *t)
{
	json_t *head = types_json_head(t->types, t->program), *functions = json_array(), *structs = json_array();
	int rc;

	for (uint32_t i = 0; i < t->n_chosen; i++)
		json_array_append_new(functions, types_json_function(t->types, t->chosen[i]));
	for (uint32_t i = 1; i < t->types->head->n_types; i++)
		if (t->wanted[i])
			json_array_append_new(structs, types_json_struct(t->types, &t->types->type[i]));
	json_object_set_new(head, "functions", functions);
	json_object_set_new(head, "structs", structs);
	rc = ktr__json_print(head, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(head);
	return rc ? 1 : 0;
}

static int types_print(const struct types *t)
{
	int between = 0;

	for (uint32_t i = 0; i < t->n_chosen; i++)
		if (types_text_function(t->types, t->chosen[i], t->verbose))
			return fail(t->command, "not enough memory");
	for (uint32_t i = 1; i < t->types->head->n_types; i++) {
		if (!t->wanted[i])
			continue;
		if (between++ || t->n_chosen)
			putchar('\n');
		if (types_text_struct(t->types, &t->types->type[i]))
			return fail(t->command, "not enough memory");
	}
	return 0;
}

static int types_run(struct types *t, char **glob, int n)
{
	int rc = types_choose(t, glob, n);

	if (rc)
		return rc;
	rc = types_check(t, glob, n) | types_want_structs(t);
	if (t->verbose || t->json)
		types_want_args(t);
	rc |= t->json ? types_print_json(t) : types_print(t);
	if (!rc && !t->has_types)
		rc = fail(t->command,
			  "%s: has no types of functions, only names: build it with -g, or install its -dbgsym package",
			  t->program);
	return rc;
}

static int cmd_types(int argc, char **argv)
{
	struct types t = { .command = argv[0] };
	struct ktr_error err = KTR_ERROR_NONE;
	int rc;

	if (!options_parse(&types_options, argc, argv, &t, &rc))
		return rc;
	if (optind == argc)
		return usage_error(argv[0], "which program?");
	t.program = argv[optind];
	if (ktr__types_open(t.program, &t.types, &err))
		return fail_with(argv[0], &err);
	t.has_types = types_has_types(t.types);
	rc = types_run(&t, argv + optind + 1, argc - optind - 1);
	ktr__types_free(t.types);
	free(t.chosen);
	free(t.wanted);
	return rc;
}

COMMAND(types, "print the functions of a program with the types of their arguments", cmd_types);
