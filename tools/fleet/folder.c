/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/folder.h"

#include "analyze/read/reader.h"
#include "analyze/read/tables.h"

#include <ktr/trace_file.h>

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int folder_is_trace(const char *path)
{
	char info[PATH_MAX + 32];

	snprintf(info, sizeof(info), "%.4095s/" KTR_TRACE_DIR "/info.jsonl", path);
	return access(info, F_OK) == 0 || errno == EACCES;
}

int folder_uuid(const char *path, char uuid[FOLDER_UUID_BYTES])
{
	char info[PATH_MAX + 32], *line = NULL;
	json_t *head = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(info, sizeof(info), "%.4095s/" KTR_TRACE_DIR "/info.jsonl", path);
	file = fopen(info, "re");
	if (file && getline(&line, &room, file) > 0)
		head = json_loads(line, 0, NULL);
	if (file)
		fclose(file);
	free(line);
	uuid[0] = 0;
	if (json_is_string(json_object_get(head, "uuid")))
		snprintf(uuid, FOLDER_UUID_BYTES, "%s", json_string_value(json_object_get(head, "uuid")));
	json_decref(head);
	return uuid[0] ? 0 : -1;
}

/* As readers take them (analyze/read/trace_set.c): a number from 1 on, and the same session. */
int folder_is_part(const char *path)
{
	char whole[PATH_MAX], uuid[FOLDER_UUID_BYTES], of_whole[FOLDER_UUID_BYTES];
	const char *dot = strrchr(path, '.');

	if (!dot || dot[1] < '1' || dot[1] > '9' || dot[1 + strspn(dot + 1, "0123456789")])
		return 0;
	snprintf(whole, sizeof(whole), "%.*s", (int)(dot - path), path);
	return folder_uuid(path, uuid) == 0 && folder_uuid(whole, of_whole) == 0 && strcmp(uuid, of_whole) == 0;
}

static int folder_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* host: what the folder's traces are of. */
static int folder_walk(const char *folder, const char *host, int hosts,
		       void (*each)(void *context, const char *path, const char *host), void *context)
{
	struct dirent **names = NULL;
	int n = scandir(folder, &names, NULL, versionsort), n_traces = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		char path[PATH_MAX];
		int found = 0;

		if (name[0] == '.' || snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX)
			;
		else if (folder_is_trace(path) && !folder_is_part(path)) {
			each(context, path, host);
			found = 1;
		} else if (hosts && !folder_is_trace(path) && folder_is_folder(path))
			found = folder_walk(path, name, 0, each, context);
		if (found < 0) {
			each(context, path, name); /* who says why */
			found = 1;
		}
		n_traces += found;
		free(names[i]);
	}
	free(names);
	return n_traces;
}

int folder_traces(const char *folder, int hosts, void (*each)(void *context, const char *path, const char *host),
		  void *context)
{
	return folder_walk(folder, NULL, hosts, each, context);
}

void folder_build(const struct ktr_reader *reader, char text[FOLDER_BUILD_BYTES])
{
	const struct ktr__tables *tables = ktr__reader_tables(reader);

	text[0] = 0;
	for (uint32_t id = 1; id < tables->n_modules && !text[0]; id++)
		for (unsigned i = 0; tables->module[id] && i < tables->module[id]->n_build_id && i < 8; i++)
			snprintf(text + 2 * i, 3, "%02x", tables->module[id]->build_id[i]);
}
