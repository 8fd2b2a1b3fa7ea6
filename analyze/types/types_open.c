/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From what somebody types to an image. A binary without debugging information has the build-id that it had with it
 * (strip leaves that): so only images that have types are stored, and a stripped program finds those of its
 * unstripped self.
 */
#include "analyze/types/types_open.h"

#include "analyze/symbols/elf_file.h"
#include "analyze/types/dwarf_read.h"
#include "analyze/types/types_cache.h"
#include "ktr/provider/types/types_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a name without a slash that is no file here, the command in PATH. */
static int types_open_find(const char *program, char path[PATH_MAX])
{
	const char *dirs = strchr(program, '/') || access(program, F_OK) == 0 ? NULL : getenv("PATH");

	for (; dirs && *dirs; dirs += strspn(dirs, ":")) {
		size_t n = strcspn(dirs, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)n, dirs, program) < PATH_MAX && access(path, X_OK) == 0)
			return 1;
		dirs += n;
	}
	return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && access(path, F_OK) == 0;
}

/* The bytes of a build-id, or 0. */
static uint16_t types_open_id(const char *text, uint8_t id[KTR__TYPES_ID_MAX])
{
	size_t n = strlen(text) / 2;

	if (strlen(text) % 2 || n < 4 || n > KTR__TYPES_ID_MAX)
		return 0;
	for (size_t i = 0; i < 2 * n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return 0;
	for (size_t i = 0; i < n; i++) {
		char digits[3] = { text[2 * i], text[2 * i + 1], '\0' };

		id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (uint16_t)n;
}

static int types_open_file(const char *path, struct ktr__types **out, struct ktr_error *err)
{
	void *bytes;
	size_t n;
	int rc = ktr__dwarf_read(path, &bytes, &n, err);

	if (rc)
		return rc;
	rc = ktr__types_load(bytes, n, out);
	if (rc)
		return ktr_error_at(err, path, 0, 0, -rc, "is damaged: its types make no sense");
	if (((*out)->head->flags & (KTR__TYPES_HAS_DWARF | KTR__TYPES_PARTIAL)) == KTR__TYPES_HAS_DWARF)
		ktr__types_cache_put(*out);
	return 0;
}

static bool types_open_kept(const uint8_t *id, uint16_t n, struct ktr__types **out)
{
	*out = ktr__types_file_read(id, n);
	if (*out)
		ktr__types_cache_used(*out);
	return *out;
}

int ktr__types_open(const char *program, struct ktr__types **out, struct ktr_error *err)
{
	char path[PATH_MAX];
	uint8_t id[KTR__TYPES_ID_MAX];
	uint16_t n;
	int rc;

	*out = NULL;
	if (!types_open_find(program, path)) {
		n = types_open_id(program, id);
		if (!n)
			return ktr_error_at(err, program, 0, 0, ENOENT, "there is no such file, command in PATH, or build-id");
		if (types_open_kept(id, n, out))
			return 0;
		ktr__elf_debug_path(id, n, ".debug", path);
		if (access(path, F_OK))
			return ktr_error_at(err, program, 0, 0, ENOENT,
					    "no file of this build-id is in the cache or below /usr/lib/debug");
		return types_open_file(path, out, err);
	}
	rc = ktr__dwarf_build_id(path, id, &n, err);
	if (rc)
		return rc;
	return types_open_kept(id, n, out) ? 0 : types_open_file(path, out, err);
}

static int types_open_has(const struct ktr__types *types)
{
	for (uint32_t i = 0; i < types->head->n_functions; i++)
		if (!(types->function[i].flags & KTR__TYPES_UNTYPED))
			return 1;
	return 0;
}

int ktr__types_keep(const char *program, struct ktr_error *err)
{
	struct ktr__types *types, *kept;
	int rc = ktr__types_open(program, &types, err);

	if (rc)
		return rc;
	kept = types_open_has(types) ? ktr__types_file_read(types->head->id, types->head->n_id) : NULL;
	if (!types_open_has(types))
		rc = ktr_error_at(err, program, 0, 0, ENOENT,
				  "has no types of functions: build it with -g, or install its -dbgsym package");
	else if (!kept && types->head->flags & KTR__TYPES_PARTIAL)
		rc = ktr_error_at(err, program, 0, 0, ENOENT, "some of its types are in files that were not found");
	else if (!kept)
		rc = ktr_error_at(err, program, 0, 0, EACCES,
				  "its types cannot be kept in ktr/types below $XDG_CACHE_HOME or ~/.cache");
	ktr__types_free(kept);
	ktr__types_free(types);
	return rc;
}
