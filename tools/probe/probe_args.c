/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process has no reader of debugging information: what it knows of types is what lies in the cache. So that is
 * made here, for the files that its functions were loaded from, as /proc/PID/maps has them.
 */
#include "tools/probe/probe_args.h"

#include "analyze/types/types_open.h"
#include "tools/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MODULES 64 /* with functions that fit */
#define ARGS_FILES   256 /* of these, in all processes */

struct args_files {
	const char *command;
	char *module[ARGS_MODULES]; /* owned */
	char *path[ARGS_FILES];	    /* seen; owned */
	unsigned n_modules, n_paths;
};

bool probe_args_functions(const char *spec, char functions[PROBE_ARGS_SPEC])
{
	static const char *const of[] = { "fbt_args:", "fbt_member:" };
	const char *end = NULL;

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]) && !end; i++)
		if (strncmp(spec, of[i], strlen(of[i])) == 0)
			end = spec + strlen(of[i]);
	if (!end)
		return false;
	spec = end;
	end += strcspn(end, ":");
	end += *end ? 1 + strcspn(end + 1, ":") : 0;
	return snprintf(functions, PROBE_ARGS_SPEC, "fbt:%.*s:", (int)(end - spec), spec) < PROBE_ARGS_SPEC;
}

bool probe_args_spec(const char *spec, char args[PROBE_ARGS_SPEC])
{
	const char *end = strncmp(spec, "fbt:", 4) == 0 ? strchr(spec + 4, ':') : NULL;
	size_t n;

	if (strncmp(spec, "fbt:", 4) != 0)
		return false;
	n = end ? strcspn(end + 1, ":") + (size_t)(end + 1 - spec) : strlen(spec);
	return snprintf(args, PROBE_ARGS_SPEC, "fbt_args%.*s%s", (int)(n - 3), spec + 3, end ? ":" : "") <
	       PROBE_ARGS_SPEC;
}

static bool args_has(char *const *text, unsigned n, const char *one)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(text[i], one) == 0)
			return true;
	return false;
}

static int args_module(void *context, const struct ktr__spec_probe *probe)
{
	struct args_files *files = context;
	const char *from = strchr(probe->name, ':');
	char *module = from ? strndup(from + 1, strcspn(from + 1, ":")) : NULL;

	if (!module || args_has(files->module, files->n_modules, module) || files->n_modules == ARGS_MODULES)
		free(module);
	else
		files->module[files->n_modules++] = module;
	return 0;
}

static void args_file(struct args_files *files, char *path)
{
	struct ktr_error err = KTR_ERROR_NONE;
	const char *slash = strrchr(path, '/');
	char line[KTR_ERROR_LINE_BYTES];

	if (!slash || !args_has(files->module, files->n_modules, slash + 1) || files->n_paths == ARGS_FILES ||
	    args_has(files->path, files->n_paths, path) || !(files->path[files->n_paths] = strdup(path)))
		return;
	files->n_paths++;
	if (ktr__types_keep(path, &err))
		fprintf(stderr, "%s: no arguments: %s\n", files->command, ktr_error_print(&err, line, sizeof(line)));
}

static void args_process(struct args_files *files, uint32_t pid)
{
	char name[64], *line = NULL, *path;
	size_t size = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	while (maps && getline(&line, &size, maps) > 0) {
		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, '/');
		if (path)
			args_file(files, path);
	}
	if (maps)
		fclose(maps);
	free(line);
}

void probe_args_types(const char *command, const struct ktr__specs *all, const struct probes *probes,
		      const char *spec)
{
	struct args_files files = { .command = command };
	struct ktr_proc_row row;
	uint32_t n = ktr__map_n_rows(&probes->map, &probes->control, KTR_REGION_proc);

	ktr__specs_walk(all, spec, args_module, &files);
	for (uint32_t i = 1; i < n; i++)
		if (!ktr__map_proc(&probes->map, i, &row))
			args_process(&files, row.pid);
	while (files.n_modules)
		free(files.module[--files.n_modules]);
	while (files.n_paths)
		free(files.path[--files.n_paths]);
}
