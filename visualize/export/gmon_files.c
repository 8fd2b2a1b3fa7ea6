/* SPDX-License-Identifier: BSD-2-Clause */
#include "visualize/export/gmon_files.h"

#include "conf/kit/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ktr__gmon_file {
	struct ktr__newfile file;
	char *path; /* owned */
};

FILE *ktr__gmon_files_add(struct ktr__gmon_files *files, const char *path, int *rc, struct ktr_error *err)
{
	struct ktr__gmon_file *one;

	*rc = ktr__array_grow(&files->file, &files->room, files->n, sizeof(*files->file));
	if (*rc)
		return NULL;
	one = &files->file[files->n];
	one->path = strdup(path);
	*rc = one->path ? ktr__newfile_begin(&one->file, one->path, err) : -ENOMEM;
	if (*rc) {
		free(one->path);
		return NULL;
	}
	files->n++;
	return one->file.to;
}

int ktr__gmon_files_end(struct ktr__gmon_files *files, struct ktr__newfile *first, int result,
      struct ktr_error *err)
{
	for (uint32_t i = 0; i < files->n; i++)
		result = ktr__newfile_close(&files->file[i].file, result, err);
	result = ktr__newfile_close(first, result, err);
	for (uint32_t i = 0; i < files->n; i++) {
		result = ktr__newfile_end(&files->file[i].file, result, err);
		free(files->file[i].path);
	}
	free(files->file);
	*files = (struct ktr__gmon_files){ 0 };
	return result;
}
