/* SPDX-License-Identifier: BSD-2-Clause */
/* Debug information through libdw of elfutils, which looks at a copy of the file. */
#include "analyze/symbols/debug_lines.h"

#include "analyze/symbols/debug_parts.h"

#include <ktr/session.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if KTR_HAVE_LIBDW

/* Addresses of a unit, which .debug_aranges does not tell of: clang and Go write none. */
struct debug_range {
	Dwarf_Addr begin, end; /* as libdw has them, with the bias */
	Dwarf_Addr bias;
	Dwarf_Die unit;
};

#define DEBUG_NAME 1024 /* [bytes] of one, with its NUL */

/* Build-ids longer than KTR_BUILD_ID_MAX were cut when they were recorded. */
static int debug_same(const struct ktr__debug_lines *lines, const uint8_t *build_id, size_t n_build_id)
{
	const unsigned char *bits;
	GElf_Addr where;
	uint64_t none[2];
	int n = dwfl_module_build_id(lines->module, &bits, &where);

	if (n <= 0) {
		ktr__elf_file_id(&lines->file.st, none);
		return n_build_id == sizeof(none) && memcmp(build_id, none, sizeof(none)) == 0;
	}
	n = n > KTR_BUILD_ID_MAX ? KTR_BUILD_ID_MAX : n;
	return (size_t)n == n_build_id && memcmp(bits, build_id, (size_t)n) == 0;
}

static int debug_load(struct ktr__debug_lines *lines, const char *path, const uint8_t *build_id, size_t n_build_id)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = ktr__elf_find_debug,
		.section_address = dwfl_offline_section_address,
	};
	int rc = ktr__elf_file_read(path, &lines->file);

	if (rc)
		return rc;
	lines->dwfl = dwfl_begin(&callbacks);
	if (!lines->dwfl)
		return -ENOMEM;
	dwfl_report_begin(lines->dwfl);
	lines->module = dwfl_report_offline_memory(lines->dwfl, path, path, lines->file.bytes, lines->file.n_bytes);
	if (dwfl_report_end(lines->dwfl, NULL, NULL) || !lines->module ||
	    !dwfl_module_getelf(lines->module, &lines->bias))
		return -ENOEXEC;
	return debug_same(lines, build_id, n_build_id) ? 0 : -ESTALE;
}

int ktr__debug_lines_open(const char *path, const uint8_t *build_id, size_t n_build_id,
			  struct ktr__debug_lines **out)
{
	struct ktr__debug_lines *lines = path[0] == '/' ? calloc(1, sizeof(*lines)) : NULL;
	int rc = lines ? debug_load(lines, path, build_id, n_build_id) : path[0] == '/' ? -ENOMEM : -EINVAL;

	*out = rc ? NULL : lines;
	if (rc)
		ktr__debug_lines_close(lines);
	return rc;
}

size_t ktr__debug_lines_bytes(const struct ktr__debug_lines *lines)
{
	return lines->file.n_bytes;
}

void ktr__debug_lines_close(struct ktr__debug_lines *lines)
{
	if (!lines)
		return;
	if (lines->dwfl)
		dwfl_end(lines->dwfl);
	ktr__elf_file_close(&lines->file);
	ktr__arena_free(&lines->arena);
	free(lines->range);
	free(lines->variable);
	free(lines);
}

static int debug_range_order(const void *a, const void *b)
{
	const struct debug_range *one = a, *other = b;

	return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* All units are looked at once. Without memory there are fewer. */
static void debug_ranges(struct ktr__debug_lines *lines)
{
	Dwarf_Addr bias, base, begin, end;
	Dwarf_Die *unit = NULL;
	size_t room = 0;

	lines->has_ranges = 1;
	while ((unit = dwfl_module_nextcu(lines->module, unit, &bias)) != NULL)
		for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
			if (lines->n_ranges == room) {
				size_t more = room ? 2 * room : 64;
				struct debug_range *grown = realloc(lines->range, more * sizeof(*grown));

				if (!grown)
					return;
				lines->range = grown;
				room = more;
			}
			if (begin < end)
				lines->range[lines->n_ranges++] =
					(struct debug_range){ begin + bias, end + bias, bias, *unit };
		}
	if (lines->n_ranges)
		qsort(lines->range, lines->n_ranges, sizeof(*lines->range), debug_range_order);
}

/* The unit that an address is in. NULL: none. */
static Dwarf_Die *debug_unit(struct ktr__debug_lines *lines, uint64_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(lines->module, address, bias);
	size_t from = 0, to;

	if (unit)
		return unit;
	if (!lines->has_ranges)
		debug_ranges(lines);
	for (to = lines->n_ranges; from < to;) {
		size_t middle = from + (to - from) / 2;

		if (lines->range[middle].begin <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || lines->range[from - 1].end <= address)
		return NULL;
	*bias = lines->range[from - 1].bias;
	return &lines->range[from - 1].unit;
}

/* What a function that was inlined is a copy of, and, of a member, its declaration. */
static void debug_origin(Dwarf_Die *die, Dwarf_Die *origin)
{
	static const unsigned ways[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attribute;
	Dwarf_Die next;

	*origin = *die;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (dwarf_formref_die(dwarf_attr(origin, ways[i], &attribute), &next))
			*origin = next;
}

/* "outer::inner::name", by the namespaces and classes around it; to has room for DEBUG_NAME bytes. */
static void debug_qualified(Dwarf_Die *die, const char *name, char *to)
{
	size_t at = DEBUG_NAME - 1, n = strlen(name);
	Dwarf_Die origin, *scope;
	int n_scopes;

	n = n < at ? n : at;
	to[at] = '\0';
	memcpy(to + (at -= n), name, n);
	debug_origin(die, &origin);
	n_scopes = dwarf_getscopes_die(&origin, &scope);
	for (int i = 1; i < n_scopes; i++) {
		int tag = dwarf_tag(&scope[i]);
		const char *around = dwarf_diename(&scope[i]);

		if (tag != DW_TAG_namespace && tag != DW_TAG_structure_type && tag != DW_TAG_class_type)
			continue;
		around = around ? around : "(anonymous namespace)";
		n = strlen(around);
		if (n + 2 > at)
			break;
		memcpy(to + (at -= 2), "::", 2);
		memcpy(to + (at -= n), around, n);
	}
	if (n_scopes > 0)
		free(scope);
	memmove(to, to + at, DEBUG_NAME - at);
}

/* As it was linked, where that is told, for C++ has more in it. */
static const char *debug_name(struct ktr__debug_lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL, *copy;
	char text[DEBUG_NAME];

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (name)
		return name;
	name = dwarf_diename(die);
	if (!name)
		return "?";
	debug_qualified(die, name, text);
	if (strcmp(text, name) == 0)
		return name;
	copy = ktr__arena_copy(&lines->arena, text, strlen(text));
	return copy ? copy : name;
}

/* A file as the compiler was told of it, from the folder that it was run in. */
static const char *debug_path(struct ktr__debug_lines *lines, Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *folder = NULL, *copy = NULL;
	char path[4096];

	if (file && file[0] != '/')
		folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (folder && snprintf(path, sizeof(path), "%s/%s", folder, file) < (int)sizeof(path))
		copy = ktr__arena_copy(&lines->arena, path, strlen(path));
	return copy ? copy : file;
}

/* Where the call was that was inlined. */
static void debug_call(struct ktr__debug_lines *lines, Dwarf_Die *unit, Dwarf_Die *die,
		       struct ktr__debug_line *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t n_files;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &n_files) == 0 && number < n_files)
		line->file = debug_path(lines, unit, dwarf_filesrc(files, number, NULL, NULL));
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0)
		line->line = (unsigned)number;
}

/* Functions around the innermost block, up to the one that has the code. Adds to the n lines there are. */
static unsigned debug_inlined(struct ktr__debug_lines *lines, Dwarf_Die *unit, uint64_t address,
			      struct ktr__debug_line line[KTR__DEBUG_LINES])
{
	Dwarf_Die *inner, *scope;
	int n_inner = dwarf_getscopes(unit, address, &inner), n_scopes;
	unsigned n = 1;

	if (n_inner <= 0)
		return n;
	n_scopes = dwarf_getscopes_die(&inner[0], &scope);
	for (int i = 0; i < n_scopes && n < KTR__DEBUG_LINES && dwarf_tag(&scope[i]) != DW_TAG_subprogram; i++) {
		if (dwarf_tag(&scope[i]) != DW_TAG_inlined_subroutine)
			continue;
		line[n - 1].function = debug_name(lines, &scope[i]);
		line[n] = (struct ktr__debug_line){ NULL, NULL, 0 };
		debug_call(lines, unit, &scope[i], &line[n++]);
	}
	if (n_scopes > 0)
		free(scope);
	free(inner);
	return n;
}

unsigned ktr__debug_lines_at(struct ktr__debug_lines *lines, uint64_t address,
			     struct ktr__debug_line line[KTR__DEBUG_LINES])
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = debug_unit(lines, address + lines->bias, &bias);
	Dwarf_Line *source;
	int number = 0;

	if (!unit)
		return 0;
	line[0] = (struct ktr__debug_line){ NULL, NULL, 0 };
	source = dwarf_getsrc_die(unit, address + lines->bias - bias);
	if (source) {
		line[0].file = debug_path(lines, unit, dwarf_linesrc(source, NULL, NULL));
		if (dwarf_lineno(source, &number) == 0 && number > 0)
			line[0].line = (unsigned)number;
	}
	return debug_inlined(lines, unit, address + lines->bias - bias, line);
}

#else

int ktr__debug_lines_open(const char *path, const uint8_t *build_id, size_t n_build_id,
			  struct ktr__debug_lines **out)
{
	(void)path, (void)build_id, (void)n_build_id;
	*out = NULL;
	return -ENOTSUP;
}

size_t ktr__debug_lines_bytes(const struct ktr__debug_lines *lines)
{
	(void)lines;
	return 0;
}

void ktr__debug_lines_close(struct ktr__debug_lines *lines)
{
	(void)lines;
}

unsigned ktr__debug_lines_at(struct ktr__debug_lines *lines, uint64_t address,
			     struct ktr__debug_line line[KTR__DEBUG_LINES])
{
	(void)lines, (void)address, (void)line;
	return 0;
}

#endif
