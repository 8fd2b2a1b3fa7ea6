/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of the cache, for types_file.h to read. */
#include "analyze/types/types_cache.h"

#include "analyze/print/newfile.h"
#include "ktr/provider/types/types_file.h"

#include <errno.h>
#include <stdio.h>

void ktr__types_cache_put(const struct ktr__types *types)
{
	struct ktr__newfile file;
	char path[PATH_MAX];
	int rc;

	if (ktr__types_file_path(types->head->id, types->head->n_id, 1, path) ||
	    ktr__newfile_begin(&file, path, NULL))
		return;
	rc = fwrite(types->bytes, 1, types->n_bytes, file.to) == types->n_bytes ? 0 : -EIO;
	ktr__newfile_end(&file, rc, NULL);
}
