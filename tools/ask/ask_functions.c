/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/ask/ask_functions.h"

#include <string.h>

/* As a part of a SPEC: "space::box*", or "::space::box*", is "space.box*" there. */
static void functions_glob(FILE *to, const char *glob, size_t length)
{
	for (size_t i = length > 2 && strncmp(glob, "::", 2) == 0 ? 2 : 0; i < length; i++) {
		int pair = glob[i] == ':' && i + 1 < length && glob[i + 1] == ':';

		fputc(pair ? '.' : glob[i], to);
		i += (size_t)pair;
	}
}

void ask_functions_probes(FILE *to, const char *provider, const char *globs, const char *name, const char **before)
{
	size_t length;

	for (; *globs; globs += length + (globs[length] == ',')) {
		length = strcspn(globs, ",");
		if (!length)
			continue;
		fprintf(to, "%s%s::", *before, provider);
		functions_glob(to, globs, length);
		fprintf(to, ":%s", name);
		*before = ",";
	}
}

void ask_statics_probes(FILE *to, const char *probes, const char **before)
{
	size_t length;

	for (; *probes; probes += length + (probes[length] == ',')) {
		length = strcspn(probes, ",");
		if (!length)
			continue;
		fprintf(to, "%susdt::%.*s%s", *before, (int)length, probes,
			memchr(probes, ':', length) ? "" : ":");
		*before = ",";
	}
}
